// The cache is k and v, each [batch, slots, kvHeads * dim]: the next token's key of the same head
// is kvHeads * dim numbers further on. heads / kvHeads query heads share it.
//
// With gridDim.y = 1 a rung writes out [batch, heads, dim]. Otherwise the keys of a sequence are
// shared out among gridDim.y blocks, and it writes a row of dim + 2 for each part, [batch, heads,
// parts, dim + 2]: the sum of weighted values, relative to the largest score; that score; the sum
// of the weights.

// Combines the parts of a head, [batch, heads, parts, dim + 2], to out
// [batch, heads, dim]: one block a head. Each is relative to a largest score of its own.
extern "C" __global__ void combine(const float *from, float *out, int parts, int dim) {
    from += (size_t)blockIdx.x * parts * (dim + 2);
    for (int x = threadIdx.x; x < dim; x += blockDim.x) {
        float most = -INFINITY; // some part has a key
        for (int p = 0; p < parts; p++) most = fmaxf(most, from[p * (dim + 2) + dim]);
        float weights = 0.0f, weighted = 0.0f;
        for (int p = 0; p < parts; p++) {
            const float *row = from + p * (dim + 2);
            const float rescale = exp2f(row[dim] - most); // 0 for an empty part
            weights += rescale * row[dim + 1];
            weighted += rescale * row[x];
        }
        out[(size_t)blockIdx.x * dim + x] = weighted / weights;
    }
}

// The keys of a block: from begin to end, pitch numbers apart; the cache's first one is at cache.
// The length is read here, on the device: a launch that was recorded in a graph must see today's.
struct Keys {
    int begin, end, pitch; // an empty part has begin == end
    size_t cache;
};
__device__ Keys keysOf(const int *lengths, int sequence, int kvHead, int slots, int kvHeads,
                       int dim) {
    const int parts = gridDim.y, part = blockIdx.y;
    const int length = min(lengths[sequence], slots);
    const int perPart = (length + parts - 1) / parts;
    const int begin = min(part * perPart, length), pitch = kvHeads * dim;
    return {begin, min(begin + perPart, length), pitch,
            (size_t)sequence * slots * pitch + kvHead * dim};
}

// Writes number x of a head, or leaves it for combine.
__device__ void leave(float *to, size_t head, int x, int dim, float weighted, float largest,
                      float weights) {
    const int parts = gridDim.y, part = blockIdx.y;
    if (parts == 1) {
        to[head * dim + x] = weighted / weights;
        return;
    }
    float *row = to + (head * parts + part) * (dim + 2);
    row[x] = weighted;
    if (x == 0) row[dim] = largest, row[dim + 1] = weights;
}
