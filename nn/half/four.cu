// Weights of four bits, in groups of 128 along k: (code - zero) * scale.
//
//   w       [n, k] of halves                  codes   [n, k / 2], the first of two in the low half
//   scales  [n, k / 128] of halves            zeros   [n, k / 128], the low half of a byte
//
// quantise rounds to the nearest, as quant.ToINT4 does in Go, to the bit. A prompt is multiplied by
// halves again: dequantise writes them, from weights as they are, or as they are laid in the order
// of tensor cores' fragments (bonus task b8's).

#include <cuda_fp16.h>

constexpr int GROUP = 128, TALL = 16, PIECE = 64;
constexpr unsigned EVERYONE = 0xffffffff;

// The nearest code, in double as in Go.
__device__ int nearest(float x, __half scale, int zero) {
    const double step = __half2float(scale);
    if (step == 0 || isinf(step)) return zero;
    return (int)fmax(0.0, fmin(15.0, zero + rint(x / step)));
}

// A warp has a group, and a lane four of its numbers. Codes span all of them, and 0.
extern "C" __global__ void quantise(const uint2 *w, unsigned short *codes, __half *scales,
                                    unsigned char *zeros, long long groups) {
    const int lane = threadIdx.x % 32;
    const long long group = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (group >= groups) return; // the whole warp
    const uint2 bits = w[group * 32 + lane];
    const float2 first = __half22float2(*(const __half2 *)&bits.x);
    const float2 second = __half22float2(*(const __half2 *)&bits.y);
    const float x[4] = {first.x, first.y, second.x, second.y};
    float low = 0, high = 0;
    for (int i = 0; i < 4; i++) low = fminf(low, x[i]), high = fmaxf(high, x[i]);
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        low = fminf(low, __shfl_xor_sync(EVERYONE, low, lanes));
        high = fmaxf(high, __shfl_xor_sync(EVERYONE, high, lanes));
    }
    const __half scale = __float2half_rn((float)(((double)high - (double)low) / 15));
    const int zero = nearest(-low, scale, 0);
    unsigned word = 0;
    for (int i = 0; i < 4; i++) word |= nearest(x[i], scale, zero) << 4 * i;
    codes[group * 32 + lane] = word;
    if (lane == 0) scales[group] = scale, zeros[group] = zero;
}

__device__ __half weight(unsigned code, __half scale, unsigned char zero) {
    return __float2half_rn(((int)code - (zero & 15)) * __half2float(scale));
}

// A thread has a word, eight numbers of an output.
extern "C" __global__ void dequantise(const unsigned *codes, const __half *scales,
                                      const unsigned char *zeros, uint4 *w, int k, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x; // fewer than 2^27
    if (at >= n * (k / 8)) return;
    const int group = at / (GROUP / 8);
    __align__(16) __half eight[8];
    for (int i = 0; i < 8; i++)
        eight[i] = weight(codes[at] >> 4 * i & 15, scales[group], zeros[group]);
    w[at] = *(const uint4 *)eight;
}

// The same for a laid word: four numbers of output g and four of output g + 8.
extern "C" __global__ void dequantise_laid(const unsigned *codes, const __half *scales,
                                           const unsigned char *zeros, __half *w, int k, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int word = at % 4, lane = at / 4 % 32, piece = at / 128 % (k / PIECE);
    const int tile = at / 128 / (k / PIECE), g = lane / 4;
    if (tile * TALL >= n) return;
    const int number = piece * PIECE + word / 2 * 32 + lane % 4 * 8 + word % 2 * 4;
    for (int half = 0; half < 2; half++) {
        const int output = tile * TALL + g + 8 * half;
        const int factor = (at / 256 * 8 + g) * 2 + half;
        __align__(8) __half four[4];
        for (int i = 0; i < 4; i++) {
            const int bit = i % 2 * 16 + i / 2 * 8 + 4 * half;
            four[i] = weight(codes[at] >> bit & 15, scales[factor], zeros[factor]);
        }
        if (output < n) *(uint2 *)(w + (size_t)output * k + number) = *(const uint2 *)four;
    }
}
