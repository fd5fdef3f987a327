// What the host's code may do around kernels, checked as in right.cu.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "right.h"

template <class T> __global__ void fill(T *x, T v) {
    x[threadIdx.x] = v;
}
__global__ void __launch_bounds__(32) bounded() {}

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

static void streams() {
    const int blocks = 4, threads = 128, n = blocks * threads;
    int *in, *out, *sums;
    CHECK(cudaMallocHost(&in, n * sizeof *in));
    CHECK(cudaHostAlloc(&sums, blocks * sizeof *sums, cudaHostAllocDefault));
    CHECK(cudaMalloc(&out, (n + blocks) * sizeof *out));
    for (int i = 0; i < n; i++) in[i] = i;
    cudaStream_t s, other;
    cudaEvent_t begin, end;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    cudaStreamAttrValue kept = {}, seen = {};
    kept.accessPolicyWindow = {out, n * sizeof *out, 0.5f, cudaAccessPropertyPersisting,
                               cudaAccessPropertyStreaming};
    CHECK(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &kept));
    CHECK(cudaStreamGetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &seen));
    expect(seen.accessPolicyWindow.base_ptr == out, "a stream's attributes");
    CHECK(cudaCtxResetPersistingL2Cache());
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
    CHECK(cudaEventRecord(begin, s));
    CHECK(cudaMemcpyAsync(out, in, n * sizeof *in, cudaMemcpyHostToDevice, s));
    reduce<<<blocks, threads, threads * sizeof(int), s>>>(out, out + n);
    CHECK(cudaEventRecord(end, s));
    CHECK(cudaStreamWaitEvent(other, end, 0));
    CHECK(cudaMemcpyAsync(sums, out + n, blocks * sizeof *sums, cudaMemcpyDeviceToHost, other));
    CHECK(cudaStreamSynchronize(other)); // it has waited for s
    int all = 0;
    for (int i = 0; i < blocks; i++) all += sums[i];
    in[0] = 1;
    expect(all == n * (n - 1) / 2, "streams, events, pinned memory");
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(sums));
    CHECK(cudaFree(out));
}

static void errors() {
    int *x = managed<int>(4096);
    fill<<<1, 1025>>>(x, 1);
    bool right = cudaPeekAtLastError() == cudaErrorInvalidConfiguration &&
                 cudaGetLastError() == cudaErrorInvalidConfiguration &&
                 cudaGetLastError() == cudaSuccess;
    fill<<<0, 1>>>(x, 1);
    right = right && cudaGetLastError() == cudaErrorInvalidConfiguration;
    reduce<<<1, 32, 100 << 10>>>(x, x);
    right = right && cudaGetLastError() == cudaErrorInvalidValue;
    CHECK(cudaFuncSetAttribute(reduce, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
    bounded<<<1, 64>>>();
    right = right && cudaGetLastError() == cudaErrorLaunchOutOfResources;
    right = right && cudaSetDevice(3) == cudaErrorInvalidDevice &&
            cudaGetLastError() == cudaErrorInvalidDevice;
    void *p;
    right = right && cudaMalloc(&p, 1ull << 50) == cudaErrorMemoryAllocation &&
            !strcmp(cudaGetErrorName(cudaGetLastError()), "cudaErrorMemoryAllocation") &&
            !strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
    expect(right, "error codes");
    CHECK(cudaFree(x));
}

__global__ void greet() {
    printf("kernel %d.%d\n", blockIdx.x, threadIdx.x);
}

static void host() {
    cudaDeviceProp p;
    int count = 0, sms = 0;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaGetDeviceProperties(&p, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    expect(count == 1 && p.major == 9 && sms == 132 && p.multiProcessorCount == sms, "the device");
    printf("before ");
    greet<<<1, 2>>>();
    printf("it is seen: ");
    CHECK(cudaDeviceSynchronize());
    std::map<std::string, int> words{{"a", 1}};
    std::atomic<int> together{0};
    auto shared = std::make_shared<int>(3);
    std::thread one([&] {
        int *x;
        CHECK(cudaMalloc(&x, 4));
        fill<<<1, 1>>>(x, 1);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(x));
        together += *shared;
    });
    one.join();
    try {
        throw std::runtime_error("thrown");
    } catch (const std::exception &e) {
        words[e.what()] = together;
    }
    clock_t start = clock();
    assert(start != (clock_t)-1);
    std::sort(&words["a"], &words["a"]);
    expect(words["thrown"] == 3, "threads, exceptions, atomics, the C++ library");
}

int main(int argc, char **argv) {
    streams();
    errors();
    host();
    if (argc > 1) {
        std::string line;
        std::getline(std::cin, line);
        printf("%s %s\n", argv[1], line.c_str());
        return 3;
    }
    return failures;
}
