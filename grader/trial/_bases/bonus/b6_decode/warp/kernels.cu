// Decoding in halves, with coalesced loads: a block for each query head. DIM / 8 neighbouring
// threads, a group, read a key in one load each: half a warp or a quarter, side by side. Each group
// has an online softmax of its own; at the end their results are merged.
//
//   q, out [batch, heads, DIM]      k, v [batch, slots, kvHeads, DIM]      lengths [batch]
//
// The host defines DIM (64 or 128), and BRAIN for bfloat16.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
__device__ float wide(Half x) {
    return __bfloat162float(x);
}
__device__ Half narrow(float x) {
    return __float2bfloat16_rn(x);
}
#else
typedef __half Half;
__device__ float wide(Half x) {
    return __half2float(x);
}
__device__ Half narrow(float x) {
    return __float2half_rn(x);
}
#endif

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int HEADS = 1;                // query heads of a block
constexpr int LANES = DIM / 8;          // of a group: each has 16 bytes of a key
constexpr int GROUPS = THREADS / LANES; // keys at a time

// Eight numbers, 16 bytes: the most that one load brings.
struct Eight {
    float x[8];
};
__device__ Eight widened(uint4 bits) {
    Eight y;
    const unsigned two[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
#ifdef BRAIN
        const float2 f = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162 *>(&two[i]));
#else
        const float2 f = __half22float2(*reinterpret_cast<const __half2 *>(&two[i]));
#endif
        y.x[2 * i] = f.x, y.x[2 * i + 1] = f.y;
    }
    return y;
}
__device__ Eight load(const Half *from) {
    return widened(*reinterpret_cast<const uint4 *>(from));
}

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
__device__ Half finished(const Found &all) {
    return narrow(all.weights.sum == 0 ? 0 : all.number / all.weights.sum);
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths, Half *out, int slots,
           int heads, int kvHeads, float scale) {
    __shared__ float rows[GROUPS][DIM];
    __shared__ Weights found[GROUPS];
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    const int sequence = blockIdx.x / heads, head = blockIdx.x % heads;
    // Read here: a recorded launch sees today's.
    const int length = min(max(lengths[sequence], 0), slots);
    const int pitch = kvHeads * DIM;
    const size_t cache =
        ((size_t)sequence * slots * kvHeads + head / (heads / kvHeads)) * DIM + 8 * lane;
    k += cache, v += cache, q += (size_t)blockIdx.x * DIM + 8 * lane,
        out += (size_t)blockIdx.x * DIM;

    const Eight query = load(q);
    Eight acc = {};
    float largest = -INFINITY, sum = 0;
    // All groups go round equally often: shuffles need a whole warp.
    for (int first = 0; first < length; first += GROUPS) {
        // 1. A key and a value for each group: what lies behind the last may be anything, NaN too.
        const int slot = first + group;
        Eight key = {}, value = {};
        if (slot < length)
            key = load(k + (size_t)slot * pitch), value = load(v + (size_t)slot * pitch);
        // 2. Its score, in each of its lanes.
        float score = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) score += query.x[i] * key.x[i];
        score = groupSum(score) * scale;
        if (slot >= length) score = -INFINITY;
        // 3. The online softmax: a larger maximum rescales what was summed before.
        const float most = fmaxf(largest, score);
        const float rescale = exp2f(largest - base(most));
        const float weight = exp2f(score - base(most));
        largest = most;
        sum = sum * rescale + weight;
#pragma unroll
        for (int i = 0; i < 8; i++) acc.x[i] = acc.x[i] * rescale + weight * value.x[i];
    }
    // 4. The groups' results, merged.
#pragma unroll
    for (int i = 0; i < 8; i++) rows[group][8 * lane + i] = acc.x[i];
    if (lane == 0) found[group] = {largest, sum};
    __syncthreads(); // all results are in place
    if (threadIdx.x < DIM) out[threadIdx.x] = finished(merge(rows[0], found, GROUPS, threadIdx.x));
}
