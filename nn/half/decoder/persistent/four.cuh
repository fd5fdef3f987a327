// four.cuh: products with weights of four bits, in groups of 128 numbers: (code - zero) * scale.
// It is bonus task b8's way for one row, by tensor cores, with weights from the ring.
#pragma once

#include "vector.cuh"

#include <tensorcore.h>

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

// A vector in shared memory, eight numbers at a time.
constexpr int LONGEST = MLP > HIDDEN ? (MLP > WIDTH ? MLP : WIDTH)
                                     : (HIDDEN > WIDTH ? HIDDEN : WIDTH);
struct Eights {
    Eight at[LONGEST / 8];
};

// A thread's eights of a vector [IN]: threadIdx.x, threadIdx.x + THREADS and so on.
template <int IN> struct Mine {
    static constexpr int EACH = (IN / 8 + THREADS - 1) / THREADS;
    Eight at[EACH];

    static __device__ int eight(int i) { return threadIdx.x + i * THREADS; }
    static __device__ bool has(int i) { return eight(i) < IN / 8; }

    __device__ void load(const __half *from) {
#pragma unroll
        for (int i = 0; i < EACH; i++) at[i] = has(i) ? ((const Eight *)from)[eight(i)] : Eight{};
    }
    __device__ void receive(const uint64_t *from, uint32_t tag) {
        receiveEights(at, from, tag, has, [](int i) { return 8 * eight(i); });
    }
    // Squares of all, and each times its gain.
    __device__ float norm(const Mine &gains) {
        float squares = 0;
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int p = 0; p < 4; p++) {
                const float2 v = at[i].two(p), g = gains.at[i].two(p);
                squares += v.x * v.x + v.y * v.y;
                at[i].pairs[p] = bitsOf(__floats2half2_rn(v.x * g.x, v.y * g.y));
            }
        return squares;
    }
    __device__ void store(Eights &to) const {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (has(i)) to.at[eight(i)] = at[i];
    }
};

// Adds a group of a tile to the sums of outputs g and g + 8, where the lane is 4g + t. A word has
// four numbers of each, so it is all that a product takes. x has the group's 16 eights.
__device__ void addGroup(float (&sum)[2], const __half *chunk, int group, const Eight *x) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const char *codes = (const char *)chunk, *scales = codes + GROUPS * CODES,
               *zeros = scales + GROUPS * SCALES;
    const Eight piece[2] = {((const Eight *)(codes + group * CODES))[lane],
                            ((const Eight *)(codes + group * CODES))[32 + lane]};
    const uint16_t zero = ((const uint16_t *)(zeros + group * ZEROS))[g];
    const float2 scale = __half22float2(((const __half2 *)(scales + group * SCALES))[g]);
    const Zero ofLow(zero), ofHigh(zero >> 8);
    float part[2][4] = {}; // two chains; the eight columns of a product are all the same
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const Eight v = x[i * 4 + t];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const uint32_t word = piece[i / 2].pairs[i % 2 * 2 + half];
            const uint32_t w[4] = {low(word, ofLow), high(word, ofHigh), low(word >> 8, ofLow),
                                   high(word >> 8, ofHigh)};
            mma_f16(part[half], w, v.pairs[2 * half], v.pairs[2 * half + 1]);
        }
    }
    sum[0] = fmaf(scale.x, part[0][0] + part[1][0], sum[0]);
    sum[1] = fmaf(scale.y, part[0][2] + part[1][2], sum[1]);
}

// As timesHalves, with weights of four bits; x is for this alone.
template <int IN, bool NORM, class Then>
__device__ void timesFour(Stream &stream, Source source, int all, Shared &shared, Eights &x,
                          float epsilon, Then then) {
    constexpr int ROUND = SUMS / (WARPS * TILE) * 2 * TILE; // rows whose sums there is room for
    static_assert(ROUND > 0 && IN % GROUP == 0, "whole groups, of two tiles at least");
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float *sums = shared.sums[0]; // [ROUND / TILE, WARPS, TILE]
    Mine<IN> gains, mine;
    if (NORM) gains.load(source.gains);
    mine.receive(source.sent, source.tag);
    if (NORM) {
        const float squares = sumOfWarp(mine.norm(gains));
        if (lane == 0) shared.squares[warp] = squares;
    }
    mine.store(x);
    meetBlock(); // x is there
    for (int first = 0; first < all; first += ROUND) {
        const int count = min(ROUND, all - first);
#pragma unroll 1
        for (int tile = 0; tile * TILE < count; tile++) {
            float sum[2] = {};
#pragma unroll 1
            for (int from = 0; from < IN / GROUP; from += GROUPS) {
                const __half *chunk = stream.next();
                // Who has a group more than others is another warp in each tile.
                for (int group = (warp + 5 * tile) % WARPS; group < min(GROUPS, IN / GROUP - from);
                     group += WARPS)
                    addGroup(sum, chunk, group, x.at + (from + group) * 16);
                stream.take();
            }
            if (lane % 4 == 0) {
                float *to = sums + (tile * WARPS + warp) * TILE + lane / 4;
                to[0] = sum[0], to[8] = sum[1];
            }
        }
        meetBlock(); // all sums are there
        const float scale = NORM ? scaleOf(shared.squares, WARPS, epsilon) : 1.0f;
        then(
            [&](int i) {
                float sum = 0;
#pragma unroll
                for (int w = 0; w < WARPS; w++)
                    sum += sums[(i / TILE * WARPS + w) * TILE + i % TILE];
                return scale * sum;
            },
            first, count);
        if (first + ROUND < all) meetBlock(); // nobody reads sums any more
    }
}
