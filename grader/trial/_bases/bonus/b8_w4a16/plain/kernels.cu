// Products y = x Wᵀ with weights of four bits, in groups of 128 along k: (code - zero) * scale.
//
//   x       [rows, k] of halves               codes   [n, k / 2], the first of two in the low half
//   y       [rows, n] of halves               scales  [n, k / 128] of halves
//                                             zeros   [n, k / 128], the low half of a byte
//
// The third rung: a lane asks for much at a time, and decodes a weight once for 16 rows of x.

#include <cuda_fp16.h>

constexpr int GROUP = 128, TALL = 16; // numbers of a group along k, outputs of a tile
constexpr int PIECE = 64; // numbers along k of which a lane has 16 bytes, for two outputs
constexpr unsigned EVERYONE = 0xffffffff;

__device__ __half2 halvesOf(unsigned bits) {
    return *reinterpret_cast<__half2 *>(&bits);
}

// Two codes less their zero, without a conversion. 0x6400 is the half 1024, whose last bit counts
// 1: with a code in its last four bits it is 1024 + code. A code four bits higher counts 16 times.
__device__ unsigned twice(unsigned zero) {
    return (zero & 15) * 0x10001;
}
__device__ __half2 low(unsigned word, unsigned zeros) { // codes at bits 0 and 16
    return __hsub2(halvesOf(word & 0x000f000f | 0x64006400), halvesOf(zeros | 0x64006400));
}
__device__ __half2 high(unsigned word, unsigned zeros) { // codes at bits 4 and 20; 0xd400 is -64
    return __hfma2(halvesOf(word & 0x00f000f0 | 0x64006400), __float2half2_rn(0.0625f),
                   halvesOf(zeros << 4 | 0xd400d400));
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

// ---- one row, weights as they are -----------------------------------------------------------

// sum + eight products: of a word's codes, and of eight numbers of x. Codes that are 16 bits apart
// are number i and number i + 4.
__device__ float eight(float sum, unsigned word, unsigned zeros, const uint4 &x) {
    const float2 a = __half22float2(halvesOf(x.x)), b = __half22float2(halvesOf(x.y));
    const float2 c = __half22float2(halvesOf(x.z)), d = __half22float2(halvesOf(x.w));
    float2 w = __half22float2(low(word, zeros));
    sum = fmaf(w.x, a.x, sum), sum = fmaf(w.y, c.x, sum);
    w = __half22float2(high(word, zeros));
    sum = fmaf(w.x, a.y, sum), sum = fmaf(w.y, c.y, sum);
    w = __half22float2(low(word >> 8, zeros));
    sum = fmaf(w.x, b.x, sum), sum = fmaf(w.y, d.x, sum);
    w = __half22float2(high(word >> 8, zeros));
    return fmaf(w.y, d.y, fmaf(w.x, b.y, sum));
}

constexpr int WARPS = 8, OUTPUTS = 2, AHEAD = 4;

// A warp has two outputs. A lane asks for 16 bytes of both, four times over, before it needs the
// first.
extern "C" __global__ __launch_bounds__(WARPS * 32) void row(const __half *x, const uint4 *codes,
                                                             const __half *scales,
                                                             const unsigned char *zeros, __half *y,
                                                             int k, int n) {
    const int lane = threadIdx.x % 32;
    const int first = (blockIdx.x * WARPS + threadIdx.x / 32) * OUTPUTS;
    float sums[OUTPUTS] = {};
    for (int from = lane; from < k / 32; from += AHEAD * 32) {
        uint4 w[AHEAD][OUTPUTS] = {};
        float scale[AHEAD][OUTPUTS] = {};
        unsigned zero[AHEAD][OUTPUTS] = {};
#pragma unroll
        for (int i = 0; i < AHEAD * OUTPUTS; i++) {
            const int a = i / OUTPUTS, o = i % OUTPUTS, at = from + a * 32;
            const size_t output = min(first + o, n - 1);
            const size_t group = output * (k / GROUP) + at / (GROUP / 32);
            if (at >= k / 32) continue;
            w[a][o] = codes[output * (k / 32) + at];
            scale[a][o] = __half2float(scales[group]);
            zero[a][o] = twice(zeros[group]);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int at = from + a * 32;
            if (at >= k / 32) break;
            const uint4 *eights = reinterpret_cast<const uint4 *>(x + at * 32);
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) {
                const unsigned words[4] = {w[a][o].x, w[a][o].y, w[a][o].z, w[a][o].w};
                float part = 0;
#pragma unroll
                for (int i = 0; i < 4; i++) part = eight(part, words[i], zero[a][o], eights[i]);
                sums[o] = fmaf(scale[a][o], part, sums[o]);
            }
        }
    }
    for (int o = 0; o < OUTPUTS; o++) {
        for (int apart = 16; apart > 0; apart /= 2)
            sums[o] += __shfl_xor_sync(EVERYONE, sums[o], apart);
        if (lane == 0 && first + o < n) y[first + o] = __float2half_rn(sums[o]);
    }
}

// ---- many rows, laid weights ----------------------------------------------------------------

constexpr int ROWS = 16; // of x that a block has

// A block has a tile of 16 outputs; its warps take pieces of k in turn. A lane has four numbers of
// output g and of output g + 8 in each word, and multiplies them with as many of every row of x.
extern "C" __global__ __launch_bounds__(WARPS * 32) void rows(const __half *x, const uint4 *codes,
                                                              const __half *scales,
                                                              const unsigned char *zeros, __half *y,
                                                              int rows, int k, int n) {
    __shared__ float shares[WARPS][ROWS][TALL];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int pieces = k / PIECE, firstRow = blockIdx.y * ROWS;
    float sums[ROWS][2] = {};
    for (int piece = warp; piece < pieces; piece += WARPS) {
        const size_t at = (size_t)blockIdx.x * pieces + piece;
        const uint4 w = codes[at * 32 + lane];
        const unsigned words[4] = {w.x, w.y, w.z, w.w};
        const size_t pair = at / 2 * 8 + g; // of scales, and of zeros
        const float2 scale = __half22float2(reinterpret_cast<const __half2 *>(scales)[pair]);
        const uchar2 zero = reinterpret_cast<const uchar2 *>(zeros)[pair];
        const unsigned zero0 = twice(zero.x), zero8 = twice(zero.y);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 a = __half22float2(low(words[i], zero0));
            const float2 b = __half22float2(high(words[i], zero8));
            const float2 c = __half22float2(low(words[i] >> 8, zero0));
            const float2 d = __half22float2(high(words[i] >> 8, zero8));
            const int number = piece * PIECE + i / 2 * 32 + t * 8 + i % 2 * 4;
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (firstRow + r >= rows) break;
                const uint2 four =
                    *reinterpret_cast<const uint2 *>(x + (size_t)(firstRow + r) * k + number);
                const float2 p = __half22float2(halvesOf(four.x));
                const float2 q = __half22float2(halvesOf(four.y));
                sums[r][0] += scale.x * (a.x * p.x + a.y * p.y + c.x * q.x + c.y * q.y);
                sums[r][1] += scale.y * (b.x * p.x + b.y * p.y + d.x * q.x + d.y * q.y);
            }
        }
    }
    for (int r = 0; r < ROWS; r++)
        for (int half = 0; half < 2; half++) {
            float sum = sums[r][half]; // of four lanes
            sum += __shfl_xor_sync(EVERYONE, sum, 1);
            sum += __shfl_xor_sync(EVERYONE, sum, 2);
            if (t == 0) shares[warp][r][g + 8 * half] = sum;
        }
    __syncthreads(); // every warp's share is there
    for (int i = threadIdx.x; i < ROWS * TALL; i += WARPS * 32) {
        const int row = firstRow + i / TALL, output = blockIdx.x * TALL + i % TALL;
        float sum = 0;
        for (int w = 0; w < WARPS; w++) sum += shares[w][i / TALL][i % TALL];
        if (row < rows && output < n) y[(size_t)row * n + output] = __float2half_rn(sum);
    }
}
