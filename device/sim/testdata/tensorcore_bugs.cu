// Bugs planted around single instructions of the tensor cores; the form is that of bugs.cu. Each
// kernel runs with 64 threads.
#include <cuda_fp16.h>
#include "tensorcore.h"

extern "C" __global__ void tile_not_staged(const float *x, float *y) {
    __shared__ __align__(16) half tile[64][8];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) tile[t][i] = __float2half(x[t]);
    unsigned r[4];
    load_matrix(r, tile[t % 32]); // want: race
    y[t] = r[0] + r[1] + r[2] + r[3];
}

// Each warp fills what it reads itself, but an instruction of the warp is no barrier.
extern "C" __global__ void warp_not_synchronised(const float *x, float *y) {
    __shared__ __align__(16) half tile[64][8];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) tile[t][i] = __float2half(x[t]);
    unsigned r[4];
    load_matrix_transposed(r, tile[t ^ 1]); // want: race
    y[t] = r[0] + r[1] + r[2] + r[3];
}

extern "C" __global__ void tile_refilled(const float *x, float *y) {
    __shared__ __align__(16) half tile[64][8];
    int t = threadIdx.x;
    float sum = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 8; i++) tile[t][i] = __float2half(x[64 * round + t]);
        __syncthreads();
        unsigned r[4];
        load_matrix(r, tile[63 - t]); // want: race
        sum += r[0] + r[1] + r[2] + r[3];
    }
    y[t] = sum;
}

extern "C" __global__ void row_misaligned(const float *x, float *y) {
    __shared__ __align__(16) half tile[64][8 + 2];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) tile[t][i] = __float2half(x[t]);
    __syncthreads();
    unsigned r[4];
    load_matrix(r, tile[t]); // want: misaligned row
    y[t] = r[0] + r[1] + r[2] + r[3];
}

extern "C" __global__ void row_in_global_memory(const float *x, float *y) {
    unsigned r[4];
    load_matrix(r, x + 4 * (threadIdx.x % 32)); // want: not in shared memory
    y[threadIdx.x] = r[0];
}

extern "C" __global__ void row_past_the_end(const float *x, float *y) {
    __shared__ __align__(16) half tile[64][8];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) tile[t][i] = __float2half(x[t]);
    __syncthreads();
    unsigned r[4];
    load_matrix(r, &tile[0][0] + 8 * (t + 1)); // want: out of bounds
    y[t] = r[0] + r[1] + r[2] + r[3];
}

extern "C" __global__ void row_unwritten(const float *x, float *y) {
    __shared__ __align__(16) half tile[64][8];
    int t = threadIdx.x;
    for (int i = 0; i < 8 - t % 2; i++) tile[t][i] = __float2half(x[t]);
    __syncthreads();
    unsigned r[4];
    load_matrix_transposed(r, tile[t]); // want: uninitialised
    y[t] = r[0] + r[1] + r[2] + r[3];
}

extern "C" __global__ void some_lanes_load(const float *x, float *y) {
    __shared__ __align__(16) half tile[64][8];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) tile[t][i] = __float2half(x[t]);
    __syncthreads();
    if (t % 32 >= 8) return; // one matrix needs only eight rows, but all lanes
    unsigned r[4];
    load_matrix(r, tile[t]); // want: absent lane
    y[t] = r[0];
}

extern "C" __global__ void a_lane_leaves_later(const float *x, float *y) {
    unsigned a[4] = {}, b[2] = {};
    float sum[4] = {};
    int t = threadIdx.x;
    if (t != 37) mma_f16(sum, a, b); // want: absent lane
    if (t == 37) y[t] = x[t];
}

extern "C" __global__ void halves_of_a_warp(const float *x, float *y) {
    unsigned a[4] = {}, b[2] = {};
    float sum[4] = {};
    int t = threadIdx.x;
    a[0] = __float_as_uint(x[t]);
    if (t % 32 < 16)
        mma_tf32(sum, a, b);
    else
        mma_tf32(sum, a, b); // want: divergent warp
    y[t] = sum[0];
}

extern "C" __global__ void other_kinds(const float *x, float *y) {
    unsigned a[4] = {}, b[2] = {};
    float sum[4] = {};
    int t = threadIdx.x;
    a[0] = __float_as_uint(x[t]);
    if (t & 1)
        mma_f16(sum, a, b); // want: divergent warp
    else
        mma_bf16(sum, a, b);
    y[t] = sum[0];
}

extern "C" __global__ void product_meets_barrier(const float *x, float *y) {
    unsigned a[4] = {}, b[2] = {};
    float sum[4] = {};
    if (threadIdx.x % 32 == 3) __syncthreads(); // want: deadlock
    mma_f16(sum, a, b);
    y[threadIdx.x] = sum[0] + x[threadIdx.x];
}

extern "C" __global__ void product_meets_shuffle(const float *x, float *y) {
    unsigned a[4] = {}, b[2] = {};
    float sum[4] = {};
    int t = threadIdx.x;
    float v = x[t];
    if (t % 32 < 16)
        mma_f16(sum, a, b); // want: deadlock
    else
        v = __shfl_xor_sync(0xffffffffu, v, 1);
    y[t] = sum[0] + v;
}
