// vector.cuh: vectors that blocks send each other, and norms.
#pragma once

#include "mail.cuh"
#include "stream.cuh"

// --- Vectors

// Eight halves, in pairs: 16 bytes.
struct __align__(16) Eight {
    uint32_t pairs[4];

    __device__ float2 two(int pair) const {
        return __half22float2(*(const __half2 *)&pairs[pair]);
    }
};

// Lane l has the numbers 8 (l + 32 j) and so on of a segment, in pieces j of eight.
constexpr int PIECES = (SEGMENT + 255) / 256;

// The warp's segment of a vector [IN], or of a row: which one, and how many numbers it has.
template <int IN> __device__ int segment() {
    return threadIdx.x / 32 % segments(IN);
}
template <int IN> __device__ int numbers() {
    return IN % SEGMENT == 0 ? SEGMENT : min(SEGMENT, IN - segment<IN>() * SEGMENT);
}
template <int IN> __device__ bool has(int piece) {
    return IN % SEGMENT == 0 && SEGMENT % 256 == 0 ||
           8 * (threadIdx.x % 32 + 32 * piece) < numbers<IN>();
}
// Which of a chunk's rows the warp has a segment of; there may be no such row.
template <int IN> __device__ int rowOfWarp() {
    return threadIdx.x / 32 / segments(IN);
}

// Where a pair of numbers is sent: so that lanes side by side ask for words side by side, the first
// four numbers of each lane's eight come before all others.
__device__ int place(int pair) {
    return (pair & ~127) | (pair & 2) << 5 | (pair >> 1 & 62) | (pair & 1);
}
__device__ void postPair(uint64_t *to, int pair, float a, float b, uint32_t tag) {
    const __half2 two = __floats2half2_rn(a, b);
    postBits(to + place(pair), *(const uint32_t *)&two, tag);
}

// A thread's eights of a vector that blocks sent: of those it has, number i is the eight(i)-th of
// the vector. All that are missing are asked for at once, until none is.
template <int N, class Has, class First>
__device__ void receiveEights(Eight (&at)[N], const uint64_t *from, uint32_t tag, Has has,
                              First first) {
    Two two[N][2] = {};
    for (bool all = false; !all;) {
        all = true;
#pragma unroll
        for (int i = 0; i < 2 * N; i++) {
            Two &it = two[i / 2][i % 2];
            if (has(i / 2) && !it.has(tag)) it.ask(from + place((first(i / 2) + 4 * (i % 2)) / 2));
        }
#pragma unroll
        for (int i = 0; i < 2 * N; i++) all = all && (!has(i / 2) || two[i / 2][i % 2].has(tag));
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        at[i] = {two[i][0].bits(0), two[i][0].bits(1), two[i][1].bits(0), two[i][1].bits(1)};
}

// Eight halves for each piece: of a row of weights, or of a norm's gains.
struct Row {
    Eight at[PIECES];

    template <int IN> __device__ void load(const __half *from) {
#pragma unroll
        for (int j = 0; j < PIECES; j++)
            at[j] = has<IN>(j) ? ((const Eight *)from)[threadIdx.x % 32 + 32 * j] : Eight{};
    }
};

// The warp's segment of a vector [IN].
struct Vector {
    float at[PIECES][8];

    __device__ void set(const Row &row) {
#pragma unroll
        for (int j = 0; j < PIECES; j++)
#pragma unroll
            for (int p = 0; p < 4; p++) {
                const float2 v = row.at[j].two(p);
                at[j][2 * p] = v.x, at[j][2 * p + 1] = v.y;
            }
    }
    template <int IN> __device__ void receive(const uint64_t *from, uint32_t tag) {
        if (rowOfWarp<IN>() >= tall(IN)) return;
        const int lane = threadIdx.x % 32, first = segment<IN>() * SEGMENT;
        Row row;
        receiveEights(
            row.at, from, tag, [](int j) { return has<IN>(j); },
            [=](int j) { return first + 8 * (lane + 32 * j); });
        set(row);
    }
    __device__ float squares() const {
        float sum = 0;
#pragma unroll
        for (int j = 0; j < PIECES; j++)
#pragma unroll
            for (int e = 0; e < 8; e++) sum = fmaf(at[j][e], at[j][e], sum);
        return sum;
    }
    __device__ void scale(const Row &by) {
        Vector gain;
        gain.set(by);
#pragma unroll
        for (int j = 0; j < PIECES; j++)
#pragma unroll
            for (int e = 0; e < 8; e++) at[j][e] *= gain.at[j][e];
    }
    // A lane's share of a product.
    __device__ float times(const Row &row) const {
        Vector w;
        w.set(row);
        float sum[4] = {}; // no addition waits for all before it
#pragma unroll
        for (int j = 0; j < PIECES; j++)
#pragma unroll
            for (int e = 0; e < 8; e++) sum[e % 4] = fmaf(at[j][e], w.at[j][e], sum[e % 4]);
        return sum[0] + sum[1] + (sum[2] + sum[3]);
    }
};

__device__ float sumOfWarp(float value) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}
// Two sums over the warp at once: lanes 0 … 15 get a's, the others b's.
__device__ float sumOfEach(float a, float b) {
    const bool low = threadIdx.x % 32 < 16;
    float value = (low ? a : b) + __shfl_xor_sync(0xffffffffu, low ? b : a, 16);
#pragma unroll
    for (int lanes = 8; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

// A norm's factor, from the squares of a vector [HIDDEN], which warps have added up.
__device__ float scaleOf(const float *squares, int warps, float epsilon) {
    float sum = 0;
    for (int w = 0; w < warps; w++) sum += squares[w];
    return rsqrtf(sum * (1.0f / HIDDEN) + epsilon);
}

// What a product multiplies by: a vector that blocks sent with a tag, times a norm's gains, if
// there are any.
struct Source {
    const uint64_t *sent;
    uint32_t tag;
    const __half *gains = 0;
};

// What warps of a block tell each other in products: sums, and the squares of their numbers.
struct Shared {
    float sums[2][SUMS], squares[WARPS];
};
