// Attention in separate kernels: a softmax and two matrix products.
//
// The host defines THREADS_SOFTMAX, the threads of a block of softmax, and for the products TILE,
// the side of a block's square of results, DEPTH, how many terms of their sums are staged at a
// time, and SIDE: a block has SIDE * SIDE threads.

// ---- softmax -------------------------------------------------------------------
//
// Softmax of x [outer, len, inner] along the dimension len, written to y. Row r = o * inner + j
// has its element i at x[(o * len + i) * inner + j].
//
// Version 4. What is new: a row is kept in registers, not in shared memory. A team of 32 to 512
// threads shares a row, MOST elements each, and asks for all of them before it uses the first: so
// enough reads are under way at any time to keep device memory busy.

#define MOST 32 // elements of a row that a thread keeps
#include "teams.cuh"

extern "C" __global__ void __launch_bounds__(THREADS_SOFTMAX)
    softmax(const float *__restrict__ x, float *__restrict__ y, int rows, int len, int inner,
            int team) {
    const int row = blockIdx.x * (THREADS_SOFTMAX / team) + threadIdx.x / team;
    const int thread = threadIdx.x % team; // within the team
    const size_t first = (size_t)(row / inner) * len * inner + row % inner;
    const int mine = row < rows ? len : 0; // a team without a row goes along to the barriers

    // 1. Read the row. Neighbours read neighbours; -infinity changes neither maximum nor sum.
    float part[MOST];
#pragma unroll
    for (int k = 0; k < MOST; k++) {
        const int i = k * team + thread;
        part[k] = i < mine ? x[first + (size_t)i * inner] : -INFINITY;
    }

    // 2. Its maximum, exponentials and their sum.
    const float sum = exponentials(part, team);

    // 3. Normalise, and write the row.
    const float inverse = 1.0f / sum;
#pragma unroll
    for (int k = 0; k < MOST; k++) {
        const int i = k * team + thread;
        if (i < mine) y[first + (size_t)i * inner] = part[k] * inverse;
    }
}

// ---- products ------------------------------------------------------------------
//
// As products.cuh says. Version 4: a thread's PER x PER results are 8 x 8, where they were 4 x 4,
// in 2 x 2 squares of 4 x 4. So the 16 values that it reads from shared memory serve for 64
// products; and as four of them lie together, a float4, it takes 4 reads instead of 16.

#include "slabs.cuh"
#define QUADS (PER / 4)
static_assert(TILE % (4 * SIDE) == 0, "each thread computes the same number of quads");

// Four columns more than TILE: float4s stay aligned, and neighbours in k lie four banks apart.
typedef float Slab[DEPTH][TILE + 4];

// A thread's numbers of a slab's row: QUADS times four, SIDE * 4 apart.
__device__ void take(float *d, const float *row, int thread) {
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        const float4 v = *(const float4 *)(row + (q * SIDE + thread) * 4);
        d[q * 4] = v.x, d[q * 4 + 1] = v.y, d[q * 4 + 2] = v.z, d[q * 4 + 3] = v.w;
    }
}

// The block's TILE x TILE results. bLine and bDepth are the strides of b.
__device__ void multiply(const float *a, const float *b, float *c, int M, int N, int K,
                         size_t bLine, size_t bDepth) {
    __shared__ __align__(16) Slab aSlab, bSlab;
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

        // 2. Add DEPTH terms to each sum.
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float fromA[PER], fromB[PER];
            take(fromA, aSlab[k], threadRow);
            take(fromB, bSlab[k], threadColumn);
            add(sum, fromA, fromB);
        }
        __syncthreads(); // all have read the slabs before the next overwrites them
    }

    // 3. Write the results that lie within c.
    write(
        c, M, N, sum, [=](int i) { return row0 + (i / 4 * SIDE + threadRow) * 4 + i % 4; },
        [=](int j) { return column0 + (j / 4 * SIDE + threadColumn) * 4 + j % 4; });
}

#include "products.cuh"
