// Attention in separate kernels: a softmax and two matrix products.
//
// The host defines THREADS_SOFTMAX, the most threads of a block of softmax, and for the products
// TILE, the side of a block's square of results, DEPTH, how many terms of their sums are staged at
// a time, and SIDE: a block has SIDE * SIDE threads.

// ---- softmax -------------------------------------------------------------------
//
// Softmax of x [outer, len, inner] along the dimension len, written to y.
//
// Block b handles row b = o * inner + j; element i of row (o, j) lies at
// x[(o * len + i) * inner + j]. A row is read from device memory once and written once: between the
// two it is staged in shared memory, len floats of it.
//
// Version 3. What is new: threads of a warp exchange maxima and sums by shuffles, which need no
// barrier. Only one value of each warp goes through shared memory.

#include "teams.cuh"

// Combines one value of each thread of the block: by shuffles in a warp, and through shared memory
// across warps. All threads take part.
template <typename Combine>
__device__ float together(float value, float *perWarp, Combine combine) {
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = combine(value, __shfl_xor_sync(EVERYONE, value, lanes));
    if (threadIdx.x % 32 == 0) perWarp[threadIdx.x / 32] = value;
    __syncthreads(); // every warp's value is in place before others read it
    value = perWarp[0];
    for (int warp = 1; warp < blockDim.x / 32; warp++) value = combine(value, perWarp[warp]);
    return value;
}

extern "C" __global__ void __launch_bounds__(THREADS_SOFTMAX)
    softmax(const float *__restrict__ x, float *__restrict__ y, int len, int inner) {
    extern __shared__ float row[]; // the row: x, then exp(x - max)
    __shared__ float maxima[THREADS_SOFTMAX / 32], sums[THREADS_SOFTMAX / 32];
    const int thread = threadIdx.x, threads = blockDim.x;
    const int o = blockIdx.x / inner, j = blockIdx.x % inner;
    const size_t first = (size_t)o * len * inner + j; // element 0 of this row

    // 1. Stage the row. The threads stride over it, so that neighbours read
    //    neighbours; each keeps the largest value it has seen.
    float largest = -INFINITY;
    for (int i = thread; i < len; i += threads) {
        const float value = x[first + (size_t)i * inner];
        row[i] = value;
        largest = fmaxf(largest, value);
    }

    // 2. The row's maximum.
    largest = together(largest, maxima, Larger());

    // 3. Exponentials, and their sum. With the maximum subtracted no exponent is above 0, so
    //    nothing overflows, and the largest term is exactly 1, so that the sum is never 0. No
    //    barrier guards row: a thread reads back only what it wrote itself.
    float sum = 0.0f;
    for (int i = thread; i < len; i += threads) {
        const float term = expf(row[i] - largest);
        row[i] = term;
        sum += term;
    }
    sum = together(sum, sums, Plus());

    // 4. Normalise, and write the row once.
    for (int i = thread; i < len; i += threads) y[first + (size_t)i * inner] = row[i] / sum;
}

// ---- products ------------------------------------------------------------------
//
// As products.cuh says. Version 3: a thread keeps its PER x PER results in registers, so that the 2
// * PER values that it reads from shared memory serve for PER * PER products.

#include "slabs.cuh"
static_assert(TILE % SIDE == 0, "each thread computes the same number of results");

// One column more than TILE: neighbours in k then lie in different banks.
typedef float Slab[DEPTH][TILE + 1];

// The block's TILE x TILE results. bLine and bDepth are the strides of b.
__device__ void multiply(const float *a, const float *b, float *c, int M, int N, int K,
                         size_t bLine, size_t bDepth) {
    __shared__ Slab aSlab, bSlab;
    const int threadRow = threadIdx.x / SIDE;
    const int threadColumn = threadIdx.x % SIDE;
    const int row0 = blockIdx.y * TILE;
    const int column0 = blockIdx.x * TILE;

    float sum[PER][PER] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        // 1. Stage the slabs.
        stage(aSlab, a, row0, M, k0, K, K, 1);
        stage(bSlab, b, column0, N, k0, K, bLine, bDepth);
        __syncthreads(); // the slabs are complete before anyone reads them

        // 2. Add DEPTH terms to each sum. A thread's results lie SIDE apart:
        //    so neighbouring threads read neighbouring columns.
        for (int k = 0; k < DEPTH; k++) {
            float fromA[PER], fromB[PER];
#pragma unroll
            for (int i = 0; i < PER; i++) {
                fromA[i] = aSlab[k][threadRow + i * SIDE];
                fromB[i] = bSlab[k][threadColumn + i * SIDE];
            }
            add(sum, fromA, fromB);
        }
        __syncthreads(); // all have read the slabs before the next overwrites them
    }

    // 3. Write the results that lie within c.
    write(
        c, M, N, sum, [=](int i) { return row0 + threadRow + i * SIDE; },
        [=](int j) { return column0 + threadColumn + j * SIDE; });
}

#include "products.cuh"
