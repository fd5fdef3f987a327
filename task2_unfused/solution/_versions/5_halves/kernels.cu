// Attention in separate kernels: a softmax and two matrix products. The products are too inexact,
// on purpose: this rung shows how fast tensor cores are, and what halves cost. The next one mends
// that.
//
// The host defines THREADS_SOFTMAX, the threads of a block of softmax, and for the products TILE,
// the side of a block's square of results, DEPTH, how many terms of their sums are staged at a
// time, and SIDE: a block has SIDE * SIDE threads.

#include <cuda_fp16.h>
#include "tensorcore.h"

// ---- softmax -------------------------------------------------------------------
//
// Softmax of x [outer, len, inner] along the dimension len, written to y. Row r = o * inner + j
// has its element i at x[(o * len + i) * inner + j].
//
// Version 5. What is new: where rows lie together, a thread reads and writes four elements with one
// instruction, and says that nothing else will want them (__ldcs, __stcs). A team of 32 to 512
// threads shares a row, MOST elements each, and asks for all of them before it uses the first: so
// enough reads are under way at any time to keep device memory busy.

#define MOST 32 // elements of a row that a thread keeps
#include "teams.cuh"

// FOUR says that rows lie together (inner is 1) and start at multiples of 16 bytes.
template <bool FOUR>
__device__ void softmaxRows(const float *__restrict__ x, float *__restrict__ y, int rows, int len,
                            int inner, int team) {
    const int row = blockIdx.x * (THREADS_SOFTMAX / team) + threadIdx.x / team;
    const int thread = threadIdx.x % team; // within the team
    const size_t first = (size_t)(row / inner) * len * inner + row % inner;
    const int mine = row < rows ? len : 0; // a team without a row goes along to the barriers

    // 1. Read the row. Neighbours read neighbours; -infinity changes neither maximum nor sum.
    float part[MOST];
#pragma unroll
    for (int k = 0; k < MOST; k += FOUR ? 4 : 1) {
        const int i = FOUR ? k * team + thread * 4 : k * team + thread;
        if (FOUR) {
            float4 four = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
            if (i < mine)
                four = __ldcs((const float4 *)(x + first + i)); // read once: not to be kept
            part[k] = four.x, part[k + 1] = four.y, part[k + 2] = four.z, part[k + 3] = four.w;
        } else {
            part[k] = i < mine ? x[first + (size_t)i * inner] : -INFINITY;
        }
    }

    // 2. Its maximum, exponentials and their sum.
    const float sum = exponentials(part, team);

    // 3. Normalise, and write the row.
    const float inverse = 1.0f / sum;
#pragma unroll
    for (int k = 0; k < MOST; k += FOUR ? 4 : 1) {
        const int i = FOUR ? k * team + thread * 4 : k * team + thread;
        if (i >= mine) continue;
        if (FOUR) {
            __stcs((float4 *)(y + first + i),
                   make_float4(part[k] * inverse, part[k + 1] * inverse, part[k + 2] * inverse,
                               part[k + 3] * inverse));
        } else {
            y[first + (size_t)i * inner] = part[k] * inverse;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS_SOFTMAX)
    softmax_fours(const float *__restrict__ x, float *__restrict__ y, int rows, int len, int inner,
                  int team) {
    softmaxRows<true>(x, y, rows, len, inner, team);
}

extern "C" __global__ void __launch_bounds__(THREADS_SOFTMAX)
    softmax_any(const float *__restrict__ x, float *__restrict__ y, int rows, int len, int inner,
                int team) {
    softmaxRows<false>(x, y, rows, len, inner, team);
}

// ---- products ------------------------------------------------------------------
//
// As products.cuh says. Version 5: tensor cores multiply. They take halves, so a number is rounded
// to 11 bits as it is staged (and becomes infinite from 65520 on); sums are float32's. mma_f16
// multiplies 16 x 16 by 16 x 8 numbers with one instruction of a warp, which float32's units need
// 64 for. Each of the 2 x 4 warps has 64 x 32 results, as 4 x 4 fragments of 16 x 8: tensorcore.h
// says which lane holds what.

#define THREADS (SIDE * SIDE)
static_assert(TILE == 128 && THREADS == 256 && DEPTH % 16 == 0, "2 x 4 warps of 64 x 32 results");

// Eight more than DEPTH: load_matrix reads 16 bytes of eight lines at once, which then lie in
// different banks.
typedef __half Slab[TILE][DEPTH + 8];

// Stages DEPTH terms of TILE lines (rows of a, or columns of b) from (line0, k0)
// on. Beyond the matrix come zeros, which add nothing to a sum.
__device__ void stage(Slab slab, const float *matrix, int line0, int lines, int k0, int depth,
                      size_t lineStride, size_t kStride) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        // Neighbouring threads read neighbouring addresses, whichever way the
        // matrix is stored.
        const int line = kStride == 1 ? i / DEPTH : i % TILE;
        const int k = kStride == 1 ? i % DEPTH : i / TILE;
        const bool inside = line0 + line < lines && k0 + k < depth;
        slab[line][k] =
            __float2half(inside ? matrix[(line0 + line) * lineStride + (k0 + k) * kStride] : 0.0f);
    }
}

// The block's TILE x TILE results. bLine and bDepth are the strides of b.
__device__ void multiply(const float *a, const float *b, float *c, int M, int N, int K,
                         size_t bLine, size_t bDepth) {
    __shared__ __align__(16) Slab aSlab, bSlab;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warpRow = warp / 4 * 64, warpColumn = warp % 4 * 32;
    const int row0 = blockIdx.y * TILE;
    const int column0 = blockIdx.x * TILE;

    float sum[4][4][4] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        // 1. Stage the slabs.
        stage(aSlab, a, row0, M, k0, K, K, 1);
        stage(bSlab, b, column0, N, k0, K, bLine, bDepth);
        __syncthreads(); // the slabs are complete before anyone reads them

        // 2. Add 16 terms to each sum. A lane names a line to load_matrix: of a, four squares of
        //    8 x 8 down, then right; of b the other way round, which is two fragments.
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned fromA[4][4], fromB[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                load_matrix(fromA[i], &aSlab[warpRow + i * 16 + lane % 16][k + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 4; j += 2) {
                load_matrix(
                    fromB,
                    &bSlab[warpColumn + j * 8 + lane / 16 * 8 + lane % 8][k + lane / 8 % 2 * 8]);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    mma_f16(sum[i][j], fromA[i], fromB[0], fromB[1]);
                    mma_f16(sum[i][j + 1], fromA[i], fromB[2], fromB[3]);
                }
            }
        }
        __syncthreads(); // all have read the slabs before the next overwrites them
    }

    // 3. Write the results that lie within c.
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int row = row0 + warpRow + i * 16 + e / 2 * 8 + lane / 4;
                const int column = column0 + warpColumn + j * 8 + lane % 4 * 2 + e % 2;
                if (row < M && column < N) c[(size_t)row * N + column] = sum[i][j][e];
            }
        }
    }
}

#include "products.cuh"
