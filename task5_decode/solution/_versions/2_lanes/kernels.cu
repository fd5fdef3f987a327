// Attention with a cache of keys and values, float32, one new query at a time: version 2.
//
// What is new: a key is read by neighbouring threads, which read neighbouring numbers. A block has
// one query head of one sequence. LANES of its threads form a group, which takes a key at a time: a
// lane reads 4 of its numbers with one load, and a score is summed up by shuffles. The block's
// groups take keys in turn, each with an online softmax of its own; at the end they are merged.

#include "lanes.cuh"

#define THREADS 256

// to is out, or rows of parts: parts.cuh says how they are laid out.
template <int LANES>
__device__ void decode(const float *q, const float *k, const float *v, const int *lengths,
                       float *to, int slots, int heads, int kvHeads, int dim, int wide,
                       float factor) {
    constexpr int GROUPS = THREADS / LANES;
    const int lane = threadIdx.x % LANES;
    const int group = threadIdx.x / LANES;

    // 1. Which head, which keys.
    const int head = blockIdx.x % heads, sequence = blockIdx.x / heads;
    const auto [begin, end, pitch, cache] =
        keysOf(lengths, sequence, head / (heads / kvHeads), slots, kvHeads, dim);
    k += cache, v += cache;

    // 2. The query. factor is log2(e) / sqrt(dim): 2^score is what exp would be.
    float4 query = load<LANES>(q + (size_t)blockIdx.x * dim, lane, dim, wide);
    scale(query, factor);
    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float largest = -INFINITY, sum = 0.0f; // of this group's scores; of 2^(score - largest)

    // 3. A tile: one key and value for each group. All threads of a block go round
    //    equally often, as the shuffles need their whole warp.
    for (int tile = begin; tile < end; tile += GROUPS) {
        const int slot = tile + group;
        float4 key = make_float4(0.0f, 0.0f, 0.0f, 0.0f), value = key;
        if (slot < end) { // what lies behind may be anything, NaN too
            key = load<LANES>(k + (size_t)slot * pitch, lane, dim, wide);
            value = load<LANES>(v + (size_t)slot * pitch, lane, dim, wide);
        }

        // 4. The score, then the online softmax: a new maximum rescales what was
        //    summed relative to the old one, by 2^(old - new).
        const float4 a = query, b = key;
        float score = groupSum<LANES>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
        if (slot >= end) score = -INFINITY;
        const float newLargest = fmaxf(largest, score);
        const float rescale = exp2f(largest - base(newLargest));
        const float weight = exp2f(score - base(newLargest));
        largest = newLargest;
        sum = sum * rescale + weight;
        scale(acc, rescale);
        add(acc, weight, value);
    }

    // 5. The groups are merged.
    finish<LANES, GROUPS>(acc, largest, sum, to, dim, wide);
}

// Head dimensions up to 64, and up to 128.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode_16(const float *q, const float *k, const float *v, const int *lengths, float *to,
              int slots, int heads, int kvHeads, int dim, int wide, float factor) {
    decode<16>(q, k, v, lengths, to, slots, heads, kvHeads, dim, wide, factor);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    decode_32(const float *q, const float *k, const float *v, const int *lengths, float *to,
              int slots, int heads, int kvHeads, int dim, int wide, float factor) {
    decode<32>(q, k, v, lengths, to, slots, heads, kvHeads, dim, wide, factor);
}
