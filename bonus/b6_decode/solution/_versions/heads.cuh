// What the rungs share whose blocks have one key head of one sequence, and up to HEADS of the query
// heads that share it: so each key is read once for all of them.

#include "rows.cuh"

// Which heads are a block's: count query heads from head0 on, counted over all sequences. Their
// keys, length of them, lie pitch numbers apart, from cache on. The length is read here: a recorded
// launch sees today's.
struct Mine {
    int chunks, sequence, kvHead, count, length, pitch;
    size_t head0, cache;
};
__device__ Mine mine(int heads, int kvHeads, const int *lengths, int slots) {
    const int groupSize = heads / kvHeads, chunks = (groupSize + HEADS - 1) / HEADS;
    const int chunk = blockIdx.x % chunks, kvHead = blockIdx.x / chunks % kvHeads;
    const int sequence = blockIdx.x / chunks / kvHeads;
    const int count = min(HEADS, groupSize - chunk * HEADS); // of this block's query heads
    const size_t head0 = (size_t)sequence * heads + kvHead * groupSize + chunk * HEADS;
    const size_t cache = ((size_t)sequence * slots * kvHeads + kvHead) * DIM;
    const int length = min(max(lengths[sequence], 0), slots);
    return {chunks, sequence, kvHead, count, length, kvHeads * DIM, head0, cache};
}

// Reads a block's queries, and starts its sums.
__device__ void read(Eight (&query)[HEADS], float (&largest)[HEADS], float (&sum)[HEADS],
                     const Half *q, const Mine &m, int lane) {
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h < m.count) query[h] = load(q + (m.head0 + h) * DIM + 8 * lane);
        largest[h] = -INFINITY, sum[h] = 0;
    }
}

// For each head a score, and a step of the online softmax. there: the key and value are.
__device__ void step(const Eight (&query)[HEADS], Eight (&acc)[HEADS], float (&largest)[HEADS],
                     float (&sum)[HEADS], const Eight &key, const Eight &value, bool there,
                     float scale) {
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        float score = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) score += query[h].x[i] * key.x[i];
        score = groupSum(score) * scale;
        if (!there) score = -INFINITY;
        const float most = fmaxf(largest[h], score);
        const float rescale = exp2f(largest[h] - base(most));
        const float weight = exp2f(score - base(most));
        largest[h] = most;
        sum[h] = sum[h] * rescale + weight;
#pragma unroll
        for (int i = 0; i < 8; i++) acc[h].x[i] = acc[h].x[i] * rescale + weight * value.x[i];
    }
}
