// Attention with a cache of keys and values, float32, one new query at a time: version 4.
//
// Decoding reads each key and value once and does little with it: it is as fast as
// memory is. So a thread asks for 2 * KEYS float4s before it uses the first.
//
// A block has one key head of one sequence, and up to HEADS of the query heads that
// share it. LANES neighbouring threads form a group, which takes a key at a time:
// a lane has 4 of its numbers. The block's groups take keys in turn, each group with
// an online softmax of its own; at the end their results are merged.

#include "lanes.cuh"

#define THREADS 256
#define KEYS 4 // that a group loads at a time

// to is out, or rows of parts: parts.cuh says how they are laid out.
template <int LANES, int HEADS>
__device__ void decode(const float *q, const float *k, const float *v, const int *lengths,
                       float *to, int slots, int heads, int kvHeads, int dim, int wide,
                       float factor) {
    constexpr int GROUPS = THREADS / LANES;
    constexpr int WIDTH = 4 * LANES; // of a row in shared memory
    const int lane = threadIdx.x % LANES;
    const int group = threadIdx.x / LANES;

    // 1. Which heads, which keys.
    const int groupSize = heads / kvHeads; // query heads of a key head
    const int chunks = (groupSize + HEADS - 1) / HEADS;
    const int kvHead = blockIdx.x / chunks % kvHeads;
    const int sequence = blockIdx.x / chunks / kvHeads;
    const int firstOfGroup = blockIdx.x % chunks * HEADS;
    const int count = min(HEADS, groupSize - firstOfGroup); // of this block's query heads
    const size_t head0 = (size_t)sequence * heads + kvHead * groupSize + firstOfGroup;
    const auto [begin, end, pitch, cache] = keysOf(lengths, sequence, kvHead, slots, kvHeads, dim);
    k += cache, v += cache;

    // 2. The queries. factor is log2(e) / sqrt(dim): 2^score is what exp would be.
    float4 query[HEADS], acc[HEADS];
    float largest[HEADS], sum[HEADS]; // of this group's scores; of 2^(score - largest)
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        query[h] = acc[h] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (h < count) query[h] = load<LANES>(q + (head0 + h) * dim, lane, dim, wide);
        scale(query[h], factor);
        largest[h] = -INFINITY;
        sum[h] = 0.0f;
    }

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
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            float score[KEYS];
            float newLargest = largest[h];
#pragma unroll
            for (int j = 0; j < KEYS; j++) {
                const float4 a = query[h], b = key[j];
                score[j] = groupSum<LANES>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
                if (tile + j * GROUPS + group >= end) score[j] = -INFINITY;
                newLargest = fmaxf(newLargest, score[j]);
            }
            const float rescale = exp2f(largest[h] - base(newLargest));
            largest[h] = newLargest;
            sum[h] *= rescale;
            scale(acc[h], rescale);
#pragma unroll
            for (int j = 0; j < KEYS; j++) {
                const float weight = exp2f(score[j] - base(newLargest));
                sum[h] += weight;
                add(acc[h], weight, value[j]);
            }
        }
    }

    // 5. Every group leaves its result in shared memory.
    __shared__ __align__(16) float accOf[HEADS][GROUPS][WIDTH];
    __shared__ float largestOf[HEADS][GROUPS], sumOf[HEADS][GROUPS];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        store<LANES>(accOf[h][group], lane, wide, acc[h]);
        if (lane == 0) {
            largestOf[h][group] = largest[h];
            sumOf[h][group] = sum[h];
        }
    }
    __syncthreads(); // all results are in place

    // 6. Merge them. A thread has one number of a head.
    for (int i = threadIdx.x; i < count * dim; i += THREADS) {
        const int h = i / dim;
        merge<GROUPS>(accOf[h], largestOf[h], sumOf[h], to, head0 + h, i % dim, dim);
    }
}

// Head dimensions up to 64 and up to 128; one query head a block, or up to four.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode_16_1(const float *q, const float *k, const float *v, const int *lengths, float *to,
                int slots, int heads, int kvHeads, int dim, int wide, float factor) {
    decode<16, 1>(q, k, v, lengths, to, slots, heads, kvHeads, dim, wide, factor);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    decode_16_4(const float *q, const float *k, const float *v, const int *lengths, float *to,
                int slots, int heads, int kvHeads, int dim, int wide, float factor) {
    decode<16, 4>(q, k, v, lengths, to, slots, heads, kvHeads, dim, wide, factor);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    decode_32_1(const float *q, const float *k, const float *v, const int *lengths, float *to,
                int slots, int heads, int kvHeads, int dim, int wide, float factor) {
    decode<32, 1>(q, k, v, lengths, to, slots, heads, kvHeads, dim, wide, factor);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    decode_32_4(const float *q, const float *k, const float *v, const int *lengths, float *to,
                int slots, int heads, int kvHeads, int dim, int wide, float factor) {
    decode<32, 4>(q, k, v, lengths, to, slots, heads, kvHeads, dim, wide, factor);
}
