// Half precision, and the matrix units.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// half_axpy: y = alpha x + y, two numbers at a time, rounded once.
extern "C" __global__ void half_axpy(float alpha, const half2 *x, half2 *y, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) y[i] = __hfma2(__float2half2_rn(alpha), x[i], y[i]);
}

// bf16_rms: the root of the mean square of each row, a warp a row, added up in float.
extern "C" __global__ void bf16_rms(const __nv_bfloat162 *x, __nv_bfloat16 *rms, int rows,
                                    int cols) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = 0;
    for (int c = threadIdx.x; c < cols / 2; c += 32) {
        float2 v = __bfloat1622float2(x[row * (cols / 2) + c]);
        sum += v.x * v.x + v.y * v.y;
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) rms[row] = __float2bfloat16(sqrtf(sum / cols));
}

// wmma_gemm: a warp 16 × 16 of c, straight from global memory; b is given
// column by column. All sizes are multiples of 16.
extern "C" __global__ void wmma_gemm(const half *a, const half *b, float *c, int m, int n, int k) {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16, col = blockIdx.x * 16;
    if (row >= m) return; // whole warps
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + (size_t)row * k + i, k);
        wmma::load_matrix_sync(fb, b + (size_t)col * k + i, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + (size_t)row * n + col, sum, n, wmma::mem_row_major);
}

// wmma_tiled: 32 × 32 a block of four warps, any sizes: tiles in shared memory
// are filled up with zeros, and the result is cut to size on its way out.
extern "C" __global__ void __launch_bounds__(128)
    wmma_tiled(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int m, int n, int k,
               float alpha) {
    __shared__ __align__(32) __nv_bfloat16 as[32][16 + 8], bs[16][32 + 8];
    __shared__ __align__(32) float cs[32][32 + 4];
    const __nv_bfloat16 zero = __float2bfloat16(0.0f);
    int t = threadIdx.x, down = t / 64 * 16, right = t / 32 % 2 * 16;
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int from = 0; from < k; from += 16) {
        for (int i = t; i < 32 * 16; i += 128) {
            int r = i / 16, q = i % 16;
            as[r][q] = top + r < m && from + q < k ? a[(top + r) * k + from + q] : zero;
            int u = i / 32, s = i % 32;
            bs[u][s] = from + u < k && left + s < n ? b[(from + u) * n + left + s] : zero;
        }
        __syncthreads();
        wmma::load_matrix_sync(fa, &as[down][0], 16 + 8);
        wmma::load_matrix_sync(fb, &bs[0][right], 32 + 8);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= alpha;
    wmma::store_matrix_sync(&cs[down][right], sum, 32 + 4, wmma::mem_row_major);
    __syncthreads();
    for (int i = t; i < 32 * 32; i += 128)
        if (top + i / 32 < m && left + i % 32 < n)
            c[(top + i / 32) * n + left + i % 32] = cs[i / 32][i % 32];
}
