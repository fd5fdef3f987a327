// Products y = x Wᵀ with weights of four bits, in groups of 128 along k: (code - zero) * scale.
//
//   x       [rows, k] of halves               codes   [n, k / 2], the first of two in the low half
//   y       [rows, n] of halves               scales  [n, k / 128] of halves
//                                             zeros   [n, k / 128], the low half of a byte
//
// The first rung: weights are written as halves, and multiplied like any others.

#include <cuda_fp16.h>

constexpr int GROUP = 128, TALL = 16; // numbers of a group along k, outputs of a tile
constexpr int PIECE = 64; // numbers along k of which a lane has 16 bytes, for two outputs
constexpr unsigned EVERYONE = 0xffffffff;

__device__ __half2 halvesOf(unsigned bits) {
    return *reinterpret_cast<__half2 *>(&bits);
}

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

// ---- the order of fragments -----------------------------------------------------------------

// A thread writes a lane's 16 bytes of a piece, tile by tile, in each piece by piece. Word 2q + s
// has four numbers of output g and four of output g + 8, from 32q + 8t + 4s on: pairs of them
// along k lie 16 bits apart. Of every group one piece's first 16 lanes move scales and zeros.
extern "C" __global__ void lay(const unsigned *codes, const __half *scales,
                               const unsigned char *zeros, uint4 *laidCodes, __half *laidScales,
                               unsigned char *laidZeros, int k, int n) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int at = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; // of the pieces
    const int pieces = k / PIECE, piece = at % pieces, first = at / pieces * TALL;
    if (first >= n) return;
    unsigned words[4];
    for (int q = 0; q < 2; q++) {
        unsigned eight[2]; // codes of each output: 32q + 8t and those behind
        for (int i = 0; i < 2; i++) {
            const int output = first + g + 8 * i;
            const size_t from = ((size_t)output * k + piece * PIECE + 32 * q + 8 * t) / 8;
            eight[i] = output < n ? codes[from] : 0;
        }
        for (int s = 0; s < 2; s++) {
            unsigned word = 0;
            for (int i = 0; i < 4; i++) // number i of four
                word |=
                    ((eight[0] >> 4 * (4 * s + i) & 15) | (eight[1] >> 4 * (4 * s + i) & 15) << 4)
                    << (i % 2 * 16 + i / 2 * 8);
            words[2 * q + s] = word;
        }
    }
    laidCodes[(size_t)at * 32 + lane] = make_uint4(words[0], words[1], words[2], words[3]);
    if (piece % 2 == 1 || lane >= TALL) return;
    const int output = first + lane / 2 + lane % 2 * 8, groups = k / GROUP;
    const size_t from = (size_t)output * groups + piece / 2, to = (size_t)at / 2 * TALL + lane;
    laidScales[to] = output < n ? scales[from] : __half(0.0f);
    laidZeros[to] = output < n ? zeros[from] : 0;
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
