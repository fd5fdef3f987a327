// Decoding in halves, with a key's query heads packed: a block has one key head of one sequence,
// and up to 4 of the query heads that share it, so it reads each key once for all of them. A group
// of DIM / 8 threads takes a key at a time, as in 3_warp.

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int HEADS = 4; // query heads of a block, at most
#include "rows.cuh"

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths, Half *out, int slots,
           int heads, int kvHeads, float scale) {
    __shared__ float rows[GROUPS][DIM];
    __shared__ Weights found[GROUPS];
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;

    // 1. Which heads, which keys. The length is read here: a recorded launch sees today's.
    const int share = heads / kvHeads, chunks = (share + HEADS - 1) / HEADS;
    const int chunk = blockIdx.x % chunks, kvHead = blockIdx.x / chunks % kvHeads;
    const int sequence = blockIdx.x / chunks / kvHeads;
    const int count = min(HEADS, share - chunk * HEADS); // of this block's query heads
    const size_t head0 = (size_t)sequence * heads + kvHead * share + chunk * HEADS;
    const int length = min(max(lengths[sequence], 0), slots);
    const int pitch = kvHeads * DIM;
    const size_t cache = ((size_t)sequence * slots * kvHeads + kvHead) * DIM + 8 * lane;
    k += cache, v += cache;

    Eight query[HEADS] = {}, acc[HEADS] = {};
    float largest[HEADS], sum[HEADS];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h < count) query[h] = load(q + (head0 + h) * DIM + 8 * lane);
        largest[h] = -INFINITY, sum[h] = 0;
    }
    // All groups go round equally often: shuffles need a whole warp.
    for (int first = 0; first < length; first += GROUPS) {
        // 2. A key and a value for each group: what lies behind the last may be anything, NaN too.
        const int slot = first + group;
        Eight key = {}, value = {};
        if (slot < length)
            key = load(k + (size_t)slot * pitch), value = load(v + (size_t)slot * pitch);
            // 3. For each head a score, and a step of the online softmax.
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            float score = 0;
#pragma unroll
            for (int i = 0; i < 8; i++) score += query[h].x[i] * key.x[i];
            score = groupSum(score) * scale;
            if (slot >= length) score = -INFINITY;
            const float most = fmaxf(largest[h], score);
            const float rescale = exp2f(largest[h] - base(most));
            const float weight = exp2f(score - base(most));
            largest[h] = most;
            sum[h] = sum[h] * rescale + weight;
#pragma unroll
            for (int i = 0; i < 8; i++) acc[h].x[i] = acc[h].x[i] * rescale + weight * value.x[i];
        }
    }
    // 4. The groups' results, merged, head by head.
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h >= count) break;
#pragma unroll
        for (int i = 0; i < 8; i++) rows[group][8 * lane + i] = acc[h].x[i];
        if (lane == 0) found[group] = {largest[h], sum[h]};
        __syncthreads(); // all results are in place
        if (threadIdx.x < DIM)
            out[(head0 + h) * DIM + threadIdx.x] =
                finished(merge(rows[0], found, GROUPS, threadIdx.x));
        __syncthreads(); // rows may be used again
    }
}
