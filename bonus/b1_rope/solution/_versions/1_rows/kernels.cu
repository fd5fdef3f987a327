// Attention with the rotation inside: out = softmax(rot(q) * rot(k)^T / sqrt(dim)) * v, float32.
//
// Version 1, unscored: a warp has one query, and walks over the keys. Its 32 lanes share the head's
// dimension, two pairs each at most. No shared memory, no barrier; but every warp reads all keys
// for itself, and turns every one of them again.

#define MOST 2 // of 64 pairs, a lane has 2
#define EVERYONE 0xffffffffu

extern "C" __global__ void rope(const float *q, const float *k, const float *v, const int *start,
                                float *out, int heads, int rows, int seqQ, int seqK, int dim,
                                int causal, int neighbours, double log2Base, float factor) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; // of all heads' queries
    if (row >= rows) return;                                      // the whole warp
    const int query = row % seqQ, half = dim / 2;
    const size_t head = row / seqQ;
    q += (size_t)row * dim, out += (size_t)row * dim;
    k += head * seqK * dim, v += head * seqK * dim;
    const int position = start[head / heads] + query;

    // 1. The lane's pairs (first, second): where they lie, and their turns a step of the position,
    //    as a sum of two floats. Then the query, turned, times log2(e) / sqrt(dim).
    int first[MOST], second[MOST];
    float hi[MOST], lo[MOST], a[MOST], b[MOST], accA[MOST] = {}, accB[MOST] = {};
    for (int i = 0; i < MOST; i++) {
        const int pair = lane + 32 * i;
        first[i] = neighbours ? 2 * pair : pair;
        second[i] = neighbours ? 2 * pair + 1 : pair + half;
        const double each = exp2(-2.0 * pair / dim * log2Base) * 0.15915494309189535; // 1 / (2 pi)
        hi[i] = (float)each, lo[i] = (float)(each - hi[i]);
        // One position is turned in double, which needs no second float.
        const double turns = position * each;
        float sine, cosine;
        sincospif((float)(2.0 * (turns - rint(turns))), &sine, &cosine);
        const float x = pair < half ? q[first[i]] * factor : 0.0f;
        const float y = pair < half ? q[second[i]] * factor : 0.0f;
        a[i] = x * cosine - y * sine, b[i] = y * cosine + x * sine;
    }

    // 2. Online softmax, key by key. Key j has position j.
    float largest = -INFINITY, sum = 0.0f;
    const int keys = causal ? min(seqK, position + 1) : seqK;
    for (int key = 0; key < keys; key++, k += dim, v += dim) {
        float score = 0.0f;
        for (int i = 0; i < MOST; i++) {
            if (lane + 32 * i >= half) continue;
            const float turns = key * hi[i];
            const float lost = fmaf(key, hi[i], -turns) + key * lo[i];
            float sine, cosine;
            sincospif(2.0f * (turns - rintf(turns) + lost), &sine, &cosine);
            const float x = k[first[i]], y = k[second[i]];
            score += a[i] * (x * cosine - y * sine) + b[i] * (y * cosine + x * sine);
        }
        for (int lanes = 16; lanes > 0; lanes /= 2)
            score += __shfl_xor_sync(EVERYONE, score, lanes);
        const float newLargest = fmaxf(largest, score);
        const float rescale = exp2f(largest - newLargest); // of -infinity: 0
        const float weight = exp2f(score - newLargest);
        largest = newLargest;
        sum = sum * rescale + weight;
        for (int i = 0; i < MOST; i++) {
            if (lane + 32 * i >= half) continue;
            accA[i] = accA[i] * rescale + weight * v[first[i]];
            accB[i] = accB[i] * rescale + weight * v[second[i]];
        }
    }

    // 3. Divide by the sum, and write. Key 0 is never hidden, so there is one.
    for (int i = 0; i < MOST; i++) {
        if (lane + 32 * i >= half) continue;
        out[first[i]] = accA[i] / sum, out[second[i]] = accB[i] / sum;
    }
}
