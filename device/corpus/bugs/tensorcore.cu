// Single instructions of the tensor cores. Without BUG each kernel is its twin, which is right.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include "tensorcore.h"

// The block fills the tile, and no warp waits for the others.
extern "C" __global__ void rows_not_staged(const half *x, float *y) {
    __shared__ __align__(16) half tile[64][8];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 64) tile[i / 8][i % 8] = x[i];
#ifndef BUG
    __syncthreads();
#endif
    unsigned r[4];
    load_matrix(r, tile[t]); // want: race
    y[t] = r[0];
}

// The stage that the next copy fills is the one that other warps still read.
extern "C" __global__ void stage_filled_too_early(const half *x, float *y, int tiles) {
    __shared__ __align__(16) half stage[2][64][8];
    int t = threadIdx.x;
    float sum[4] = {};
    __pipeline_memcpy_async(stage[0][t], x + 8 * t, 16);
    __pipeline_commit();
    for (int i = 0; i < tiles; i++) {
        const half *next = x + 512 * (i + 1) + 8 * t;
        if (i + 1 < tiles) __pipeline_memcpy_async(stage[(i + 1) % 2][t], next, 16); // want: race
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        unsigned a[4];
        load_matrix(a, stage[i % 2][63 - t]);
        mma_f16(sum, a, a[0], a[1]);
#ifndef BUG
        __syncthreads(); // all have read this stage before the next round fills it
#endif
    }
    y[t] = sum[0];
}

// Two more halves a row avoid the banks' conflicts, but not every row begins at 16 bytes then.
extern "C" __global__ void row_crooked(const half *x, float *y) {
#ifdef BUG
    __shared__ __align__(16) half tile[32][8 + 2];
#else
    __shared__ __align__(16) half tile[32][8 + 8];
#endif
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) tile[t][i] = x[8 * t + i];
    __syncthreads();
    unsigned r[4];
    load_matrix(r, tile[t]); // want: misaligned row
    y[t] = r[0];
}

// The second half of the lanes names rows that the tile has not.
extern "C" __global__ void rows_too_low(const half *x, float *y) {
    __shared__ __align__(16) half tile[16][16];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) tile[t / 2][t % 2 * 8 + i] = x[8 * t + i];
    __syncthreads();
    unsigned r[4];
#ifdef BUG
    load_matrix_transposed(r, &tile[0][0] + t * 16); // want: out of bounds
#else
    load_matrix_transposed(r, &tile[0][0] + t % 16 * 16 + t / 16 * 8);
#endif
    y[t] = r[0];
}

// The rows are to be masked, and so only some lanes multiply: all have to, with zeros.
extern "C" __global__ void product_in_branch(const half *x, float *y, int rows) {
    unsigned a[4] = {}, b[2] = {};
    float sum[4] = {};
    int t = threadIdx.x;
    b[0] = b[1] = *(const unsigned *)(x + 2 * t);
#ifdef BUG
    if (t / 4 < rows) {
        a[0] = a[2] = *(const unsigned *)(x + 64 + 2 * t);
        mma_f16(sum, a, b); // want: absent lane
    }
#else
    if (t / 4 < rows) a[0] = a[2] = *(const unsigned *)(x + 64 + 2 * t);
    mma_f16(sum, a, b);
#endif
    y[t] = sum[0];
}

// Each half of a warp takes its own branch, to its own product.
extern "C" __global__ void products_apart(const half *x, float *y) {
    unsigned a[4] = {}, b[2] = {};
    float sum[4] = {};
    int t = threadIdx.x;
    b[0] = a[0] = *(const unsigned *)(x + 2 * t);
#ifdef BUG
    if (t < 16) {
        a[1] = 0x3c003c00u;
        mma_f16(sum, a, b);
        sum[0] *= 2;
    } else {
        a[2] = 0x3c003c00u;
        mma_f16(sum, a, b); // want: divergent warp
    }
#else
    a[t < 16 ? 1 : 2] = 0x3c003c00u;
    mma_f16(sum, a, b);
    if (t < 16) sum[0] *= 2;
#endif
    y[t] = sum[0];
}
