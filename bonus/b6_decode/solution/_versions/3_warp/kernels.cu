// Decoding in halves, with coalesced loads: a block for each query head. DIM / 8 neighbouring
// threads, a group, read a key in one load each: half a warp or a quarter, side by side. Each group
// has an online softmax of its own; at the end their results are merged.

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int HEADS = 1; // query heads of a block
#include "rows.cuh"

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths, Half *out, int slots,
           int heads, int kvHeads, float scale) {
    __shared__ float rows[GROUPS][DIM];
    __shared__ Weights found[GROUPS];
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const int sequence = blockIdx.x / heads, head = blockIdx.x % heads;
    // Read here: a recorded launch sees today's.
    const int length = min(max(lengths[sequence], 0), slots);
    const int pitch = kvHeads * DIM;
    const size_t cache =
        ((size_t)sequence * slots * kvHeads + head / (heads / kvHeads)) * DIM + 8 * lane;
    k += cache, v += cache, q += (size_t)blockIdx.x * DIM + 8 * lane,
        out += (size_t)blockIdx.x * DIM;

    const Eight query = load(q);
    Eight acc = {};
    float largest = -INFINITY, sum = 0;
    // All groups go round equally often: shuffles need a whole warp.
    for (int first = 0; first < length; first += GROUPS) {
        // 1. A key and a value for each group: what lies behind the last may be anything, NaN too.
        const int slot = first + group;
        Eight key = {}, value = {};
        if (slot < length)
            key = load(k + (size_t)slot * pitch), value = load(v + (size_t)slot * pitch);
        // 2. Its score, in each of its lanes.
        float score = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) score += query.x[i] * key.x[i];
        score = groupSum(score) * scale;
        if (slot >= length) score = -INFINITY;
        // 3. The online softmax: a larger maximum rescales what was summed before.
        const float most = fmaxf(largest, score);
        const float rescale = exp2f(largest - base(most));
        const float weight = exp2f(score - base(most));
        largest = most;
        sum = sum * rescale + weight;
#pragma unroll
        for (int i = 0; i < 8; i++) acc.x[i] = acc.x[i] * rescale + weight * value.x[i];
    }
    // 4. The groups' results, merged.
#pragma unroll
    for (int i = 0; i < 8; i++) rows[group][8 * lane + i] = acc.x[i];
    if (lane == 0) found[group] = {largest, sum};
    __syncthreads(); // all results are in place
    if (threadIdx.x < DIM) out[threadIdx.x] = finished(merge(rows[0], found, GROUPS, threadIdx.x));
}
