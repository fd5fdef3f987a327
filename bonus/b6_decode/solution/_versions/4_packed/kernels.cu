// Decoding in halves, with a key's query heads packed: a block has one key head of one sequence,
// and up to 4 of the query heads that share it, so it reads each key once for all of them. A group
// of DIM / 8 threads takes a key at a time, as in 3_warp.

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int HEADS = 4; // query heads of a block, at most
#include "heads.cuh"

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths, Half *out, int slots,
           int heads, int kvHeads, float scale) {
    __shared__ float rows[GROUPS][DIM];
    __shared__ Weights found[GROUPS];
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;

    // 1. Which heads, which keys.
    const Mine m = mine(heads, kvHeads, lengths, slots);
    k += m.cache + 8 * lane, v += m.cache + 8 * lane;

    Eight query[HEADS] = {}, acc[HEADS] = {};
    float largest[HEADS], sum[HEADS];
    read(query, largest, sum, q, m, lane);
    // All groups go round equally often: shuffles need a whole warp.
    for (int first = 0; first < m.length; first += GROUPS) {
        // 2. A key and a value for each group: what lies behind the last may be anything, NaN too.
        const int slot = first + group;
        Eight key = {}, value = {};
        if (slot < m.length)
            key = load(k + (size_t)slot * m.pitch), value = load(v + (size_t)slot * m.pitch);
        // 3. For each head a score, and a step of the online softmax.
        step(query, acc, largest, sum, key, value, slot < m.length, scale);
    }
    // 4. The groups' results, merged, head by head.
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h >= m.count) break;
#pragma unroll
        for (int i = 0; i < 8; i++) rows[group][8 * lane + i] = acc[h].x[i];
        if (lane == 0) found[group] = {largest[h], sum[h]};
        __syncthreads(); // all results are in place
        if (threadIdx.x < DIM)
            out[(m.head0 + h) * DIM + threadIdx.x] =
                finished(merge(rows[0], found, GROUPS, threadIdx.x));
        __syncthreads(); // rows may be used again
    }
}
