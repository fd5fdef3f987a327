// What the four pipelines are made of, besides this task's own kernels and b2's attention. A matrix
// has its rows one behind the other, `step` numbers apart; heads lie side by side in a token's row:
//
//   x [rows, hidden] of halves      w [outputs, hidden]      q [rows, heads * dim]
//   k, v [rows, kvHeads * dim]      s [heads, rows, rows]    out [rows, heads * dim] of halves

#include <cuda_fp16.h>

__device__ float wide(float x) {
    return x;
}
__device__ float wide(__half x) {
    return __half2float(x);
}

// One sum, by one thread: of a's row and b's row, or b's column.
template <bool ROWS_OF_B, class A>
__device__ float naive(const A *a, const float *b, int stepB, int depth) {
    float sum = 0;
    for (int i = 0; i < depth; i++) sum += wide(a[i]) * (ROWS_OF_B ? b[i] : b[(size_t)i * stepB]);
    return sum;
}

// The same for a tile of 32 x 32 sums: 256 threads have four each, and share what they read.
constexpr int TILE = 32;

template <bool ROWS_OF_B, class A, class Put>
__device__ void tiled(const A *a, int stepA, const float *b, int stepB, int m, int n, int depth,
                      Put put) {
    __shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1]; // bs by [depth][column]
    const int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sums[2][2] = {};
    for (int first = 0; first < depth; first += TILE) {
        for (int at = threadIdx.x; at < TILE * TILE; at += 256) {
            const int i = at / TILE, j = at % TILE;
            as[i][j] = row0 + i < m && first + j < depth
                           ? wide(a[(size_t)(row0 + i) * stepA + first + j])
                           : 0;
            if (ROWS_OF_B)
                bs[j][i] = column0 + i < n && first + j < depth
                               ? b[(size_t)(column0 + i) * stepB + first + j]
                               : 0;
            else
                bs[i][j] = column0 + j < n && first + i < depth
                               ? b[(size_t)(first + i) * stepB + column0 + j]
                               : 0;
        }
        __syncthreads(); // both tiles are there
        for (int i = 0; i < TILE; i++)
            for (int e = 0; e < 4; e++)
                sums[e / 2][e % 2] += as[y + e / 2 * 16][i] * bs[i][x + e % 2 * 16];
        __syncthreads(); // and have been used
    }
    for (int e = 0; e < 4; e++) {
        const int row = row0 + y + e / 2 * 16, column = column0 + x + e % 2 * 16;
        if (row < m && column < n) put(row, column, sums[e / 2][e % 2]);
    }
}

// ---- x * w^T + bias ----------------------------------------------------------------------------

extern "C" __global__ void product_naive(const __half *x, const float *w, const __half *bias,
                                         float *out, int rows, int hidden, int outputs) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (n < outputs)
        out[(size_t)row * outputs + n] =
            naive<true>(x + (size_t)row * hidden, w + (size_t)n * hidden, 0, hidden) +
            wide(bias[n]);
}

extern "C" __global__ void product_tiled(const __half *x, const float *w, const __half *bias,
                                         float *out, int rows, int hidden, int outputs) {
    tiled<true>(x, hidden, w, hidden, rows, outputs, hidden, [&](int row, int n, float sum) {
        out[(size_t)row * outputs + n] = sum + wide(bias[n]);
    });
}

// All three at once, in halves, by heads: what b2's attention reads.
extern "C" __global__ void product_fused(const __half *x, const float *w, const __half *bias,
                                         __half *q, __half *k, __half *v, int rows, int hidden,
                                         int heads, int kvHeads, int dim) {
    const int outputs = (heads + 2 * kvHeads) * dim;
    tiled<true>(x, hidden, w, hidden, rows, outputs, hidden, [&](int row, int n, float sum) {
        int head = n / dim;
        __half *to = q;
        if (head >= heads) {
            head -= heads, to = k;
            if (head >= kvHeads) head -= kvHeads, to = v;
        }
        to[((size_t)head * rows + row) * dim + n % dim] = __float2half_rn(sum + wide(bias[n]));
    });
}

// ---- attention, in four steps ------------------------------------------------------------------

extern "C" __global__ void scores_naive(const float *q, const float *k, float *s, int rows,
                                        int heads, int kvHeads, int dim) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y, head = blockIdx.z;
    const int stepQ = heads * dim, stepK = kvHeads * dim;
    if (j < rows)
        s[((size_t)head * rows + i) * rows + j] =
            naive<true>(q + (size_t)i * stepQ + head * dim,
                        k + (size_t)j * stepK + head / (heads / kvHeads) * dim, 0, dim);
}

extern "C" __global__ void scores_tiled(const float *q, const float *k, float *s, int rows,
                                        int heads, int kvHeads, int dim) {
    const int head = blockIdx.z;
    tiled<true>(q + head * dim, heads * dim, k + head / (heads / kvHeads) * dim, kvHeads * dim,
                rows, rows, dim,
                [&](int i, int j, float sum) { s[((size_t)head * rows + i) * rows + j] = sum; });
}

extern "C" __global__ void mask(float *s, int rows, float scale) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y, head = blockIdx.z;
    float *x = s + ((size_t)head * rows + i) * rows;
    if (j < rows) x[j] = j <= i ? x[j] * scale : -INFINITY;
}

// A thread has a row.
extern "C" __global__ void softmax_naive(float *s, int rows, int all) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= all) return;
    float *x = s + (size_t)row * rows, largest = x[0], sum = 0;
    for (int j = 1; j < rows; j++) largest = fmaxf(largest, x[j]);
    for (int j = 0; j < rows; j++) sum += x[j] = expf(x[j] - largest);
    for (int j = 0; j < rows; j++) x[j] /= sum;
}

// A warp has a row, and walks over it in chunks of 32: the sum so far is rescaled to the largest so
// far.
extern "C" __global__ void softmax_chunks(float *s, int rows, int all) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= all) return;
    float *x = s + (size_t)row * rows, largest = -INFINITY, sum = 0;
    for (int j = lane; j < rows; j += 32) {
        const float now = fmaxf(largest, x[j]);
        if (now > -INFINITY) sum = sum * expf(largest - now) + expf(x[j] - now);
        largest = now;
    }
    for (int apart = 16; apart > 0; apart /= 2) {
        const float other = __shfl_xor_sync(0xffffffff, largest, apart);
        const float theirs = __shfl_xor_sync(0xffffffff, sum, apart);
        const float now = fmaxf(largest, other);
        if (now > -INFINITY) sum = sum * expf(largest - now) + theirs * expf(other - now);
        largest = now;
    }
    for (int j = lane; j < rows; j += 32) x[j] = expf(x[j] - largest) / sum;
}

extern "C" __global__ void sum_naive(const float *s, const float *v, __half *out, int rows,
                                     int heads, int kvHeads, int dim) {
    const int d = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y, head = blockIdx.z;
    if (d < dim)
        out[(size_t)i * heads * dim + head * dim + d] = __float2half_rn(
            naive<false>(s + ((size_t)head * rows + i) * rows,
                         v + head / (heads / kvHeads) * dim + d, kvHeads * dim, rows));
}

extern "C" __global__ void sum_tiled(const float *s, const float *v, __half *out, int rows,
                                     int heads, int kvHeads, int dim) {
    const int head = blockIdx.z;
    tiled<false>(s + (size_t)head * rows * rows, rows, v + head / (heads / kvHeads) * dim,
                 kvHeads * dim, rows, dim, rows, [&](int i, int d, float sum) {
                     out[(size_t)i * heads * dim + head * dim + d] = __float2half_rn(sum);
                 });
}
