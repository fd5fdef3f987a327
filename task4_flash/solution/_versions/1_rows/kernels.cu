// Attention in one kernel: out = softmax(q * k^T / sqrt(dim)) * v, float32.
//
// Version 1, the textbook's: a warp has one query, and walks over the keys. Its 32 lanes share the
// head's dimension, 4 numbers each at most. No shared memory, no barrier; but every warp reads all
// keys and values for itself, and a score costs 4 products and 5 shuffles a lane.

#define MOST 4 // of 128 dimensions, a lane has 4
#define EVERYONE 0xffffffffu

extern "C" __global__ void flash(const float *q, const float *k, const float *v, float *out,
                                 int rows, int seqQ, int seqK, int dim, int causal, float factor) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; // of all heads' queries
    if (row >= rows) return;                                      // the whole warp
    const int query = row % seqQ;
    const size_t head = row / seqQ;
    q += (size_t)row * dim, out += (size_t)row * dim;
    k += head * seqK * dim, v += head * seqK * dim;

    // 1. The query, times log2(e) / sqrt(dim): 2^score is what exp would be.
    float mine[MOST], acc[MOST] = {};
    for (int i = 0; i < MOST; i++) {
        const int x = lane + 32 * i;
        mine[i] = x < dim ? q[x] * factor : 0.0f;
    }

    // 2. Online softmax, key by key: when a score is larger than all before, what was summed
    //    relative to the old maximum is rescaled by 2^(old - new).
    float largest = -INFINITY, sum = 0.0f;
    const int keys = causal ? min(seqK, query + 1 + seqK - seqQ) : seqK;
    for (int key = 0; key < keys; key++, k += dim, v += dim) {
        float score = 0.0f;
        for (int i = 0; i < MOST; i++) {
            const int x = lane + 32 * i;
            if (x < dim) score += mine[i] * k[x];
        }
        for (int lanes = 16; lanes > 0; lanes /= 2)
            score += __shfl_xor_sync(EVERYONE, score, lanes);
        const float newLargest = fmaxf(largest, score);
        const float rescale = exp2f(largest - newLargest); // of -infinity: 0
        const float weight = exp2f(score - newLargest);
        largest = newLargest;
        sum = sum * rescale + weight;
        for (int i = 0; i < MOST; i++) {
            const int x = lane + 32 * i;
            if (x < dim) acc[i] = acc[i] * rescale + weight * v[x];
        }
    }

    // 3. Divide by the sum, and write. A query that saw no key has gathered zeros.
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int i = 0; i < MOST; i++) {
        const int x = lane + 32 * i;
        if (x < dim) out[x] = acc[i] * inverse;
    }
}
