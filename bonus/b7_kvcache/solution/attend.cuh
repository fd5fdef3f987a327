// Attention of a warp's queries with one tile of keys and values: scores, a step of the online
// softmax, weighted values. Products are on tensor cores, of halves, with sums in float32.

#pragma once

#include "tile.cuh"
#include <split.h>
#include <tensorcore.h>

constexpr unsigned EVERYONE = 0xffffffff;

// Two numbers rounded, in one register.
__device__ uint32_t pack(float low, float high) {
    return bits(__floats2half2_rn(low, high));
}

// 2^x, where less than 2^-126 is 0.
__device__ float power(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// What a warp knows. Lane l has head l / 4's queries, largest score (in units of log2) and part of
// the sum of weights; and of heads l % 4 * 2 and + 1 numbers l / 4 * DIM / 8 and on of the output.
struct State {
    uint32_t query[DIM / 16][2];
    float o[DIM / 16][4], largest, sum;
};

// Scores of keys 8 * i + 0 to 7 in s[i]: [heads x keys], of which only 8 rows are there.
__device__ void scores(float (&s)[4][4], const State &is, const unsigned char *tile) {
    const int lane = threadIdx.x % 32, column = lane % 4 * (DIM / 4);
    uint32_t codes[4][DIM / 32 * WORDS];
    for (int i = 0; i < 4; i++)
        take(codes[i], tile + 8 * i * ROW, place(lane / 4 * ROW + lane % 4 * (ROW / 4)));
#pragma unroll
    for (int e = 0; e < DIM / 32; e++) {
        uint32_t scale[4], low[4]; // of 8 channels, for all keys of the group
        if (BITS == 4) {
            const unsigned char *from = tile + OF_K + (column + 8 * e) * 2;
            order(scale, *reinterpret_cast<const uint4 *>(from));
            order(low, *reinterpret_cast<const uint4 *>(from + CHANNELS));
        }
        for (int i = 0; i < 4; i++) {
            __half2 p[4];
            pairs(p, codes[i] + e * WORDS);
            for (int j = 0; BITS == 4 && j < 4; j++)
                p[j] = __hfma2(p[j], halves(scale[j]), halves(low[j]));
            for (int j = 0; j < 2; j++) {
                const uint32_t a[4] = {is.query[2 * e + j][0], 0, is.query[2 * e + j][1], 0};
                mma_f16(s[i], a, bits(p[2 * j]), bits(p[2 * j + 1]));
            }
        }
    }
    // 8 bits: a key's scale is a factor of its score.
    for (int i = 0; BITS == 8 && i < 4; i++) {
        const unsigned char *from = tile + SCALES + TOKENS + (8 * i + lane % 4 * 2) * 2;
        const float2 scale = __half22float2(*reinterpret_cast<const __half2 *>(from));
        s[i][0] *= scale.x, s[i][1] *= scale.y;
    }
}

// One step of the online softmax: four lanes share a head. The weights are rounded, two a register:
// those of keys 8 * i + lane % 4 * 2 and + 1 in weights[i].
__device__ void soften(uint32_t (&weights)[4], State &is, const float (&s)[4][4], float scale) {
    const int lane = threadIdx.x % 32;
    float most = s[0][0];
    for (int i = 0; i < 8; i++) most = fmaxf(most, s[i / 2][i % 2]);
    most = fmaxf(is.largest, largestOf<4>(most * scale));
    const float rescale = power(is.largest - base(most));
    is.largest = most;
    is.sum *= rescale;
    for (int i = 0; i < 4; i++) {
        const float x = power(fmaf(s[i][0], scale, -base(most)));
        const float y = power(fmaf(s[i][1], scale, -base(most)));
        is.sum += x + y;
        weights[i] = pack(x, y);
    }
    if (__all_sync(EVERYONE, rescale == 1)) return; // which it is most of the time
    const float first = __shfl_sync(EVERYONE, rescale, lane % 4 * 8);
    const float second = __shfl_sync(EVERYONE, rescale, lane % 4 * 8 + 4);
    for (int j = 0; j < DIM / 16; j++) {
        is.o[j][0] *= first, is.o[j][1] *= second;
        is.o[j][2] *= first, is.o[j][3] *= second;
    }
}

// Weighted values of 16 keys, of 8 numbers: p and r are pairs of keys, one for each number.
__device__ void gather(State &is, int e, const __half2 (&p)[8], const __half2 (&r)[8],
                       const uint32_t *weights) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
        const uint32_t a[4] = {bits(p[2 * c]), bits(p[2 * c + 1]), bits(r[2 * c]),
                               bits(r[2 * c + 1])};
        mma_f16(is.o[4 * e + c], a, weights[0], weights[1]);
    }
}

__device__ void values(State &is, const unsigned char *tile, const uint32_t (&weights)[4]) {
    const int lane = threadIdx.x % 32;
    constexpr int EIGHTS = DIM / 64; // of a lane
#pragma unroll
    for (int m = 0; m < 2; m++) {
        uint32_t codes[2][2][EIGHTS * WORDS]; // of keys 8 * i + lane % 4 * 2 and + 1
        __half2 scale[2], low[2];
        for (int i = 0; i < 2; i++) {
            const int key = 16 * m + 8 * i + lane % 4 * 2;
            for (int j = 0; j < 2; j++)
                take(codes[i][j], tile + CODES + (16 * m + 8 * i) * ROW,
                     place((lane % 4 * 2 + j) * ROW + lane / 4 * (ROW / 8)));
            scale[i] = *reinterpret_cast<const __half2 *>(tile + SCALES + key * 2);
            if (BITS == 4)
                low[i] = *reinterpret_cast<const __half2 *>(tile + SCALES + TOKENS + key * 2);
        }
        for (int e = 0; e < EIGHTS; e++) {
            __half2 p[2][8];
            for (int i = 0; i < 2; i++) {
                both(p[i], codes[i][0] + e * WORDS, codes[i][1] + e * WORDS);
                for (int c = 0; c < 8; c++)
                    p[i][c] =
                        BITS == 4 ? __hfma2(p[i][c], scale[i], low[i]) : __hmul2(p[i][c], scale[i]);
            }
            gather(is, e, p[0], p[1], weights + 2 * m);
        }
    }
}

// The open group's tokens are halves, there of them. A row that is not there is zeros.
__device__ uint4 eight(const __half *open, int token, int number, int there) {
    const uint4 none = {0, 0, 0, 0};
    return token < there ? *reinterpret_cast<const uint4 *>(open + token * DIM + number) : none;
}
#if BITS == 4
__device__ void openScores(float (&s)[4][4], const State &is, const __half *k, int there) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int e = 0; e < DIM / 32; e++)
        for (int i = 0; i < 4; i++) {
            uint32_t p[4];
            order(p, eight(k, 8 * i + lane / 4, lane % 4 * (DIM / 4) + 8 * e, there));
            for (int j = 0; j < 2; j++) {
                const uint32_t a[4] = {is.query[2 * e + j][0], 0, is.query[2 * e + j][1], 0};
                mma_f16(s[i], a, p[2 * j], p[2 * j + 1]);
            }
        }
}
__device__ void openValues(State &is, const __half *v, int there, const uint32_t (&weights)[4]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int m = 0; m < 2; m++)
        for (int e = 0; e < DIM / 64; e++) {
            __half2 p[2][8];
            for (int i = 0; i < 2; i++) {
                const int key = 16 * m + 8 * i + lane % 4 * 2,
                          number = lane / 4 * (DIM / 8) + 8 * e;
                const uint4 a = eight(v, key, number, there), b = eight(v, key + 1, number, there);
                const uint32_t x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w};
                for (int c = 0; c < 4; c++) {
                    p[i][2 * c] = halves(__byte_perm(x[c], y[c], 0x5410));
                    p[i][2 * c + 1] = halves(__byte_perm(x[c], y[c], 0x7632));
                }
            }
            gather(is, e, p[0], p[1], weights + 2 * m);
        }
}
#endif

// Keys behind the last one have no weight.
__device__ void hide(float (&s)[4][4], int there) {
    for (int i = 0; i < 8; i++)
        if (i / 2 * 8 + threadIdx.x % 4 * 2 + i % 2 >= there) s[i / 2][i % 2] = -INFINITY;
}
