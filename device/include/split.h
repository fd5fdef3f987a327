// split.h - attention of one query over keys that several warps, or blocks, have shared out: what
// each has found of a head is merged. Solutions include it; a release has it no more than it has
// them.
#pragma once

// No score, in place of INFINITY: that is a macro, which a kernel may have made another.
__device__ __forceinline__ float noScore() {
    return __int_as_float(0xff800000);
}

// The largest, or the sum, over lanes whose numbers differ in the bits below Lanes.
template <int Lanes> __device__ __forceinline__ float largestOf(float x) {
    for (int i = 1; i < Lanes; i *= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, i));
    return x;
}
template <int Lanes> __device__ __forceinline__ float sumOf(float x) {
    for (int i = 1; i < Lanes; i *= 2) x += __shfl_xor_sync(0xffffffff, x, i);
    return x;
}

// Before the first key the largest score is -inf, and -inf - -inf would be NaN.
__device__ __forceinline__ float base(float largest) {
    return largest == noScore() ? 0 : largest;
}

// What a part of the keys gives for one head: the largest score, in units of log2, and relative to
// it the sum of the weights and four of the head's numbers for each lane.
struct Found {
    float largest, sum;
    float4 numbers;

    // The head's numbers of the output. A sequence without a key gets zeros.
    __device__ __forceinline__ float4 output() const {
        const float inverse = sum == 0 ? 0 : 1 / sum;
        const float4 x = numbers;
        return {x.x * inverse, x.y * inverse, x.z * inverse, x.w * inverse};
    }
};

// A warp merges n results, pitch floats apart: DIM numbers, the largest score, the sum. It is the
// online softmax again, Together results at a time: all that is read of them is on its way at once.
// A result without a key has a largest score of -inf, so it counts 2^-inf = 0 times. power is 2^x.
template <int Dim, int Together, class Power>
__device__ __forceinline__ Found merge(const float *results, size_t pitch, int n, Power power) {
    const int lane = threadIdx.x % 32;
    Found all = {noScore(), 0, {0, 0, 0, 0}};
    float4 &y = all.numbers;
    for (int first = 0; first < n; first += Together) {
        float largest = noScore(), sum = 0; // of result first + lane
        if (lane < Together && first + lane < n) {
            const float *one = results + (first + lane) * pitch + Dim;
            const float2 both = *reinterpret_cast<const float2 *>(one);
            largest = both.x, sum = both.y;
        }
        float4 x[Together] = {};
        for (int i = 0; i < Together; i++)
            if (first + i < n && lane < Dim / 4)
                x[i] = reinterpret_cast<const float4 *>(results + (first + i) * pitch)[lane];
        const float most = fmaxf(all.largest, largestOf<32>(largest));
        const float again = power(all.largest - base(most)), factor = power(largest - base(most));
        all.largest = most;
        all.sum = all.sum * again + sumOf<32>(factor * sum);
        y.x *= again, y.y *= again, y.z *= again, y.w *= again;
        for (int i = 0; i < Together; i++) {
            const float by = __shfl_sync(0xffffffff, factor, i);
            y.x += by * x[i].x, y.y += by * x[i].y, y.z += by * x[i].z, y.w += by * x[i].w;
        }
    }
    return all;
}
