// What kernels and their launches may look like, each checked by the program itself: it prints a
// line for each, and returns how many failed.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <vector>

#include "right.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

static void vectorAdd() {
    int n = 1000;
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
    float *da, *db, *dc;
    CHECK(cudaMalloc(&da, n * sizeof(float)));
    CHECK(cudaMalloc((void **)&db, n * sizeof(float)));
    CHECK(cudaMalloc((void **)&dc, n * sizeof *dc));
    CHECK(cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyDefault));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++) right = right && c[i] == 3 * i;
    expect(right, "vector add");
    for (float *p : {da, db, dc}) CHECK(cudaFree(p));
}

// A template with a type and a number, deduced and given; an overload; a namespace; a launch within
// macros.
template <typename T, int N> __global__ void __launch_bounds__(N) scale(T *x, T by) {
    __shared__ T tile[N];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[N - 1 - threadIdx.x] * by;
}
template <class T> __global__ void fill(T *x, T v) {
    x[threadIdx.x] = v;
}
template <> __global__ void fill<double>(double *x, double v) {
    x[threadIdx.x] = 2 * v;
}
__global__ void which(int *x, int) {
    *x = 1;
}
__global__ void which(int *x, float) {
    *x = 2;
}
namespace inner {
__global__ void which(int *x, float, float) {
    *x = 3;
}
} // namespace inner
template <class... T> __global__ void sum(int *to, T... all) {
    *to = (all + ...);
}
#define LAUNCH(kernel, threads, ...) kernel<<<1, threads>>>(__VA_ARGS__)

template <class T, int N> static bool scaled() {
    T *x = managed<T>(N);
    for (int i = 0; i < N; i++) x[i] = i;
    scale<T, N><<<dim3(1), dim3(N, 1, 1)>>>(x, 3);
    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < N; i++) right = right && x[i] == 3 * (N - 1 - i);
    CHECK(cudaFree(x));
    return right;
}

static void templates() {
    expect(scaled<float, 32>() && scaled<int, 64>() && scaled<double, 256>(), "templates");
    float *f = managed<float>(8);
    double *d = managed<double>(8);
    fill<<<1, 8>>>(f, 5.f);
    fill<<<1, 8>>>(d, 5.);
    CHECK(cudaDeviceSynchronize());
    expect(f[7] == 5 && d[7] == 10, "deduced arguments, a specialisation");
    int *x = managed<int>(5);
    which<<<1, 1>>>(x, 1);
    which<<<1, 1>>>(x + 1, 1.f);
    inner::which<<<1, 1>>>(x + 2, 1, 1);
    LAUNCH(sum, 1, x + 3, 1, 2, 3);
    void (*pointer)(int *, int) = which;
    pointer<<<1, 1>>>(x + 4, 0);
    CHECK(cudaDeviceSynchronize());
    expect(x[0] == 1 && x[1] == 2 && x[2] == 3 && x[3] == 6 && x[4] == 1,
           "overloads, namespaces, packs, pointers to kernels");
    for (void *p : {(void *)f, (void *)d, (void *)x}) CHECK(cudaFree(p));
}

__constant__ float weights[4];
__device__ int counter = 7;
__device__ __managed__ int shared_by_both = 1;
__global__ void variables(float *out) {
    out[threadIdx.x] = weights[threadIdx.x] + counter;
    if (threadIdx.x == 0) shared_by_both += 41;
}

static void symbols() {
    float host[4] = {1, 2, 3, 4}, *out = managed<float>(4);
    CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
    variables<<<1, 4>>>(out);
    CHECK(cudaDeviceSynchronize());
    int seen = 0, five = 5;
    CHECK(cudaMemcpyFromSymbol(&seen, counter, sizeof seen));
    expect(out[3] == 11 && seen == 7 && shared_by_both == 42,
           "constant, device, managed variables");
    int *address;
    size_t size;
    CHECK(cudaGetSymbolAddress((void **)&address, counter));
    CHECK(cudaGetSymbolSize(&size, weights));
    CHECK(cudaMemcpy(address, &five, sizeof five, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyFromSymbol(&seen, counter, sizeof seen));
    expect(seen == 5 && size == 16, "a symbol's address and size");
    CHECK(cudaFree(out));
}

// The sum of a block, in dynamic shared memory.
__global__ void reduce(const int *in, int *out) {
    extern __shared__ int part[];
    part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int n = blockDim.x / 2; n > 0; n /= 2) {
        if (threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void pitched(int *x, size_t pitch) {
    int *row = (int *)((char *)x + blockIdx.x * pitch);
    row[threadIdx.x] = blockIdx.x * 10 + threadIdx.x;
}

static void rectangles() {
    int *x, host[3][5];
    size_t pitch;
    CHECK(cudaMallocPitch(&x, &pitch, 5 * sizeof(int), 3));
    CHECK(cudaMemset2D(x, pitch, 0, 5 * sizeof(int), 3));
    pitched<<<3, 5>>>(x, pitch);
    CHECK(
        cudaMemcpy2D(host, 5 * sizeof(int), x, pitch, 5 * sizeof(int), 3, cudaMemcpyDeviceToHost));
    expect(host[2][4] == 24 && pitch % 32 == 0, "pitched memory");
    CHECK(cudaFree(x));
}

__global__ void together(int *x) {
    x[blockIdx.x] = 1;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0)
        for (int i = 1; i < gridDim.x; i++) x[0] += x[i];
}

static void launches() {
    int *x = managed<int>(4);
    void *args[] = {&x};
    CHECK(cudaLaunchCooperativeKernel((void *)together, dim3(4), dim3(1), args, 0, 0));
    CHECK(cudaDeviceSynchronize());
    int blocks, grid, block;
    cudaFuncAttributes about;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reduce, 256, 0));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, reduce, 0, 0));
    CHECK(cudaFuncGetAttributes(&about, scale<float, 32>));
    expect(x[0] == 4, "a cooperative launch");
    expect(blocks == 8 && block == 1024 && about.maxThreadsPerBlock == 32 &&
               about.sharedSizeBytes == 128,
           "occupancy, attributes");
    CHECK(cudaFree(x));
}

int main() {
    vectorAdd();
    templates();
    symbols();
    rectangles();
    launches();
    return failures;
}
