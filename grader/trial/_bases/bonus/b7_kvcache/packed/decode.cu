// Decoding from a cache of 8 or 4 bits, with query heads packed: a block has one key head of one
// sequence, and up to 4 of the query heads that share it. A group of DIM / 8 threads takes a key at
// a time and makes its codes numbers once, for all heads. Where the heads are too few to fill the
// GPU, several blocks share the keys of a head (parts), and the one that finishes last merges what
// they found.
//
//   q, out [batch, heads, DIM] of halves          lengths [batch]
//   codes of k and v [batch, kvHeads, slots, DIM] of BITS
//   8 bits: scales of k and v [batch, kvHeads, slots]; a number is code * scale
//   4 bits: scales and lows of v [batch, kvHeads, slots], of k [batch, kvHeads, slots / GROUP,
//           DIM]; a number is code * scale + low, rounded once to a half. Tokens of the open group,
//           which has fewer than GROUP, are halves [batch, kvHeads, GROUP, DIM]
//
// The host defines DIM (64 or 128) and BITS.

#include <cuda_fp16.h>

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int HEADS = 4;                // query heads of a block, at most
constexpr int GROUP = 32;               // tokens of 4 bits that are quantised together
constexpr int LANES = DIM / 8;          // of a group of threads: each has 8 numbers of a key
constexpr int GROUPS = THREADS / LANES; // keys at a time
constexpr int SHARED = 4096;            // groups of blocks that share keys, at most

// A cache, as the host gives it. 8 bits have no lows, and no open group.
struct Cache {
    const unsigned char *k, *v;
    const __half *kScales, *kLows, *vScales, *vLows, *kOpen, *vOpen;
};

// How many of the blocks that share keys are done: 0 before and after each launch.
__device__ unsigned done[SHARED];

// Eight numbers, of halves: 16 bytes, the most that one load brings.
struct Eight {
    float x[8];
};
__device__ Eight load(const __half *from) {
    const uint4 bits = *reinterpret_cast<const uint4 *>(from);
    const unsigned two[4] = {bits.x, bits.y, bits.z, bits.w};
    Eight y;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 f = __half22float2(*reinterpret_cast<const __half2 *>(&two[i]));
        y.x[2 * i] = f.x, y.x[2 * i + 1] = f.y;
    }
    return y;
}

// Eight codes that are one load: times scales, and a low added.
#if BITS == 8
__device__ Eight load(const unsigned char *codes, __half scale) {
    const uint2 bits = *reinterpret_cast<const uint2 *>(codes);
    Eight y;
#pragma unroll
    for (int i = 0; i < 8; i++)
        y.x[i] = (signed char)((i < 4 ? bits.x : bits.y) >> i % 4 * 8) * __half2float(scale);
    return y;
}
#else
__device__ Eight load(const unsigned char *codes, const Eight &scale, const Eight &low) {
    const unsigned bits = *reinterpret_cast<const unsigned *>(codes);
    Eight y;
#pragma unroll
    for (int i = 0; i < 8; i++) // rounded once
        y.x[i] = __half2float(__hfma(__int2half_rn(bits >> i * 4 & 15), __float2half_rn(scale.x[i]),
                                     __float2half_rn(low.x[i])));
    return y;
}
__device__ Eight all(__half x) {
    Eight y;
#pragma unroll
    for (int i = 0; i < 8; i++) y.x[i] = __half2float(x);
    return y;
}
#endif

// The sum over a group's lanes, for each of them.
__device__ float groupSum(float x) {
#pragma unroll
    for (int i = LANES / 2; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffffu, x, i);
    return x;
}

// Before the first key the largest score is -inf, and -inf - -inf would be NaN.
__device__ float base(float largest) {
    return largest == -INFINITY ? 0 : largest;
}

// What is known of a head's scores: the largest, in units of log2, and the sum of 2^(score - it).
struct Weights {
    float largest, sum;
};

// What several groups, or blocks, have found of one number of a head.
struct Found {
    float number; // of the weighted values, not divided by the sum yet
    Weights weights;
};

// Merges n results: number x of result i is rows[i * DIM + x]. A result without a key has a largest
// score of -inf, so it counts 2^-inf = 0 times.
__device__ Found merge(const float *rows, const Weights *weights, int n, int x) {
    Found all = {0, {-INFINITY, 0}};
#pragma unroll 8 // the loads of eight are on their way together
    for (int i = 0; i < n; i++)
        all.weights.largest = fmaxf(all.weights.largest, weights[i].largest);
#pragma unroll 8
    for (int i = 0; i < n; i++) {
        const float by = exp2f(weights[i].largest - base(all.weights.largest));
        all.weights.sum += by * weights[i].sum;
        all.number += by * rows[i * DIM + x];
    }
    return all;
}

// Divides by the sum and rounds, once. A sequence without a key gets zeros.
__device__ __half finished(const Found &all) {
    return __float2half_rn(all.weights.sum == 0 ? 0 : all.number / all.weights.sum);
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two. between has room for
// the results of all blocks that share keys: [batch * heads * parts] rows of DIM sums, and behind
// them as many weights.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const __half *q, const unsigned char *k, const unsigned char *v, const __half *kScales,
           const __half *vScales, const __half *kLows, const __half *vLows, const __half *kOpen,
           const __half *vOpen, const int *lengths, __half *out, float *between, int slots,
           int heads, int kvHeads, float scale) {
    __shared__ float rows[GROUPS][DIM];
    __shared__ Weights found[GROUPS];
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;

    // 1. Which heads, which keys. The length is read here: a recorded launch sees today's.
    const int share = heads / kvHeads, chunks = (share + HEADS - 1) / HEADS;
    const int chunk = blockIdx.x % chunks, kvHead = blockIdx.x / chunks % kvHeads;
    const int sequence = blockIdx.x / chunks / kvHeads;
    const int count = min(HEADS, share - chunk * HEADS); // of this block's query heads
    const size_t head0 = (size_t)sequence * heads + kvHead * share + chunk * HEADS;
    const int length = min(max(lengths[sequence], 0), slots);
    const int parts = gridDim.y, part = blockIdx.y, perPart = (length + parts - 1) / parts;
    const int begin = min(part * perPart, length);
    const int end = min(begin + perPart, length); // no key: begin
    const int closed = BITS == 4 ? length / GROUP * GROUP : length;
    const size_t pair = (size_t)sequence * kvHeads + kvHead;

    Eight query[HEADS] = {}, acc[HEADS] = {};
    float largest[HEADS], sum[HEADS];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h < count) query[h] = load(q + (head0 + h) * DIM + 8 * lane);
        largest[h] = -INFINITY, sum[h] = 0;
    }
    // All groups go round equally often: shuffles need a whole warp.
    for (int first = begin; first < end; first += GROUPS) {
        // 2. A key and a value for each group: what lies behind the last may be anything, NaN too.
        const int slot = first + group;
        Eight key = {}, value = {};
        const size_t token = pair * slots + slot, at = token * (DIM * BITS / 8) + lane * BITS;
#if BITS == 8
        if (slot < end) key = load(k + at, kScales[token]), value = load(v + at, vScales[token]);
#else
        const size_t row = (pair * GROUP + slot % GROUP) * DIM + 8 * lane;
        const size_t channel = token / GROUP * DIM + 8 * lane;
        if (slot < min(end, closed)) {
            key = load(k + at, load(kScales + channel), load(kLows + channel));
            value = load(v + at, all(vScales[token]), all(vLows[token]));
        } else if (slot < end) {
            key = load(kOpen + row), value = load(vOpen + row);
        }
#endif
            // 3. For each head a score, and a step of the online softmax.
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            float score = 0;
#pragma unroll
            for (int i = 0; i < 8; i++) score += query[h].x[i] * key.x[i];
            score = groupSum(score) * scale;
            if (slot >= end) score = -INFINITY;
            const float most = fmaxf(largest[h], score);
            const float rescale = exp2f(largest[h] - base(most));
            const float weight = exp2f(score - base(most));
            largest[h] = most;
            sum[h] = sum[h] * rescale + weight;
#pragma unroll
            for (int i = 0; i < 8; i++) acc[h].x[i] = acc[h].x[i] * rescale + weight * value.x[i];
        }
    }
    // 4. The groups' results, merged, head by head. With all keys here that is the end of it.
    const size_t all = (size_t)gridDim.x / (chunks * kvHeads) * heads * parts; // results
    Weights *weights = reinterpret_cast<Weights *>(between + all * DIM);
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h >= count) break;
#pragma unroll
        for (int i = 0; i < 8; i++) rows[group][8 * lane + i] = acc[h].x[i];
        if (lane == 0) found[group] = {largest[h], sum[h]};
        __syncthreads(); // all results are in place
        if (threadIdx.x < DIM) {
            const Found one = merge(rows[0], found, GROUPS, threadIdx.x);
            const size_t at = (head0 + h) * parts + part;
            if (parts == 1) out[(head0 + h) * DIM + threadIdx.x] = finished(one);
            if (parts > 1) between[at * DIM + threadIdx.x] = one.number;
            if (parts > 1 && threadIdx.x == 0) weights[at] = one.weights;
        }
        __syncthreads(); // rows may be used again
    }
    if (parts == 1) return;

    // 5. The last of the blocks that share these keys merges what they found. It sees the others'
    //    results, for their fences came before their counting.
    __shared__ bool last;
    __threadfence();
    __syncthreads(); // the results of all threads are written, each before its fence
    // It counts to parts - 1, then starts from 0 again.
    if (threadIdx.x == 0) last = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
    __syncthreads(); // everyone knows whether this block is the last
    if (!last) return;
    __threadfence();
    for (int i = threadIdx.x; i < count * DIM; i += THREADS) {
        const size_t head = head0 + i / DIM;
        out[head * DIM + i % DIM] =
            finished(merge(between + head * parts * DIM, weights + head * parts, parts, i % DIM));
    }
}
