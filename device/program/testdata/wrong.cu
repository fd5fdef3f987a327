// What the host's code may do wrong. The first argument chooses a case, and the second, 'right',
// its twin. The line of the finding says so, and of what kind it is.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__device__ int variable;

__global__ void increment(int *x) {
    x[threadIdx.x] += 1;
}
__global__ void write(int *x, int n) {
    for (int i = 0; i < n; i++) x[i] = i;
}

static int *device(int n = 32) {
    int *x;
    cudaMalloc(&x, n * sizeof(int));
    cudaMemset(x, 0, n * sizeof(int));
    return x;
}
static int *managed(int n = 32) {
    int *x;
    cudaMallocManaged(&x, n * sizeof(int));
    memset(x, 0, n * sizeof(int));
    return x;
}

static void readOnHost(bool right) {
    int *x = right ? managed() : device();
    printf("%d\n", x[3]); // finds: device memory on the host
    cudaFree(x);
}
static void memcpyOnHost(bool right) {
    int *x = right ? managed() : device(), y[4] = {};
    memcpy(y, x, sizeof y); // finds: device memory on the host
    printf("%d\n", y[0]);
    cudaFree(x);
}
static void variableOnHost(bool right) {
    int v = 3;
    if (right)
        cudaMemcpyToSymbol(variable, &v, sizeof v);
    else
        variable = 3; // finds: device memory on the host
}
static void hostToKernel(bool right) {
    int *x = right ? device() : (int *)calloc(32, sizeof(int));
    increment<<<1, 32>>>(x); // finds: host memory on the device
    cudaDeviceSynchronize();
    if (right) cudaFree(x);
}
static void wrongDirection(bool right) {
    int *x = device(), y[32] = {};
    cudaMemcpyKind kind = right ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    cudaMemcpy(x, y, sizeof y, kind); // finds: host memory on the device
    cudaFree(x);
}
static void hostAsDevice(bool right) {
    int *x = device();
    std::vector<int> y(32), z(32);
    int *to = right ? x : y.data();
    cudaMemcpy(to, z.data(), 128, cudaMemcpyHostToDevice); // finds: host memory on the device
    cudaFree(x);
}
static void managedUnsynchronised(bool right) {
    int *x = managed();
    increment<<<1, 32>>>(x);
    if (right) cudaDeviceSynchronize();
    printf("%d\n", x[0]); // finds: no synchronisation
    cudaDeviceSynchronize();
    cudaFree(x);
}
static void asyncUnsynchronised(bool right) {
    int *x = device(), *y;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMallocHost(&y, 128);
    cudaMemcpyAsync(y, x, 128, cudaMemcpyDeviceToHost, s);
    if (right) cudaStreamSynchronize(s);
    printf("%d\n", y[0]); // finds: no synchronisation
    cudaStreamSynchronize(s);
    cudaFreeHost(y);
    cudaFree(x);
}
static void overwrittenTooEarly(bool right) {
    int *x = device(), *y;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMallocHost(&y, 128);
    memset(y, 0, 128);
    cudaMemcpyAsync(x, y, 128, cudaMemcpyHostToDevice, s);
    if (right) cudaStreamSynchronize(s);
    y[5] = 1; // finds: no synchronisation
    cudaStreamSynchronize(s);
    cudaFreeHost(y);
    cudaFree(x);
}
static void otherStream(bool right) {
    int *x = managed();
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    increment<<<1, 32, 0, s>>>(x);
    cudaStreamSynchronize(right ? s : t);
    printf("%d\n", x[1]); // finds: no synchronisation
    cudaDeviceSynchronize();
    cudaFree(x);
}
static void copiesTooMuch(bool right) {
    int *x = device(), y[64] = {};
    cudaMemcpy(y, x, right ? 128 : 256, cudaMemcpyDeviceToHost); // finds: out of bounds
    cudaFree(x);
}
static void neverWritten(bool right) {
    int *x, y[32];
    cudaMalloc(&x, 128);
    write<<<1, 1>>>(x, right ? 32 : 31);
    cudaMemcpy(y, x, 128, cudaMemcpyDeviceToHost); // finds: never written
    cudaFree(x);
}
static void freedTwice(bool right) {
    int *x = device();
    cudaFree(x);
    if (!right) cudaFree(x); // finds: bad free
}
static void freedByLibrary(bool right) {
    int *x = device();
    if (right)
        cudaFree(x);
    else
        free(x); // finds: bad free
}
static void usedAfterFree(bool right) {
    int *x = managed();
    if (right) printf("%d\n", x[0]);
    cudaFree(x);
    if (!right) printf("%d\n", x[0]); // finds: use after free
}
static void kernelOutOfBounds(bool right) {
    int *x = device(32);
    increment<<<1, right ? 32 : 33>>>(x);
    cudaError_t first = cudaGetLastError(), then = cudaDeviceSynchronize();
    cudaError_t after = cudaFree(x), last = cudaGetLastError();
    if (!right && (first || then != cudaErrorIllegalAddress || after != then || last != then))
        exit(9);
}

static struct {
    const char *name;
    void (*run)(bool right);
} cases[] = {
#define CASE(name)                                                                                 \
    { #name, name }
    CASE(readOnHost),
    CASE(memcpyOnHost),
    CASE(variableOnHost),
    CASE(hostToKernel),
    CASE(wrongDirection),
    CASE(hostAsDevice),
    CASE(managedUnsynchronised),
    CASE(asyncUnsynchronised),
    CASE(overwrittenTooEarly),
    CASE(otherStream),
    CASE(copiesTooMuch),
    CASE(neverWritten),
    CASE(freedTwice),
    CASE(freedByLibrary),
    CASE(usedAfterFree),
};

int main(int argc, char **argv) {
    bool right = argc > 2 && !strcmp(argv[2], "right");
    for (auto &c : cases)
        if (argc > 1 && !strcmp(argv[1], c.name)) return c.run(right), 0;
    if (argc > 1 && !strcmp(argv[1], "kernelOutOfBounds")) return kernelOutOfBounds(right), 0;
    if (argc > 1 && !strcmp(argv[1], "leak")) return device(), 0;
    if (argc > 1 && !strcmp(argv[1], "unchecked")) return increment<<<1, 2000>>>(nullptr), 0;
    for (auto &c : cases) puts(c.name);
    return 0;
}
