// What the rungs share where several blocks share the keys of a head (parts).

#include "heads.cuh"

// Merges what the block's groups have found, head by head, and then what the blocks have found that
// share these keys. between has room for the results of all such blocks: [batch * heads * parts]
// rows of DIM sums, and behind them as many weights. done [gridDim.x] counts which of them are
// done: 0 before and after each launch. Launches that may overlap need a between and a done each.
__device__ void finish(const Eight (&acc)[HEADS], const float (&largest)[HEADS],
                       const float (&sum)[HEADS], const Mine &m, Half *out, float *between,
                       unsigned *done, int heads, int kvHeads) {
    __shared__ float rows[GROUPS][DIM];
    __shared__ Weights found[GROUPS];
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const int parts = gridDim.y, part = blockIdx.y;
    // With all keys here the first step is the end of it.
    const size_t all = (size_t)gridDim.x / (m.chunks * kvHeads) * heads * parts; // results
    Weights *weights = reinterpret_cast<Weights *>(between + all * DIM);
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h >= m.count) break;
#pragma unroll
        for (int i = 0; i < 8; i++) rows[group][8 * lane + i] = acc[h].x[i];
        if (lane == 0) found[group] = {largest[h], sum[h]};
        __syncthreads(); // all results are in place
        if (threadIdx.x < DIM) {
            const Found one = merge(rows[0], found, GROUPS, threadIdx.x);
            const size_t at = (m.head0 + h) * parts + part;
            if (parts == 1) out[(m.head0 + h) * DIM + threadIdx.x] = finished(one);
            if (parts > 1) between[at * DIM + threadIdx.x] = one.number;
            if (parts > 1 && threadIdx.x == 0) weights[at] = one.weights;
        }
        __syncthreads(); // rows may be used again
    }
    if (parts == 1) return;

    // The last of the blocks that share these keys merges what they found. It sees the others'
    //    results, for their fences came before their counting.
    __shared__ bool last;
    __threadfence();
    __syncthreads(); // the results of all threads are written, each before its fence
    // It counts to parts - 1, then starts from 0 again.
    if (threadIdx.x == 0) last = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
    __syncthreads(); // everyone knows whether this block is the last
    if (!last) return;
    __threadfence();
    for (int i = threadIdx.x; i < m.count * DIM; i += THREADS) {
        const size_t head = m.head0 + i / DIM;
        out[head * DIM + i % DIM] =
            finished(merge(between + head * parts * DIM, weights + head * parts, parts, i % DIM));
    }
}
