// Decoding in halves, with split keys: where the heads are too few to fill the GPU, several blocks
// share the keys of a head (parts), and the one that finishes last merges what they found. For the
// rest it is 4_packed: a block has one key head of one sequence and up to 4 query heads, a group of
// DIM / 8 threads takes a key at a time.

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int HEADS = 4; // query heads of a block, at most
#include "parts.cuh"

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two. parts.cuh tells what between
// and done hold.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths, Half *out,
           float *between, unsigned *done, int slots, int heads, int kvHeads, float scale) {
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;

    // 1. Which heads, which keys.
    const Mine m = mine(heads, kvHeads, lengths, slots);
    const int parts = gridDim.y, part = blockIdx.y, perPart = (m.length + parts - 1) / parts;
    const int begin = min(part * perPart, m.length);
    const int end = min(begin + perPart, m.length); // no key: begin
    k += m.cache + 8 * lane, v += m.cache + 8 * lane;

    Eight query[HEADS] = {}, acc[HEADS] = {};
    float largest[HEADS], sum[HEADS];
    read(query, largest, sum, q, m, lane);
    // All groups go round equally often: shuffles need a whole warp.
    for (int first = begin; first < end; first += GROUPS) {
        // 2. A key and a value for each group: what lies behind the last may be anything, NaN too.
        const int slot = first + group;
        Eight key = {}, value = {};
        if (slot < end)
            key = load(k + (size_t)slot * m.pitch), value = load(v + (size_t)slot * m.pitch);
        // 3. For each head a score, and a step of the online softmax.
        step(query, acc, largest, sum, key, value, slot < end, scale);
    }
    // 4. The groups' results are merged, and then those of the blocks that share the keys.
    finish(acc, largest, sum, m, out, between, done, heads, kvHeads);
}
