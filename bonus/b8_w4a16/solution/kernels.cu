// Products y = x Wᵀ with weights of four bits, in groups of 128 along k: (code - zero) * scale.
//
//   x       [rows, k] of halves               codes   [n, k / 2], the first of two in the low half
//   y       [rows, n] of halves               scales  [n, k / 128] of halves
//                                             zeros   [n, k / 128], the low half of a byte
//
// Tensor cores multiply 16 outputs by eight rows of x. Which numbers along k make a column of their
// operands is free, as a sum has no order: one that suits the loads. A group's sum is float32, and
// is multiplied by its scale. One row has a file of its own, row.cu.

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <early.h>
#include <stdint.h>
#include <tensorcore.h>

constexpr int GROUP = 128, TALL = 16; // numbers of a group along k, outputs of a tile
constexpr int PIECE = 64; // numbers along k of which a lane has 16 bytes, for two outputs

__device__ __half2 halvesOf(unsigned bits) {
    return *reinterpret_cast<__half2 *>(&bits);
}
__device__ unsigned bitsOf(__half2 x) {
    return *reinterpret_cast<unsigned *>(&x);
}

// Two codes less their zero as halves, without a conversion. 0x6400 is the half 1024, whose last
// bit counts 1: with a code in its last four bits it is 1024 + code. A code four bits higher counts
// 16 times: a sixteenth of that is 64 + code, and 0xd400 is -64.
struct Zero {
    unsigned ofLow, ofHigh;
    __device__ Zero(unsigned zero = 0) {
        const unsigned twice = (zero & 15) * 0x10001;
        ofLow = twice | 0x64006400, ofHigh = twice << 4 | 0xd400d400;
    }
};
// Bits of a word beside those of the half 1024, of which the last counts 1. In C++ these are two
// instructions, as one of them takes one constant.
template <unsigned MASK> __device__ __half2 above1024(unsigned word) {
    unsigned x;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(x) : "r"(word), "n"(MASK), "r"(0x64006400));
    return halvesOf(x);
}
__device__ unsigned low(unsigned word, Zero zero) { // codes at bits 0 and 16
    return bitsOf(__hsub2(above1024<0x000f000f>(word), halvesOf(zero.ofLow)));
}
__device__ unsigned high(unsigned word, Zero zero) { // codes at bits 4 and 20
    return bitsOf(
        __hfma2(above1024<0x00f000f0>(word), __float2half2_rn(0.0625f), halvesOf(zero.ofHigh)));
}
__device__ unsigned wordOf(const uint4 &four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
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

// ---- many rows, laid weights ----------------------------------------------------------------

__device__ void add(float4 &a, const float4 &b) {
    a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w;
}

// A block has NW * TILES tiles of 16 outputs, and 8 * WIDE rows of x. Its warps are NW times KW: KW
// of them share out k, a group each at a time. Stages of x, KW groups long, come to shared memory
// by cp.async, for all warps. A weight is of use to one warp only: it goes straight to a register,
// AHEAD stages early. Blocks with the same outputs share k as well; the last of them adds what they
// found. between has room for that, and done [gridDim.x] counts which of them are done: 0 before
// and after each launch. Launches that may overlap need a between and a done each.
template <int NW, int KW, int TILES, int WIDE, int STAGES, int AHEAD>
__device__ __forceinline__ void multiply(const __half *x, const uint4 *codes, const __half2 *scales,
                                         const uchar2 *zeros, __half *y, float *between,
                                         unsigned *done, int rows, int k, int n) {
    constexpr int LINE = KW * 16, STAGE = 8 * WIDE * LINE; // in 16 bytes
    constexpr int TOGETHER = NW * KW * 32 / LINE;          // rows that are asked for at once
    constexpr int SUMS = TILES * WIDE;
    extern __shared__ uint4 memory[]; // [STAGES][8 * WIDE][LINE]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int column = warp % NW, share = warp / NW; // of the outputs, and of k
    const int groups = k / GROUP, steps = (groups + KW - 1) / KW, tiles = (n + TALL - 1) / TALL;
    const int tile0 = (blockIdx.x * NW + column) * TILES, parts = gridDim.y;
    const int first = steps * blockIdx.y / parts, last = steps * (blockIdx.y + 1) / parts;

    // 1. Weights. Behind the last group are codes and scales of 0.
    unsigned start[TILES]; // a tile's first group
#pragma unroll
    for (int i = 0; i < TILES; i++) start[i] = min(tile0 + i, tiles - 1) * groups;
    uint4 codesOf[AHEAD][TILES][2];
    __half2 scaleOf[AHEAD][TILES];
    uint16_t zeroOf[AHEAD][TILES]; // two bytes: to tell them apart waits for the load
    const auto askWeights = [&](int a, int step) {
        const int group = step * KW + share;
        const bool there = step < last && group < groups;
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            const unsigned at = there ? start[i] + group : 0;
            codesOf[a][i][0] = __ldcs(codes + at * 64 + lane);
            codesOf[a][i][1] = __ldcs(codes + at * 64 + 32 + lane);
            scaleOf[a][i] = there ? scales[at * 8 + g] : __float2half2_rn(0);
            zeroOf[a][i] = reinterpret_cast<const uint16_t *>(zeros)[at * 8 + g];
        }
    };
    // 2. Rows of x; behind the last one zeros. In every other row chunks of 64 bytes change places:
    //    what eight lanes read at a time are two rows' chunks, in different banks then.
    const int at = threadIdx.x % LINE, row0 = threadIdx.x / LINE;
    const auto askX = [&](int stage, int step) {
        const int number = (step * LINE + at) * 8;
        uint4 *to = memory + stage * STAGE + row0 * LINE + (at ^ row0 % 2 * 4);
        if (step < last)
#pragma unroll
            for (int row = row0; row < row0 + 8 * WIDE; row += TOGETHER, to += TOGETHER * LINE)
                if (row < rows && number < k)
                    __pipeline_memcpy_async(to, x + row * k + number, 16);
                else
                    *to = uint4{0, 0, 0, 0};
        __pipeline_commit(); // an empty one counts as well
    };
    letTheNextBegin();
#pragma unroll
    for (int a = 0; a < AHEAD; a++) askWeights(a, first + a);
    waitForTheOneBefore();
    for (int i = 0; i < STAGES - 1; i++) askX(i, first + i);

    // 3. Sum c of a lane is of row 2t + c % 2 of eight, and of output g, or, from 2 on, g + 8.
    float sums[TILES][WIDE][4] = {};
    int stage = 0;
    for (int turn = first; turn < last; turn += AHEAD) {
#pragma unroll
        for (int ahead = 0; ahead < AHEAD; ahead++) {
            const int step = turn + ahead;
            if (step >= last) break; // the whole block
            __pipeline_wait_prior(STAGES - 2);
            __syncthreads(); // the stage is there for all, and all are done with the one before it
            askX(stage == 0 ? STAGES - 1 : stage - 1, step + STAGES - 1);
            unsigned w[8][TILES][4];
            float2 scale[TILES];
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                const Zero zero(zeroOf[ahead][i]), zero8(zeroOf[ahead][i] >> 8);
                scale[i] = __half22float2(scaleOf[ahead][i]);
#pragma unroll
                for (int v = 0; v < 8; v++) {
                    const unsigned word = wordOf(codesOf[ahead][i][v / 4], v % 4);
                    w[v][i][0] = low(word, zero), w[v][i][1] = high(word, zero8);
                    w[v][i][2] = low(word >> 8, zero), w[v][i][3] = high(word >> 8, zero8);
                }
            }
            askWeights(ahead, step + AHEAD);
            const uint4 *from = memory + stage * STAGE + g * LINE + share * 16 + t;
            // Two at a time, so that products need not wait for each other.
#pragma unroll
            for (int wide = 0; wide < WIDE; wide += 2) {
                float sum[2][TILES][4] = {};
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    uint4 b[2];
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        b[j] = from[(wide + j) * 8 * LINE + (q * 4 ^ g % 2 * 4)];
#pragma unroll
                    for (int i = 0; i < 4 * TILES; i++) { // words 2q and 2q + 1
                        const int v = i / 2 / TILES, tile = i / 2 % TILES, j = i % 2;
                        mma_f16(sum[j][tile], w[2 * q + v][tile], wordOf(b[j], 2 * v),
                                wordOf(b[j], 2 * v + 1));
                    }
                }
#pragma unroll
                for (int i = 0; i < 8 * TILES; i++) {
                    const int j = i / 4 / TILES, tile = i / 4 % TILES, c = i % 4;
                    sums[tile][wide + j][c] +=
                        (c < 2 ? scale[tile].x : scale[tile].y) * sum[j][tile][c];
                }
            }
            stage = stage + 1 == STAGES ? 0 : stage + 1;
        }
    }

    // 4. The KW shares of a block are added in shared memory, and end in the first NW warps.
    const auto four = [&](int i) -> float4 & {
        return reinterpret_cast<float4 &>(sums[i / WIDE][i % WIDE]);
    };
    float4 *shares = reinterpret_cast<float4 *>(memory) + column * SUMS * 32 + lane;
    __pipeline_wait_prior(0);
    __syncthreads(); // nobody reads x any more
#pragma unroll
    for (int i = 0; share > 0 && i < SUMS; i++)
        shares[((share - 1) * NW * SUMS + i) * 32] = four(i);
    __syncthreads(); // every share is there
    const auto put = [&](int i, const float4 &v) {
        const float all[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const int output = (tile0 + i / WIDE) * TALL + g + c / 2 * 8;
            const int row = i % WIDE * 8 + 2 * t + c % 2;
            if (row < rows && output < n) y[(size_t)row * n + output] = __float2half_rn(all[c]);
        }
    };
    const int part = gridDim.x * NW * SUMS * 32; // what all blocks find in one part of k
    float4 *found =
        reinterpret_cast<float4 *>(between) + (blockIdx.x * NW + column) * SUMS * 32 + lane;
#pragma unroll
    for (int i = 0; share == 0 && i < SUMS; i++) {
        for (int s = 0; s < KW - 1; s++) add(four(i), shares[(s * NW * SUMS + i) * 32]);
        if (parts == 1)
            put(i, four(i));
        else
            found[blockIdx.y * part + i * 32] = four(i);
    }
    if (parts == 1) return;

    // 5. The last of the blocks that share k adds: the others' fences came before their counting,
    //    which ends at 0 again.
    __shared__ bool isLast;
    __threadfence();
    __syncthreads(); // all of this block's is written, each before its fence
    if (threadIdx.x == 0) isLast = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
    __syncthreads(); // everyone knows whether this block is the last
    if (!isLast) return;
    __threadfence();
    for (int i = share; i < SUMS; i += KW) {
        float4 all = found[i * 32];
        for (int p = 1; p < parts; p++) add(all, found[p * part + i * 32]);
        put(i, all);
    }
}

#define ROWS(NAME, NW, KW, TILES, WIDE, STAGES, AHEAD)                                             \
    extern "C" __global__ __launch_bounds__(NW *KW * 32) void NAME(                                \
        const __half *x, const uint4 *codes, const __half2 *scales, const uchar2 *zeros,           \
        __half *y, float *between, unsigned *done, int rows, int k, int n) {                       \
        multiply<NW, KW, TILES, WIDE, STAGES, AHEAD>(x, codes, scales, zeros, y, between, done,    \
                                                     rows, k, n);                                  \
    }
ROWS(rows16few, 4, 4, 2, 2, 3, 1) // for few weights
ROWS(rows16, 4, 2, 2, 2, 4, 2)
ROWS(rows64, 8, 2, 1, 8, 3, 1)
