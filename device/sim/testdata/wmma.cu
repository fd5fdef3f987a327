// Products of small matrices by one warp: every layout, shape and type.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// Rows are 8 elements longer than they need be, so that a stride is a stride.
constexpr int pad = 8;

template <int M, int N, int K, class T, class In, class LA, class LB, class C>
__device__ void product(const In *a, const In *b, const C *c, C *d, bool columns) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc, fd;
    constexpr bool ca = sizeof(fa) && std::is_same<LA, wmma::col_major>::value;
    constexpr bool cb = sizeof(fb) && std::is_same<LB, wmma::col_major>::value;
    wmma::load_matrix_sync(fa, a, (ca ? M : K) + pad);
    wmma::load_matrix_sync(fb, b, (cb ? K : N) + pad);
    wmma::layout_t layout = columns ? wmma::mem_col_major : wmma::mem_row_major;
    wmma::load_matrix_sync(fc, c, (columns ? M : N) + pad, layout);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(d, fd, (columns ? M : N) + pad, layout);
}

extern "C" __global__ void layouts(const half *a, const half *b, const float *c, float *d,
                                   int which) {
    bool columns = which & 4;
    if ((which & 3) == 0)
        product<16, 16, 16, half, half, wmma::row_major, wmma::row_major>(a, b, c, d, columns);
    else if ((which & 3) == 1)
        product<16, 16, 16, half, half, wmma::col_major, wmma::row_major>(a, b, c, d, columns);
    else if ((which & 3) == 2)
        product<16, 16, 16, half, half, wmma::row_major, wmma::col_major>(a, b, c, d, columns);
    else
        product<16, 16, 16, half, half, wmma::col_major, wmma::col_major>(a, b, c, d, columns);
}

extern "C" __global__ void half_shapes(const half *a, const half *b, const float *c, float *d,
                                       int which) {
    if (which == 0)
        product<32, 8, 16, half, half, wmma::row_major, wmma::col_major>(a, b, c, d, false);
    else
        product<8, 32, 16, half, half, wmma::row_major, wmma::col_major>(a, b, c, d, false);
}

extern "C" __global__ void half_sums(const half *a, const half *b, const half *c, half *d) {
    product<16, 16, 16, half, half, wmma::row_major, wmma::col_major>(a, b, c, d, false);
}

extern "C" __global__ void bfloat16_shapes(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                           const float *c, float *d, int which) {
    typedef __nv_bfloat16 T;
    if (which == 0)
        product<16, 16, 16, T, T, wmma::row_major, wmma::col_major>(a, b, c, d, false);
    else if (which == 1)
        product<32, 8, 16, T, T, wmma::row_major, wmma::col_major>(a, b, c, d, false);
    else
        product<8, 32, 16, T, T, wmma::row_major, wmma::col_major>(a, b, c, d, false);
}

extern "C" __global__ void tf32(const float *a, const float *b, const float *c, float *d) {
    product<16, 16, 8, wmma::precision::tf32, float, wmma::row_major, wmma::col_major>(a, b, c, d,
                                                                                       false);
}

// Elements are scaled where they are held, and counted.
extern "C" __global__ void elements(const half *a, const half *b, float *d, int *counts) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    for (int i = 0; i < fa.num_elements; i++) fa.x[i] = fa.x[i] * __float2half(2.0f);
    wmma::mma_sync(sum, fa, fb, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] += 0.5f;
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
    if (threadIdx.x == 0) {
        counts[0] = fa.num_elements;
        counts[1] = sum.num_elements;
        counts[2] = wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16,
                                   wmma::row_major>::num_elements;
    }
}

// C [n, n] = A [n, n] · B [n, n]: four warps a block, tiles in shared memory.
extern "C" __global__ void gemm(const half *a, const half *b, float *c, int n) {
    __shared__ half as[32][16 + 8], bs[16][32 + 8];
    int t = threadIdx.x, warp = t / 32, down = warp / 2 * 16, right = warp % 2 * 16;
    int row = blockIdx.y * 32, column = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        for (int i = t; i < 32 * 16; i += blockDim.x) {
            as[i / 16][i % 16] = a[(row + i / 16) * n + k + i % 16];
            bs[i / 32][i % 32] = b[(k + i / 32) * n + column + i % 32];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, &as[down][0], 16 + 8);
        wmma::load_matrix_sync(fb, &bs[0][right], 32 + 8);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(c + (row + down) * n + column + right, sum, n, wmma::mem_row_major);
}
