// Products y = x Wᵀ with weights of four bits, in groups of 128 along k: (code - zero) * scale.
//
//   x       [rows, k] of halves               codes   [n, k / 2], the first of two in the low half
//   y       [rows, n] of halves               scales  [n, k / 128] of halves
//                                             zeros   [n, k / 128], the low half of a byte

#include <cuda_fp16.h>

constexpr int GROUP = 128, TALL = 16; // numbers of a group along k, outputs of a tile
constexpr int PIECE = 64; // numbers along k of which a lane has 16 bytes, for two outputs
constexpr unsigned EVERYONE = 0xffffffff;

__device__ __half2 halvesOf(unsigned bits) {
    return *reinterpret_cast<__half2 *>(&bits);
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
