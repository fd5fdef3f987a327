// What the rungs share: numbers of 16 bits, eight of them a load, and results that are merged.
//
//   q, out [batch, heads, DIM]      k, v [batch, slots, kvHeads, DIM]      lengths [batch]
//
// The host defines DIM (64 or 128), and BRAIN for bfloat16. The rung defines THREADS, of a block.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
typedef __nv_bfloat162 Half2;
__device__ float wide(Half x) {
    return __bfloat162float(x);
}
__device__ float2 wide(Half2 x) {
    return __bfloat1622float2(x);
}
__device__ Half narrow(float x) {
    return __float2bfloat16_rn(x);
}
#else
typedef __half Half;
typedef __half2 Half2;
__device__ float wide(Half x) {
    return __half2float(x);
}
__device__ float2 wide(Half2 x) {
    return __half22float2(x);
}
__device__ Half narrow(float x) {
    return __float2half_rn(x);
}
#endif

constexpr int LANES = DIM / 8;          // of a group: each has 16 bytes of a row
constexpr int GROUPS = THREADS / LANES; // rows at a time

// Eight numbers, 16 bytes: the most that one load brings.
struct Eight {
    float x[8];
};
__device__ Eight widened(uint4 bits) {
    Eight y;
    const unsigned two[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 f = wide(*reinterpret_cast<const Half2 *>(&two[i]));
        y.x[2 * i] = f.x, y.x[2 * i + 1] = f.y;
    }
    return y;
}
__device__ Eight load(const Half *from) {
    return widened(*reinterpret_cast<const uint4 *>(from));
}

// The largest, or the sum, of a block's numbers, for all of its threads.
__device__ float largestOf(float x, float *room) {
    room[threadIdx.x] = x;
    for (int n = THREADS / 2; n > 0; n /= 2) {
        __syncthreads(); // the other half has written
        if (threadIdx.x < n) room[threadIdx.x] = fmaxf(room[threadIdx.x], room[threadIdx.x + n]);
    }
    __syncthreads(); // the result is there
    x = room[0];
    __syncthreads(); // everyone has read it: room may be used again
    return x;
}
__device__ float sumOf(float x, float *room) {
    room[threadIdx.x] = x;
    for (int n = THREADS / 2; n > 0; n /= 2) {
        __syncthreads(); // the other half has written
        if (threadIdx.x < n) room[threadIdx.x] += room[threadIdx.x + n];
    }
    __syncthreads(); // the result is there
    x = room[0];
    __syncthreads(); // everyone has read it: room may be used again
    return x;
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
