// Attention, the plain way: one block for each query of a head, which goes through the keys a chunk
// at a time. A chunk has as many keys as the block has threads.
//
// The output is a mean of the values. At any time it is the mean over the keys so far, and a
// chunk's own mean is blended into it by the chunk's share of the weight.

// defines.go defines BLOCK, the threads of a block and the keys of a chunk, and MAX_DIM.

#define WARP 32
#define PARTS (MAX_DIM / BLOCK)

__device__ float largestOfWarp(float value) {
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    return value;
}

// One query q [dim] against the first keys of k and v. Consecutive keys are token
// numbers apart.
__device__ void attend(const float *q, const float *k, const float *v, float *out, int keys,
                       int dim, size_t token, float scale) {
    __shared__ float query[MAX_DIM];
    __shared__ float weights[BLOCK]; // exp(score - highest), of a chunk's keys
    __shared__ float candidates[BLOCK / WARP];
    const int me = threadIdx.x;
    for (int x = me; x < dim; x += BLOCK) query[x] = scale * q[x];

    float mean[PARTS] = {};            // of the values so far: its elements me, me + BLOCK ...
    float top = -INFINITY, sum = 0.0f; // the highest score so far, and exp(score - top) of all
    for (int chunk = 0; chunk < keys; chunk += BLOCK) {
        const int size = min(BLOCK, keys - chunk);
        __syncthreads(); // the query is complete; all are done with the last chunk's weights

        // A score for each thread, and the chunk's highest, so that no exponential overflows.
        float score = -INFINITY;
        if (me < size) {
            const float *row = k + (chunk + me) * token;
            score = 0.0f;
            for (int x = 0; x < dim; x++) score += query[x] * row[x];
        }
        const float ofWarp = largestOfWarp(score);
        if (me % WARP == 0) candidates[me / WARP] = ofWarp;
        __syncthreads(); // each warp has named its highest
        float highest = candidates[0];
        for (int i = 1; i < BLOCK / WARP; i++) highest = fmaxf(highest, candidates[i]);
        weights[me] = expf(score - highest);
        __syncthreads(); // the weights are complete

        // What all of the chunk weighs, and its share of all the weight so far. Both are
        // brought to one highest score first: logarithms of sums would lose digits.
        float whole = 0.0f;
        for (int j = 0; j < size; j++) whole += weights[j];
        const float higher = fmaxf(top, highest);
        const float added = whole * expf(highest - higher);
        sum = sum * expf(top - higher) + added;
        top = higher;
        const float share = added / sum; // 1 at first
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const int x = me + part * BLOCK;
            if (x >= dim) break;
            float values = 0.0f;
            for (int j = 0; j < size; j++) values += weights[j] * v[(chunk + j) * token + x];
            mean[part] += share * (values / whole - mean[part]);
        }
    }
#pragma unroll
    for (int part = 0; part < PARTS; part++) { // of no keys at all the mean is still zero
        const int x = me + part * BLOCK;
        if (x < dim) out[x] = mean[part];
    }
}

// q and out [batch, heads, seqQ, dim], k and v [batch, kvHeads, seqK, dim].
extern "C" __global__ void __launch_bounds__(BLOCK)
    attend_heads(const float *q, const float *k, const float *v, float *out, int heads, int kvHeads,
                 int seqQ, int seqK, int dim, int causal, float scale) {
    const size_t row = blockIdx.x; // of q
    const int i = row % seqQ;
    const size_t head = row / seqQ % heads, sequence = row / seqQ / heads;
    const size_t first = (sequence * kvHeads + head / (heads / kvHeads)) * seqK * dim;
    const int keys = causal ? min(seqK, max(0, i + seqK - seqQ + 1)) : seqK;
    attend(q + row * dim, k + first, v + first, out + row * dim, keys, dim, dim, scale);
}

// q and out [batch, count, heads * dim], k and v [batch, maxSeq, kvHeads * dim].
// Query i of sequence b sees the slots up to seen[b] + i + more.
extern "C" __global__ void __launch_bounds__(BLOCK)
    attend_cache(const float *q, const float *k, const float *v, float *out, const int *seen,
                 int more, int count, int heads, int kvHeads, int maxSeq, int dim, float scale) {
    const size_t row = blockIdx.x; // a token's head
    const int head = row % heads;
    const int i = row / heads % count;
    const size_t sequence = row / heads / count;
    const size_t slot = (size_t)kvHeads * dim;
    const size_t first = sequence * maxSeq * slot + head / (heads / kvHeads) * dim;
    // A graph may be launched once too often: never read beyond the cache.
    const int keys = min(maxSeq, max(0, seen[sequence] + i + more));
    attend(q + row * dim, k + first, v + first, out + row * dim, keys, dim, slot, scale);
}

// Copies k and v [batch, count, slot] into the slots at[b] ... at[b] + count - 1 of the
// caches [batch, maxSeq, slot].
extern "C" __global__ void update(float *cacheK, float *cacheV, const float *k, const float *v,
                                  const int *at, int batch, int count, int maxSeq, int slot) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)batch * count * slot) return;
    const size_t token = i / slot, sequence = token / count;
    const int to = at[sequence] + (int)(token % count);
    if (to < 0 || to >= maxSeq) return; // as above
    const size_t there = (sequence * maxSeq + to) * slot + i % slot;
    cacheK[there] = k[i];
    cacheV[there] = v[i];
}
