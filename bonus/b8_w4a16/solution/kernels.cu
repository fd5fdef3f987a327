// Products y = x Wᵀ with weights of four bits, in groups of 128 along k: (code - zero) * scale.
//
//   x       [rows, k] of halves               codes   [n, k / 2], the first of two in the low half
//   y       [rows, n] of halves               scales  [n, k / 128] of halves
//                                             zeros   [n, k / 128], the low half of a byte
//
// Tensor cores multiply 16 outputs by eight rows of x. Which numbers along k make a column of their
// operands is free, as a sum has no order: one that suits the loads. A group's sum is float32, and
// is multiplied by its scale.

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
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
__device__ unsigned low(unsigned word, Zero zero) { // codes at bits 0 and 16
    return bitsOf(__hsub2(halvesOf(word & 0x000f000f | 0x64006400), halvesOf(zero.ofLow)));
}
__device__ unsigned high(unsigned word, Zero zero) { // codes at bits 4 and 20
    return bitsOf(__hfma2(halvesOf(word & 0x00f000f0 | 0x64006400), __float2half2_rn(0.0625f),
                          halvesOf(zero.ofHigh)));
}
__device__ unsigned wordOf(const uint4 &four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// In a recorded graph a kernel may begin while the one before it runs. Weights are there long
// since, so they are asked for at once; x may be what that kernel writes.
__device__ void letTheNextBegin() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
__device__ void waitForInputs() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
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

constexpr int WARPS = 16,
              AHEAD = 2; // warps of a block; groups of its outputs that a warp has asked for

// A block has 16 outputs, and its warps take groups of 128 numbers in turn. Lane 4g + t has the 32
// numbers from 32t on, of outputs g and g + 8: 16 bytes each. The eight columns of the product are
// all the same.
extern "C" __global__ __launch_bounds__(WARPS * 32) void row(const __half *x, const uint4 *codes,
                                                             const __half *scales,
                                                             const unsigned char *zeros, __half *y,
                                                             int k, int n) {
    __shared__ float shares[WARPS][TALL];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int groups = k / GROUP, first = blockIdx.x * TALL;
    uint4 codesOf[AHEAD][2];
    __half scaleOf[AHEAD][2];
    unsigned char zeroOf[AHEAD][2];
    const auto ask = [&](int a, int group) {
        if (group >= groups) return;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const size_t at = (size_t)min(first + g + 8 * half, n - 1) * groups + group;
            codesOf[a][half] = __ldcs(codes + at * (GROUP / 32) + t);
            scaleOf[a][half] = scales[at], zeroOf[a][half] = zeros[at];
        }
    };
    letTheNextBegin();
#pragma unroll
    for (int a = 0; a < AHEAD; a++) ask(a, warp + a * WARPS);
    waitForInputs();

    float sums[2] = {}; // of outputs g and g + 8
    for (int turn = warp; turn < groups; turn += AHEAD * WARPS) {
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int group = turn + a * WARPS;
            if (group >= groups) break; // the whole warp
            const uint4 *eights = reinterpret_cast<const uint4 *>(x + group * GROUP + t * 32);
            const Zero zero(zeroOf[a][0]), zero8(zeroOf[a][1]);
            float sum[4] = {};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                unsigned word = wordOf(codesOf[a][0], i), word8 = wordOf(codesOf[a][1], i);
                const uint4 b = eights[i];
                // Codes that are 16 bits apart are numbers 0 and 4 of the eight, 1 and 5, and so
                // on.
                const unsigned even[4] = {low(word, zero), low(word8, zero8), high(word, zero),
                                          high(word8, zero8)};
                mma_f16(sum, even, __byte_perm(b.x, b.z, 0x5410), __byte_perm(b.x, b.z, 0x7632));
                word >>= 8, word8 >>= 8;
                const unsigned odd[4] = {low(word, zero), low(word8, zero8), high(word, zero),
                                         high(word8, zero8)};
                mma_f16(sum, odd, __byte_perm(b.y, b.w, 0x5410), __byte_perm(b.y, b.w, 0x7632));
            }
            sums[0] = fmaf(__half2float(scaleOf[a][0]), sum[0], sums[0]);
            sums[1] = fmaf(__half2float(scaleOf[a][1]), sum[2], sums[1]);
            ask(a, group + AHEAD * WARPS);
        }
    }
    if (t == 0) shares[warp][g] = sums[0], shares[warp][g + 8] = sums[1];
    __syncthreads(); // every warp's share is there
    if (threadIdx.x >= TALL || first + threadIdx.x >= n) return;
    float sum = 0;
    for (int w = 0; w < WARPS; w++) sum += shares[w][threadIdx.x];
    y[first + threadIdx.x] = __float2half_rn(sum);
}

// ---- many rows, laid weights ----------------------------------------------------------------

constexpr int MANY = 264; // blocks that share k at most
__device__ unsigned done[MANY];

// A block has NW * TILES tiles of 16 outputs, and 8 * WIDE rows of x. Its warps are NW times KW: KW
// of them share out k. Stages of x, KW pieces long, come to shared memory by cp.async, for
// all warps. A weight is of use to one warp only: it goes straight to a register, AHEAD stages
// early. Blocks with the same outputs share k as well; the last one of them adds what they found.
template <int NW, int KW, int TILES, int WIDE, int STAGES, int AHEAD>
__device__ void multiply(const __half *x, const uint4 *codes, const __half2 *scales,
                         const uchar2 *zeros, __half *y, float *between, int rows, int k, int n) {
    constexpr int THREADS = NW * KW * 32, LINE = KW * 8, STAGE = 8 * WIDE * LINE; // 16 bytes each
    extern __shared__ uint4 memory[]; // [STAGES][8 * WIDE][LINE]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int column = warp % NW, share = warp / NW; // of the outputs, and of k
    const int pieces = k / PIECE, steps = (pieces + KW - 1) / KW, tiles = (n + TALL - 1) / TALL;
    const int tile0 = (blockIdx.x * NW + column) * TILES, parts = gridDim.y;
    const int first = steps * blockIdx.y / parts, last = steps * (blockIdx.y + 1) / parts;

    // 1. Weights: who is behind the last piece, or the last step, has codes and scales of 0.
    uint4 codesOf[AHEAD][TILES];
    __half2 scaleOf[AHEAD][TILES];
    uchar2 zeroOf[AHEAD][TILES];
    const auto askWeights = [&](int a, int step) {
        const int piece = step * KW + share;
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            const size_t at = (size_t)min(tile0 + i, tiles - 1) * pieces + piece;
            const bool there = step < last && piece < pieces;
            codesOf[a][i] = there ? __ldcs(codes + at * 32 + lane) : uint4{0, 0, 0, 0};
            scaleOf[a][i] = there ? scales[at / 2 * 8 + g] : __float2half2_rn(0);
            zeroOf[a][i] = there ? zeros[at / 2 * 8 + g] : uchar2{0, 0};
        }
    };
    // 2. Rows of x. Chunks of 64 bytes change places in every other row: what eight lanes read at a
    // time
    //    are two rows' chunks, which so are in different banks.
    const auto askX = [&](int stage, int step) {
        for (int i = threadIdx.x; step < last && i < STAGE; i += THREADS) {
            const int row = i / LINE, c = i % LINE, at = step * KW * PIECE + c * 8;
            uint4 *to = memory + stage * STAGE + row * LINE + (c ^ row % 2 * 4);
            if (at < k)
                __pipeline_memcpy_async(to, x + (size_t)min(row, rows - 1) * k + at, 16);
            else
                *to = uint4{0, 0, 0, 0};
        }
        __pipeline_commit(); // an empty one counts as well
    };
    letTheNextBegin();
#pragma unroll
    for (int a = 0; a < AHEAD; a++) askWeights(a, first + a);
    waitForInputs();
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
            unsigned a[4][TILES][4];
            float2 scale[TILES];
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                const Zero zero(zeroOf[ahead][i].x), zero8(zeroOf[ahead][i].y);
                scale[i] = __half22float2(scaleOf[ahead][i]);
#pragma unroll
                for (int w = 0; w < 4; w++) {
                    const unsigned word = wordOf(codesOf[ahead][i], w);
                    a[w][i][0] = low(word, zero), a[w][i][1] = high(word, zero8);
                    a[w][i][2] = low(word >> 8, zero), a[w][i][3] = high(word >> 8, zero8);
                }
            }
            askWeights(ahead, step + AHEAD);
            const uint4 *from = memory + stage * STAGE + g * LINE + t;
            const int swap = g % 2 * 4;
#pragma unroll
            for (int wide = 0; wide < WIDE; wide++) {
                const uint4 *eight = from + wide * 8 * LINE;
                const uint4 b = eight[share * 8 ^ swap], b2 = eight[(share * 8 + 4) ^ swap];
#pragma unroll
                for (int i = 0; i < TILES; i++) {
                    float sum[4] = {};
                    mma_f16(sum, a[0][i], b.x, b.y);
                    mma_f16(sum, a[1][i], b.z, b.w);
                    mma_f16(sum, a[2][i], b2.x, b2.y);
                    mma_f16(sum, a[3][i], b2.z, b2.w);
#pragma unroll
                    for (int c = 0; c < 4; c++)
                        sums[i][wide][c] += (c < 2 ? scale[i].x : scale[i].y) * sum[c];
                }
            }
            stage = stage + 1 == STAGES ? 0 : stage + 1;
        }
    }

    // 4. The KW shares of a block are added in shared memory, and end in the first warps.
    float4 *shares = reinterpret_cast<float4 *>(memory) + column * TILES * WIDE * 32 + lane;
    const auto sum4 = [&](int i) -> float4 & {
        return reinterpret_cast<float4 &>(sums[i / WIDE][i % WIDE]);
    };
    __pipeline_wait_prior(0);
    __syncthreads(); // nobody reads x any more
#pragma unroll
    for (int i = 0; share > 0 && i < TILES * WIDE; i++)
        shares[((share - 1) * NW * TILES * WIDE + i) * 32] = sum4(i);
    __syncthreads(); // every share is there
    const auto add = [](float4 &a, const float4 &b) {
        a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w;
    };
    const auto put = [&](int i, const float4 &v) {
        const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const int output = (tile0 + i / WIDE) * TALL + g + c / 2 * 8;
            const int row = i % WIDE * 8 + 2 * t + c % 2;
            if (row < rows && output < n) y[(size_t)row * n + output] = __float2half_rn(four[c]);
        }
    };
    const size_t part =
        (size_t)gridDim.x * NW * TILES * WIDE * 32; // float4 that all blocks have of k's part
    float4 *found = reinterpret_cast<float4 *>(between) +
                    (size_t)(blockIdx.x * NW + column) * TILES * WIDE * 32 + lane;
#pragma unroll
    for (int i = 0; share == 0 && i < TILES * WIDE; i++) {
        for (int s = 0; s < KW - 1; s++) add(sum4(i), shares[(s * NW * TILES * WIDE + i) * 32]);
        if (parts == 1)
            put(i, sum4(i));
        else
            found[blockIdx.y * part + i * 32] = sum4(i);
    }
    if (parts == 1) return;

    // 5. The last of the blocks that share k adds what they found: the others' fences came before
    //    their counting.
    __shared__ bool isLast;
    __threadfence();
    __syncthreads(); // all of this block's is written, each before its fence; the count ends at 0
                     // again
    if (threadIdx.x == 0) isLast = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
    __syncthreads(); // everyone knows whether this block is the last
    if (!isLast) return;
    __threadfence();
    for (int i = share; i < TILES * WIDE; i += KW) {
        float4 all = found[i * 32];
        for (int p = 1; p < parts; p++) add(all, found[p * part + i * 32]);
        put(i, all);
    }
}

#define ROWS(NAME, NW, KW, TILES, WIDE, STAGES, AHEAD)                                             \
    extern "C" __global__ __launch_bounds__(NW *KW * 32) void NAME(                                \
        const __half *x, const uint4 *codes, const __half2 *scales, const uchar2 *zeros,           \
        __half *y, float *between, int rows, int k, int n) {                                       \
        multiply<NW, KW, TILES, WIDE, STAGES, AHEAD>(x, codes, scales, zeros, y, between, rows, k, \
                                                     n);                                           \
    }
ROWS(rows16, 4, 2, 1, 2, 4, 4)
ROWS(rows64, 4, 2, 2, 8, 4, 2)
