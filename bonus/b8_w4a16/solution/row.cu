// One row, y = x Wᵀ, with weights of four bits as they are: (code - zero) * scale, in groups of 128
// along k. Nothing but the weights takes time, so they go straight into registers.
//
//   x       [k] of halves                     codes   [n, k / 2], the first of two in the low half
//   y       [n] of halves                     scales  [n, k / 128] of halves
//                                             zeros   [n, k / 128], the low half of a byte
//
// A file of CUDA is compiled by itself: codes become halves as in kernels.cu.

#include <cuda_fp16.h>
#include <early.h>
#include <tensorcore.h>

// ---- as in kernels.cu -----------------------------------------------------------------------

constexpr int GROUP = 128, TALL = 16; // numbers of a group along k, outputs of a tile

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

// ---- one row --------------------------------------------------------------------------------

// A block has TILES tiles of 16 outputs; its warps take groups of 128 numbers in turn. Each is
// asked for when the one before it has arrived. Earlier would not help, for whoever waits for one
// load of a loop waits for all. Lane 4g + t has the 32 numbers from 32t on, of outputs g and g + 8
// of each tile: 16 bytes each. The eight columns of the product are all the same. There are fewer
// than 2^30 weights, so 32 bits count them.
template <int WARPS, int TILES>
__device__ __forceinline__ void multiplyOne(const __half *x, const uint4 *codes,
                                            const __half *scales, const unsigned char *zeros,
                                            __half *y, int k, int n) {
    __shared__ float shares[WARPS][TILES * TALL];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int groups = k / GROUP, first = blockIdx.x * TILES * TALL;
    unsigned start[2 * TILES]; // of outputs g, g + 8, g + 16 ...: their first groups
#pragma unroll
    for (int i = 0; i < 2 * TILES; i++) start[i] = min(first + g + 8 * i, n - 1) * groups;
    struct Group {
        uint4 x[4], codes[2 * TILES];
        __half scale[2 * TILES];
        unsigned char zero[2 * TILES];
    } one, other;
    const auto askWeights = [&](Group &to, int group) {
#pragma unroll
        for (int i = 0; group < groups && i < 2 * TILES; i++) {
            const unsigned at = start[i] + group;
            to.codes[i] = __ldcs(codes + at * (GROUP / 32) + t);
            to.scale[i] = scales[at], to.zero[i] = zeros[at];
        }
    };
    const auto askX = [&](Group &to, int group) {
#pragma unroll
        for (int i = 0; group < groups && i < 4; i++)
            to.x[i] = reinterpret_cast<const uint4 *>(x + group * GROUP + t * 32)[i];
    };
    letTheNextBegin();
    askWeights(one, warp);
    waitForTheOneBefore();
    askX(one, warp);

    float sums[2 * TILES] = {};
    const auto step = [&](const Group &now, Group &next, int group) {
        // Codes that are 16 bits apart are numbers 0 and 4 of a word's eight, 1 and 5, 2 and 6,
        // 3 and 7. So are the numbers of x in a register.
        unsigned b[4][4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint4 v = now.x[i];
            b[i][0] = __byte_perm(v.x, v.z, 0x5410), b[i][1] = __byte_perm(v.x, v.z, 0x7632);
            b[i][2] = __byte_perm(v.y, v.w, 0x5410), b[i][3] = __byte_perm(v.y, v.w, 0x7632);
        }
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            const int o = 2 * tile; // and o + 1 is that of output g + 8
            const Zero zero(now.zero[o]), zero8(now.zero[o + 1]);
            float sum[4] = {};
#pragma unroll
            for (int i = 0; i < 8; i++) { // half words: numbers 0, 4, 1, 5 and 2, 6, 3, 7
                const unsigned word = wordOf(now.codes[o], i / 2) >> i % 2 * 8;
                const unsigned word8 = wordOf(now.codes[o + 1], i / 2) >> i % 2 * 8;
                const unsigned w[4] = {low(word, zero), low(word8, zero8), high(word, zero),
                                       high(word8, zero8)};
                mma_f16(sum, w, b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1]);
                if (tile == 0 && i == 0) // this product has waited for all that is there now
                    askX(next, group + WARPS), askWeights(next, group + WARPS);
            }
            sums[o] += __half2float(now.scale[o]) * sum[0];
            sums[o + 1] += __half2float(now.scale[o + 1]) * sum[2];
        }
    };
    for (int group = warp; group < groups; group += 2 * WARPS) {
        step(one, other, group);
        if (group + WARPS < groups) step(other, one, group + WARPS);
    }
#pragma unroll
    for (int i = 0; t == 0 && i < 2 * TILES; i++) shares[warp][g + 8 * i] = sums[i];
    __syncthreads(); // every warp's share is there
    if (threadIdx.x >= TILES * TALL || first + threadIdx.x >= n) return;
    float sum = 0;
    for (int w = 0; w < WARPS; w++) sum += shares[w][threadIdx.x];
    y[first + threadIdx.x] = __float2half_rn(sum);
}

#define ROW(NAME, WARPS, TILES)                                                                    \
    extern "C" __global__ __launch_bounds__(WARPS * 32) void NAME(                                 \
        const __half *x, const uint4 *codes, const __half *scales, const unsigned char *zeros,     \
        __half *y, int k, int n) {                                                                 \
        multiplyOne<WARPS, TILES>(x, codes, scales, zeros, y, k, n);                               \
    }
ROW(row_few, 16, 2) // for few outputs: a block for each processor
ROW(row_many, 8, 2)
