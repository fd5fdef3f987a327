// Attention with a cache of keys and values, float32, one new query at a time.
//
// The cache is k and v, each [batch, slots, kvHeads * dim]: the next token's key of the
// same head is kvHeads * dim numbers further on. heads / kvHeads query heads share it.
//
// Decoding reads each key and value once and does little with it: it is as fast as
// memory is. So a thread asks for 2 * KEYS float4s before it uses the first.
//
// A block has one key head of one sequence, and up to HEADS of the query heads that
// share it. LANES neighbouring threads form a group, which takes a key at a time:
// a lane has 4 of its numbers. The block's groups take keys in turn, each group with
// an online softmax of its own; at the end their results are merged. Where several
// blocks share the keys (parts), the last of them to finish merges theirs.

#include <early.h> // decode.go launches these kernels early

#define THREADS 256
#ifndef KEYS   // tiles.go tries others
#define KEYS 4 // that a group loads at a time
#endif

// The four numbers of a row that are this lane's, zeros beyond dim. They are neighbours
// if rows start at multiples of 16 bytes (wide), else LANES apart: either way
// neighbouring lanes read neighbouring numbers.
template <int LANES> __device__ float4 load(const float *row, int lane, int dim, int wide) {
    float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (wide) {
        if (4 * lane < dim) value = *(const float4 *)(row + 4 * lane);
        return value;
    }
    if (lane < dim) value.x = row[lane];
    if (lane + LANES < dim) value.y = row[lane + LANES];
    if (lane + 2 * LANES < dim) value.z = row[lane + 2 * LANES];
    if (lane + 3 * LANES < dim) value.w = row[lane + 3 * LANES];
    return value;
}

// The same numbers, written to a row of 4 * LANES.
template <int LANES> __device__ void store(float *row, int lane, int wide, float4 value) {
    if (wide) {
        *(float4 *)(row + 4 * lane) = value;
        return;
    }
    row[lane] = value.x;
    row[lane + LANES] = value.y;
    row[lane + 2 * LANES] = value.z;
    row[lane + 3 * LANES] = value.w;
}

__device__ void scale(float4 &sum, float by) {
    sum.x *= by, sum.y *= by, sum.z *= by, sum.w *= by;
}

__device__ void add(float4 &sum, float p, float4 v) {
    sum.x += p * v.x, sum.y += p * v.y, sum.z += p * v.z, sum.w += p * v.w;
}

// The sum over a group's lanes, for each of them. Distances below LANES stay within it.
template <int LANES> __device__ float groupSum(float value) {
#pragma unroll
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

// Before the first key x = m = -INFINITY: x - m would be NaN, exp2f(x - base(m)) is 0.
__device__ float base(float largest) {
    return largest == -INFINITY ? 0.0f : largest;
}

// What groups or blocks that shared the keys have found for one head, put together.
struct Merged {
    float weighted; // number x of the sum of weighted values, relative to the largest score
    float largest, weights;
};

// n results lie pitch numbers apart: weighted sums first, from `extra` on the largest
// score and the sum of the weights. Each is rescaled to the largest score of all.
__device__ Merged merge(const float *results, int n, int pitch, int extra, int x) {
    Merged all = {0.0f, -INFINITY, 0.0f};
#pragma unroll 8 // the loads of eight are on their way together
    for (int i = 0; i < n; i++) all.largest = fmaxf(all.largest, results[i * pitch + extra]);
#pragma unroll 8
    for (int i = 0; i < n; i++) {
        const float *one = results + i * pitch;
        const float rescale = exp2f(one[extra] - base(all.largest)); // 0 where there was no key
        all.weights += rescale * one[extra + 1];
        all.weighted += rescale * one[x];
    }
    return all;
}

// It writes out [batch, heads, dim]. The keys of a sequence are shared out among
// gridDim.y blocks; if that is more than one, between has room for their results,
// [batch, heads, parts, dim + 2], and done [gridDim.x] counts which of them are done: 0
// before and after each launch. Launches that may overlap need a between and a done each.
template <int LANES, int HEADS>
__device__ void decode(const float *q, const float *k, const float *v, const int *lengths,
                       float *out, float *between, unsigned *done, int slots, int heads,
                       int kvHeads, int dim, int wide, float factor) {
    constexpr int GROUPS = THREADS / LANES;
    constexpr int EXTRA = 4 * LANES; // where a row in shared memory has more than the sums
    constexpr int WIDTH = EXTRA + 4; // of that row: a multiple of 16 bytes
    const int lane = threadIdx.x % LANES;
    const int group = threadIdx.x / LANES;

    waitForInputs();

    // 1. Which heads, which keys. The length is read here, on the device: a launch
    //    that was recorded in a graph must see today's.
    const int groupSize = heads / kvHeads; // query heads of a key head
    const int chunks = (groupSize + HEADS - 1) / HEADS;
    const int kvHead = blockIdx.x / chunks % kvHeads;
    const int sequence = blockIdx.x / chunks / kvHeads;
    const int firstOfGroup = blockIdx.x % chunks * HEADS;
    const int count = min(HEADS, groupSize - firstOfGroup); // of this block's query heads
    const size_t head0 = (size_t)sequence * heads + kvHead * groupSize + firstOfGroup;

    const int parts = gridDim.y, part = blockIdx.y;
    const int length = min(lengths[sequence], slots);
    const int perPart = (length + parts - 1) / parts;
    const int begin = min(part * perPart, length); // an empty part has begin == end
    const int end = min(begin + perPart, length);

    const int pitch = kvHeads * dim;
    const size_t cache = (size_t)sequence * slots * pitch + kvHead * dim;
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
    __shared__ __align__(16) float rows[HEADS][GROUPS][WIDTH];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        float *row = rows[h][group];
        store<LANES>(row, lane, wide, acc[h]);
        if (lane == 0) row[EXTRA] = largest[h], row[EXTRA + 1] = sum[h];
    }
    __syncthreads(); // all results are in place

    // 6. Merge them: a thread has one number of a head.
    for (int i = threadIdx.x; i < count * dim; i += THREADS) {
        const int h = i / dim, x = i % dim;
        const Merged all = merge(rows[h][0], GROUPS, WIDTH, EXTRA, x);
        if (parts == 1) {
            out[(head0 + h) * dim + x] = all.weighted / all.weights;
            continue;
        }
        float *row = between + ((head0 + h) * parts + part) * (dim + 2);
        row[x] = all.weighted;
        if (x == 0) row[dim] = all.largest, row[dim + 1] = all.weights;
    }
    if (parts == 1) return;

    // 7. The last of the blocks that share these keys merges what they found. It sees
    //    the others' results, for their fences came before their counting.
    __shared__ bool last;
    __threadfence();
    __syncthreads(); // the results of all threads are written, each before its fence
    // It counts to parts - 1, then starts from 0 again.
    if (threadIdx.x == 0) last = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
    __syncthreads(); // everyone knows whether this block is the last
    if (!last) return;
    __threadfence();
    for (int i = threadIdx.x; i < count * dim; i += THREADS) {
        const int h = i / dim, x = i % dim;
        const float *row = between + (head0 + h) * parts * (dim + 2);
        const Merged all = merge(row, parts, dim + 2, dim, x);
        out[(head0 + h) * dim + x] = all.weighted / all.weights;
    }
}

// Head dimensions up to 64 and up to 128; one query head a block, or up to four.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode_16_1(const float *q, const float *k, const float *v, const int *lengths, float *out,
                float *between, unsigned *done, int slots, int heads, int kvHeads, int dim,
                int wide, float factor) {
    decode<16, 1>(q, k, v, lengths, out, between, done, slots, heads, kvHeads, dim, wide, factor);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    decode_16_4(const float *q, const float *k, const float *v, const int *lengths, float *out,
                float *between, unsigned *done, int slots, int heads, int kvHeads, int dim,
                int wide, float factor) {
    decode<16, 4>(q, k, v, lengths, out, between, done, slots, heads, kvHeads, dim, wide, factor);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    decode_32_1(const float *q, const float *k, const float *v, const int *lengths, float *out,
                float *between, unsigned *done, int slots, int heads, int kvHeads, int dim,
                int wide, float factor) {
    decode<32, 1>(q, k, v, lengths, out, between, done, slots, heads, kvHeads, dim, wide, factor);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    decode_32_4(const float *q, const float *k, const float *v, const int *lengths, float *out,
                float *between, unsigned *done, int slots, int heads, int kvHeads, int dim,
                int wide, float factor) {
    decode<32, 4>(q, k, v, lengths, out, between, done, slots, heads, kvHeads, dim, wide, factor);
}

// Writes the keys and values of count new tokens, k and v [batch, count, width], to
// the slots from at[sequence] on, where they lie in one piece as well. A thread moves
// one number of each, or four (wide). blockIdx.y is the sequence.
extern "C" __global__ void update(const float *k, const float *v, const int *at, float *cacheK,
                                  float *cacheV, int count, int slots, int width, int wide) {
    waitForInputs();
    const int sequence = blockIdx.y;
    const int n = count * width;
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * (wide ? 4 : 1);
    const int slot = at[sequence];
    // The host has checked its own copy; a recorded launch is replayed without that.
    if (i >= n || slot < 0 || slot > slots - count) return;
    const size_t from = (size_t)sequence * n + i;
    const size_t to = ((size_t)sequence * slots + slot) * width + i;
    if (wide) {
        *(float4 *)(cacheK + to) = *(const float4 *)(k + from);
        *(float4 *)(cacheV + to) = *(const float4 *)(v + from);
    } else {
        cacheK[to] = k[from];
        cacheV[to] = v[from];
    }
}
