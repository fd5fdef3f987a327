// Single instructions of the tensor cores.
#include <cuda_fp16.h>
#include "tensorcore.h"

// A float as two numbers of tf32: together they hold 21 bits of its 24, or 22.
__device__ void split(const unsigned (&x)[4], unsigned (&large)[4], unsigned (&small)[4]) {
    for (int i = 0; i < 4; i++) {
        float v = __uint_as_float(x[i]);
        large[i] = to_tf32(v);
        small[i] = to_tf32(v - __uint_as_float(large[i]));
    }
}

// tf32_gemm: c [m, n] = a [m, k] · b [n, k] transposed in nearly float32's precision, by three
// products of tf32. 32 × 32 a block of four warps, any sizes: tiles are filled up with zeros.
extern "C" __global__ void __launch_bounds__(128)
    tf32_gemm(const float *a, const float *b, float *c, int m, int n, int k) {
    // Rows of 144 bytes: pieces of 16 in eight rows are in different banks.
    __shared__ __align__(16) float as[32][32 + 4], bs[32][32 + 4];
    int t = threadIdx.x, lane = t % 32, down = t / 64 * 16, right = t / 32 % 2 * 16;
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    float sum[2][4] = {};
    for (int from = 0; from < k; from += 32) {
        for (int i = t; i < 32 * 32; i += 128) {
            int r = i / 32, q = i % 32;
            as[r][q] = top + r < m && from + q < k ? a[(top + r) * k + from + q] : 0;
            bs[r][q] = left + r < n && from + q < k ? b[(left + r) * k + from + q] : 0;
        }
        __syncthreads();
        for (int q = 0; q < 32; q += 8) {
            unsigned x[4], large[4], small[4], y[4], largeY[4], smallY[4];
            load_matrix(x, &as[down + lane % 16][q + lane / 16 * 4]);
            load_matrix(y, &bs[right + lane / 16 * 8 + lane % 8][q + lane / 8 % 2 * 4]);
            split(x, large, small);
            split(y, largeY, smallY);
            for (int j = 0; j < 2; j++) { // the small terms first
                mma_tf32(sum[j], small, largeY[2 * j], largeY[2 * j + 1]);
                mma_tf32(sum[j], large, smallY[2 * j], smallY[2 * j + 1]);
                mma_tf32(sum[j], large, largeY[2 * j], largeY[2 * j + 1]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++) {
        int row = top + down + lane / 4 + i % 4 / 2 * 8;
        int col = left + right + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (row < m && col < n) c[row * n + col] = sum[i / 4][i % 4];
    }
}

// half_gemm: c [m, n] = a [m, k] · b [k, n], 16 × 16 a warp, four warps a block one above the
// other; all sizes are multiples of 16. b's tile is turned as it is loaded.
extern "C" __global__ void half_gemm(const half *a, const half *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) half as[64][16 + 8], bs[16][16 + 8];
    int t = threadIdx.x, lane = t % 32, down = t / 32 * 16, top = blockIdx.y * 64,
        left = blockIdx.x * 16;
    float sum[2][4] = {};
    for (int from = 0; from < k; from += 16) {
        for (int i = t; i < 64 * 16; i += 128) {
            int r = i / 16, q = i % 16;
            as[r][q] = top + r < m ? a[(top + r) * k + from + q] : __float2half(0);
            if (r < 16) bs[r][q] = b[(from + r) * n + left + q];
        }
        __syncthreads();
        unsigned x[4], y[4];
        load_matrix(x, &as[down + lane % 16][lane / 16 * 8]);
        load_matrix_transposed(y, &bs[lane % 16][lane / 16 * 8]);
        mma_f16(sum[0], x, y[0], y[1]);
        mma_f16(sum[1], x, y[2], y[3]);
        __syncthreads();
    }
    for (int i = 0; i < 8; i++) {
        int row = top + down + lane / 4 + i % 4 / 2 * 8;
        int col = left + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (row < m) c[row * n + col] = sum[i / 4][i % 4];
    }
}
