// The language itself: where variables live, templates, headers, odds and ends.
#include <algorithm>
#include <assert.h>
#include <cassert>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <limits>
#include <stdio.h>

__device__ int counter = 5;
__device__ float table[4] = {1, 2, 3, 4};
__constant__ float weights[2][2] = {{1, 2}, {3, 4}};
__constant__ int shape[] = {7, 8, 9};
static __device__ float4 corner = {1, 2, 3, 4};
struct alignas(8) Pair {
    int first;
    float second;
};
__constant__ Pair pairs[2] = {{1, 2.5f}, {3, 4.5f}};

extern "C" __global__ void variables(float *y) {
    int t = threadIdx.x;
    y[t] = table[t % 4] * weights[t / 2 % 2][t % 2] + shape[t % 3] + pairs[t % 2].second + corner.z;
    atomicAdd(&counter, 1);
    __syncthreads();
    if (t == 0) y[64] = counter;
}

// Each instance of a template has its own shared memory.
template <int N, typename T> __device__ __noinline__ T reversed(T v) {
    __shared__ T stage[N];
    stage[threadIdx.x] = v;
    __syncthreads();
    T r = stage[N - 1 - threadIdx.x];
    __syncthreads();
    return r;
}
extern "C" __global__ void templates(const float *x, float *y) {
    float a = reversed<64>(x[threadIdx.x]);
    int b = reversed<64>((int)x[threadIdx.x] * 2);
    double c = reversed<64>(a + 0.5);
    y[threadIdx.x] = a + b + (float)c;
}

// A block's shared memory where CUDA lets it stand.
__shared__ float outside[64];
extern __shared__ __align__(16) unsigned char bytes[];
extern "C" __global__ void __launch_bounds__(64) placed(const float *__restrict__ x, float *y) {
    float *dynamic = reinterpret_cast<float *>(bytes);
    __shared__ alignas(16) float4 fours[16];
    int t = threadIdx.x;
    outside[t] = x[t];
    dynamic[t] = 2 * x[t];
    ((float *)fours)[t] = 3 * x[t];
    __syncthreads();
    float4 f = fours[t % 16];
    y[t] = outside[63 - t] + dynamic[63 - t] + f.w;
    if (t == 0) {
        y[64] = __isShared(dynamic) && !__isShared(y) && __isGlobal(y);
        y[65] = (float)(__cvta_generic_to_shared(dynamic + 3) - __cvta_generic_to_shared(dynamic));
    }
}

extern "C" __global__ void atomics(int *i, unsigned *u, unsigned long long *w, float *f, double *d,
                                   long long *l) {
    int t = threadIdx.x;
    atomicAdd(i, t);
    atomicSub(i + 1, 2);
    atomicMax(i + 2, t * 37 % 64);
    atomicMin(i + 3, -t);
    atomicAnd(i + 4, ~(1 << t % 20));
    atomicOr(i + 5, 1 << t % 20);
    atomicXor(i + 6, t);
    atomicExch(i + 7, 5);
    atomicCAS(i + 8, t, t + 1);
    atomicAdd_block(i + 9, 1);
    atomicInc(u, 9);
    atomicDec(u + 1, 6);
    atomicMax(u + 2, 0x80000000u + t);
    atomicAdd_system(u + 3, 1u);
    atomicAdd(w, 1ull << 33);
    atomicMax(w + 1, (unsigned long long)t << 40);
    unsigned long long seen = 0, assumed; // a guess, which the first try corrects
    do {
        assumed = seen;
        seen = atomicCAS(w + 2, assumed, assumed + t);
    } while (seen != assumed);
    atomicAdd(f, 0.5f);
    atomicExch(f + 1, 3.f);
    atomicAdd(d, 0.25);
    atomicMin(l, -(long long)t << 40);
    unsigned short *s = (unsigned short *)(u + 4);
    unsigned short old = 0, was;
    do {
        was = old;
        old = atomicCAS(s + 1, was, (unsigned short)(was + 1));
    } while (old != was);
}

extern "C" __global__ void moves(const float4 *x, float4 *y, const uchar4 *c, uchar4 *e,
                                 const short2 *s, short2 *q, const double2 *d, double2 *r) {
    int t = threadIdx.x;
    __stcs(y + t, __ldg(x + t));
    __stwt(e + t, __ldcs(c + t));
    __stcg(q + t, __ldca(s + t));
    __stwb(r + t, __ldcg(d + t));
}

extern "C" __global__ void small_types(signed char *a, unsigned char *b, short *c, long long *d) {
    int t = threadIdx.x;
    char3 v = make_char3(t, -t, 1);
    ulonglong3 w = make_ulonglong3(1, 2, t);
    ushort3 u = make_ushort3(1, 2, t);
    double3 p = make_double3(1, 2, t);
    long2 g = make_long2(t, t);
    a[t] = v.x + v.y + v.z + v.x;
    b[t] = u.z;
    c[t] = (short)(p.z + g.y);
    d[t] = w.z << 40;
}

extern "C" __global__ void talks(float *y, int n) {
    assert(n > 0);
    if (threadIdx.x == 3) printf("thread %d of %d: %.1f%%\n", threadIdx.x, blockDim.x, 12.5);
    long long before = clock64();
    int early = clock();
#pragma unroll
    for (int i = 0; i < 4; i++) y[threadIdx.x] = fmaxf(y[threadIdx.x], i);
#pragma unroll 1
    for (int i = 0; i < 4; i++) __nanosleep(10);
    if (clock64() < before || (int)clock() < early) __trap();
    y[threadIdx.x] += FLT_MAX > FLT_EPSILON ? std::sqrt(16.f) : NAN;
}
