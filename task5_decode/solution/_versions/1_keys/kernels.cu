// Attention with a cache of keys and values, float32, one new query at a time: version 1.
//
// A block has one query head of one sequence, and takes THREADS keys at a time. Each
// thread calculates the score of one key, then sums one number of the output over the
// values. Reading keys is the slow part: neighbouring threads read from rows that lie
// kvHeads * dim numbers apart, so that each reads lines of memory of its own.

#include "parts.cuh"

#define THREADS 128 // of a block: no less than dim

// to is out, or rows of parts: parts.cuh says how they are laid out.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const float *q, const float *k, const float *v, const int *lengths, float *to, int slots,
           int heads, int kvHeads, int dim, float factor) {
    __shared__ float query[THREADS], score[THREADS];
    const int x = threadIdx.x; // a key of the tile, then a number of the output

    // 1. Which head, which keys.
    const int head = blockIdx.x % heads, sequence = blockIdx.x / heads;
    const auto [begin, end, pitch, cache] =
        keysOf(lengths, sequence, head / (heads / kvHeads), slots, kvHeads, dim);
    k += cache, v += cache;
    if (x < dim) query[x] = q[(size_t)blockIdx.x * dim + x];

    float acc = 0.0f, sum = 0.0f, largest = -INFINITY; // of all tiles so far
    for (int tile = begin; tile < end; tile += THREADS) {
        const int count = min(THREADS, end - tile);
        __syncthreads(); // the query is there; nobody reads the last tile's scores any more

        // 2. A thread's own key. factor is log2(e) / sqrt(dim): 2^score is what exp would be.
        float mine = -INFINITY;
        if (x < count) {
            const float *key = k + (size_t)(tile + x) * pitch;
            mine = 0.0f;
            for (int i = 0; i < dim; i++) mine += query[i] * key[i];
            mine *= factor;
        }
        score[x] = mine;
        __syncthreads(); // all scores of the tile are there

        // 3. The online softmax: a new maximum rescales what was summed relative to the
        //    old one. 2^(-INFINITY) is 0, so the first tile finds nothing to rescale.
        float most = largest;
        for (int j = 0; j < count; j++) most = fmaxf(most, score[j]);
        const float rescale = exp2f(largest - most);
        largest = most;
        sum *= rescale, acc *= rescale;

        // 4. The weighted sum of the values: here neighbours read neighbouring numbers.
        for (int j = 0; j < count; j++) {
            const float weight = exp2f(score[j] - largest);
            sum += weight;
            if (x < dim) acc += weight * v[(size_t)(tile + j) * pitch + x];
        }
    }
    if (x < dim) leave(to, blockIdx.x, x, dim, acc, largest, sum);
}

// Writes the keys and values of count new tokens, k and v [batch, count, width], to
// the slots from at[sequence] on, where they lie in one piece as well. A thread moves
// one number of each. blockIdx.y is the sequence.
extern "C" __global__ void update(const float *k, const float *v, const int *at, float *cacheK,
                                  float *cacheV, int count, int slots, int width) {
    const int sequence = blockIdx.y;
    const int n = count * width;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int slot = at[sequence];
    // The host has checked its own copy; a recorded launch is replayed without that.
    if (i >= n || slot < 0 || slot > slots - count) return;
    const size_t from = (size_t)sequence * n + i;
    const size_t to = ((size_t)sequence * slots + slot) * width + i;
    cacheK[to] = k[from];
    cacheV[to] = v[from];
}
