// Numbers in float32 become halves around the attention, and back.

#include <cuda_fp16.h>

// y [n] = x, each rounded to a half.
extern "C" __global__ void to_halves(__half *y, const float *x, long long n) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2half(x[i]);
}

// y [n] = x, which loses nothing.
extern "C" __global__ void to_floats(float *y, const __half *x, long long n) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __half2float(x[i]);
}

// The n numbers x [batch, count, slot] of new tokens go, as halves, to the slots at[b] … at[b] +
// count − 1 of cache [batch, slots, slot].
extern "C" __global__ void keep(__half *cache, const float *x, const int *at, long long n,
                                int count, int slots, int slot) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const long long token = i / slot, b = token / count;
    cache[(b * slots + at[b] + token % count) * slot + i % slot] = __float2half(x[i]);
}
