// Attention with a cache of keys and values, float32, one new query at a time: version 3.
//
// Decoding reads each key and value once and does little with it: it is as fast as
// memory is. What is new: a thread asks for 2 * KEYS float4s before it uses the first,
// so that enough reads are under way to keep memory busy.
//
// A block has one query head of one sequence. LANES neighbouring threads form a group,
// which takes KEYS keys at a time: a lane has 4 numbers of each. The block's groups take
// keys in turn, each with an online softmax of its own; at the end they are merged.

#include "lanes.cuh"

#define THREADS 256
#define KEYS 4 // that a group loads at a time

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

    // 3. A tile of keys and values: KEYS for each group. All threads of a block go
    //    round equally often, as the shuffles need their whole warp.
    for (int tile = begin; tile < end; tile += GROUPS * KEYS) {
        float4 key[KEYS], value[KEYS];
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const int slot = tile + j * GROUPS + group;
            key[j] = value[j] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (slot < end) { // what lies behind may be anything, NaN too
                key[j] = load<LANES>(k + (size_t)slot * pitch, lane, dim, wide);
                value[j] = load<LANES>(v + (size_t)slot * pitch, lane, dim, wide);
            }
        }

        // 4. Scores, then the online softmax: a new maximum rescales what was
        //    summed relative to the old one, by 2^(old - new).
        float score[KEYS];
        float newLargest = largest;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const float4 a = query, b = key[j];
            score[j] = groupSum<LANES>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
            if (tile + j * GROUPS + group >= end) score[j] = -INFINITY;
            newLargest = fmaxf(newLargest, score[j]);
        }
        const float rescale = exp2f(largest - base(newLargest));
        largest = newLargest;
        sum *= rescale;
        scale(acc, rescale);
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            const float weight = exp2f(score[j] - base(newLargest));
            sum += weight;
            add(acc, weight, value[j]);
        }
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
