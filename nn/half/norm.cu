// RMSNorm: out = x / sqrt(mean of x^2 + eps) * gain, for each row of x [rows, width] of halves, in
// float32 and rounded once. A block handles one row. add_norm first adds added [rows, width] to x,
// and keeps the sum there, rounded to halves: the norm is of what is kept.
//
// width is a multiple of 8, at most BLOCK * HELD * 8. half.go defines BLOCK and HELD.

#include <cuda_fp16.h>
#include <early.h>

#define WARP 32

// The sum of value over the block, for every thread. partial has one place per warp.
__device__ float sumOfBlock(float value, float *partial) {
    const int warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
#pragma unroll
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    if (lane == 0) partial[threadIdx.x / WARP] = value;
    __syncthreads(); // each warp's sum is in place before others read it
    value = lane < warps ? partial[lane] : 0.0f;
#pragma unroll
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

// Eight halves, which are 16 bytes.
union Eight {
    uint4 all;
    __half2 two[4];
};
static_assert(sizeof(Eight) == 16, "eight halves");

template <bool ADD>
__device__ void normalise(uint4 *x, const uint4 *added, const uint4 *gain, uint4 *out, int width,
                          float eps) {
    __shared__ float partial[BLOCK / WARP];
    const int pieces = width / 8;
    const size_t row = (size_t)blockIdx.x * pieces;
    Eight held[HELD], gains[HELD];
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const int i = j * blockDim.x + threadIdx.x;
        if (i < pieces) gains[j].all = gain[i];
    }
    waitForInputs(); // no kernel writes weights

    // 1. The sum of squares.
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const int i = j * blockDim.x + threadIdx.x;
        if (i >= pieces) break;
        held[j].all = x[row + i];
        Eight more;
        if (ADD) more.all = added[row + i];
#pragma unroll
        for (int p = 0; p < 4; p++) {
            float2 v = __half22float2(held[j].two[p]);
            if (ADD) {
                const float2 a = __half22float2(more.two[p]);
                held[j].two[p] = __floats2half2_rn(v.x + a.x, v.y + a.y);
                v = __half22float2(held[j].two[p]);
            }
            squares += v.x * v.x + v.y * v.y;
        }
        if (ADD) x[row + i] = held[j].all;
    }
    const float scale = 1.0f / sqrtf(sumOfBlock(squares, partial) / width + eps);

    // 2. Normalise.
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const int i = j * blockDim.x + threadIdx.x;
        if (i >= pieces) break;
        Eight y;
#pragma unroll
        for (int p = 0; p < 4; p++) {
            const float2 v = __half22float2(held[j].two[p]), g = __half22float2(gains[j].two[p]);
            y.two[p] = __floats2half2_rn(v.x * scale * g.x, v.y * scale * g.y);
        }
        out[row + i] = y.all;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    rms_norm(const uint4 *x, const uint4 *gain, uint4 *out, int width, float eps) {
    normalise<false>((uint4 *)x, 0, gain, out, width, eps); // does not write x
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    add_norm(uint4 *x, const uint4 *added, const uint4 *gain, uint4 *out, int width, float eps) {
    normalise<true>(x, added, gain, out, width, eps);
}
