// Attention, the plain way: one block for each query of a head, and an online softmax
// over chunks of keys. A chunk has as many keys as the block has threads.

// defines.go defines BLOCK, the threads of a block and the keys of a chunk, and MAX_DIM.

#define WARP 32
#define PARTS (MAX_DIM / BLOCK)

__device__ float largestOfWarp(float value) {
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    return value;
}

__device__ float sumOfWarp(float value) {
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

// One query q [dim] against the first keys of k and v. Consecutive keys are token
// numbers apart.
__device__ void attend(const float *q, const float *k, const float *v, float *out, int keys,
                       int dim, size_t token, float scale) {
    __shared__ float query[MAX_DIM];
    __shared__ float weights[BLOCK];
    __shared__ float partial[BLOCK / WARP];
    const int thread = threadIdx.x;
    const int warp = thread / WARP;
    for (int x = thread; x < dim; x += BLOCK) query[x] = q[x] * scale;
    __syncthreads(); // the query is complete before anyone reads it

    float largest = -INFINITY; // of the scores so far, the same in all threads
    float sum = 0.0f;          // of exp(score - largest), over this thread's keys
    float acc[PARTS] = {};     // out[thread + part * BLOCK], relative to largest
    for (int key0 = 0; key0 < keys; key0 += BLOCK) {
        // 1. Each thread computes one score.
        const int key = key0 + thread;
        float score = -INFINITY;
        if (key < keys) {
            const float *row = k + key * token;
            score = 0.0f;
            for (int x = 0; x < dim; x++) score += query[x] * row[x];
        }
        // 2. Update the largest score. Every chunk has a key, so it is no longer -infinity.
        const float ofWarp = largestOfWarp(score);
        if (thread % WARP == 0) partial[warp] = ofWarp;
        __syncthreads(); // each warp's largest is in place; all are done with weights
        float newLargest = largest;
        for (int i = 0; i < BLOCK / WARP; i++) newLargest = fmaxf(newLargest, partial[i]);
        const float rescale = expf(largest - newLargest); // 0 at first
        largest = newLargest;
        const float weight = expf(score - largest);
        sum = sum * rescale + weight;
        weights[thread] = weight;
        __syncthreads(); // the weights are complete; all have read partial
        // 3. Add the weighted values. Each thread handles the same element of all of them.
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const int x = thread + part * BLOCK;
            if (x >= dim) break;
            acc[part] *= rescale;
            for (int j = 0; j < min(BLOCK, keys - key0); j++)
                acc[part] += weights[j] * v[(key0 + j) * token + x];
        }
    }

    // 4. Divide by the sum over the block. A query that sees no key gets zeros.
    const float ofWarp = sumOfWarp(sum);
    if (thread % WARP == 0) partial[warp] = ofWarp; // all are done with it since stage 2
    __syncthreads();                                // each warp's sum is in place
    float whole = 0.0f;
    for (int i = 0; i < BLOCK / WARP; i++) whole += partial[i];
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        const int x = thread + part * BLOCK;
        if (x < dim) out[x] = keys > 0 ? acc[part] / whole : 0.0f;
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
