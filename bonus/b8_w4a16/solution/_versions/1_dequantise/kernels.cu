// Products of weights of four bits, which laid.cuh describes.
//
// The first rung: weights are written as halves, and multiplied like any others.

#include "laid.cuh"

// ---- reading --------------------------------------------------------------------------------

__device__ __half weight(unsigned code, __half scale, unsigned char zero) {
    return __float2half_rn(((int)code - (zero & 15)) * __half2float(scale));
}

// A thread has a word, eight numbers of an output.
extern "C" __global__ void dequantise(const unsigned *codes, const __half *scales,
                                      const unsigned char *zeros, __half *w, int k, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x; // fewer than 2^27
    if (at >= n * (k / 8)) return;
    const int group = at / (GROUP / 8);
    __align__(16) __half eight[8];
    for (int i = 0; i < 8; i++)
        eight[i] = weight(codes[at] >> 4 * i & 15, scales[group], zeros[group]);
    reinterpret_cast<uint4 *>(w)[at] = *reinterpret_cast<uint4 *>(eight);
}

// The same for a laid word: four numbers of output g and four of output g + 8.
extern "C" __global__ void dequantiseLaid(const unsigned *codes, const __half *scales,
                                          const unsigned char *zeros, __half *w, int k, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int word = at % 4, lane = at / 4 % 32, piece = at / 128 % (k / PIECE);
    const int tile = at / 128 / (k / PIECE), g = lane / 4;
    if (tile * TALL >= n) return;
    const int number = piece * PIECE + word / 2 * 32 + lane % 4 * 8 + word % 2 * 4;
    for (int half = 0; half < 2; half++) {
        const int output = tile * TALL + g + 8 * half;
        const int factor = (at / 128 / 2 * 8 + g) * 2 + half;
        __align__(8) __half four[4];
        for (int i = 0; i < 4; i++) {
            const int bit = i % 2 * 16 + i / 2 * 8 + 4 * half;
            four[i] = weight(codes[at] >> bit & 15, scales[factor], zeros[factor]);
        }
        if (output < n)
            *reinterpret_cast<uint2 *>(w + (size_t)output * k + number) =
                *reinterpret_cast<uint2 *>(four);
    }
}

// ---- multiplying ----------------------------------------------------------------------------

// A warp has an output of a row of x: its lanes walk along k, eight numbers each.
extern "C" __global__ void multiply(const __half *x, const __half *w, __half *y, int k, int n) {
    const int lane = threadIdx.x % 32, row = blockIdx.y;
    const int output = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (output >= n) return; // the whole warp
    float sum = 0;
    for (int at = 8 * lane; at < k; at += 256) {
        const uint4 a = *reinterpret_cast<const uint4 *>(x + (size_t)row * k + at);
        const uint4 b = *reinterpret_cast<const uint4 *>(w + (size_t)output * k + at);
        const unsigned as[4] = {a.x, a.y, a.z, a.w}, bs[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 xs = __half22float2(halvesOf(as[i])), ws = __half22float2(halvesOf(bs[i]));
            sum += xs.x * ws.x;
            sum += xs.y * ws.y;
        }
    }
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(EVERYONE, sum, apart);
    if (lane == 0) y[(size_t)row * n + output] = __float2half_rn(sum);
}
