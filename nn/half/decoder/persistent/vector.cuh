// vector.cuh: vectors that blocks send each other, and their products with what a Stream brings.
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
__host__ __device__ constexpr int placesOf(int numbers) {
    return (numbers + 255) / 256 * 128;
}
__device__ void postPair(uint64_t *to, int pair, float a, float b, uint32_t tag) {
    const __half2 two = __floats2half2_rn(a, b);
    postBits(to + place(pair), *(const uint32_t *)&two, tag);
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
    // All that are missing are asked for at once, until none is.
    template <int IN> __device__ void receive(const uint64_t *from, uint32_t tag) {
        if (rowOfWarp<IN>() >= tall(IN)) return;
        const int lane = threadIdx.x % 32, first = segment<IN>() * SEGMENT;
        Two two[PIECES][2] = {};
        for (bool all = false; !all;) {
            all = true;
#pragma unroll
            for (int i = 0; i < 2 * PIECES; i++) {
                Two &it = two[i / 2][i % 2];
                const int number = first + 8 * (lane + 32 * (i / 2)) + 4 * (i % 2);
                if (has<IN>(i / 2) && !it.has(tag)) it.ask(from + place(number / 2));
            }
#pragma unroll
            for (int i = 0; i < 2 * PIECES; i++)
                all = all && (!has<IN>(i / 2) || two[i / 2][i % 2].has(tag));
        }
        Row row;
#pragma unroll
        for (int j = 0; j < PIECES; j++)
            row.at[j] = {two[j][0].bits(0), two[j][0].bits(1), two[j][1].bits(0),
                         two[j][1].bits(1)};
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

// --- Products

// Rows whose sums are kept until the block meets: whole chunks, and a multiple of 4.
__host__ __device__ constexpr int rowsOfRound(int in) {
    return SUMS / segments(in) / (4 * tall(in)) * (4 * tall(in));
}
static_assert(rowsOfRound(HIDDEN) > 0 && rowsOfRound(WIDTH) > 0 && rowsOfRound(MLP) > 0,
              "there is room for the sums of a round");

// Two chunks' rows that the warp multiplies next. They wait in registers for the vector: what comes
// behind its arrival is the time of a step, and this is before.
struct Rows {
    Row at[2];

    // The warp's of two chunks, the first of which begins with a row of so many; zeros where it has
    // none.
    template <int IN> __device__ void load(Stream &stream, int row, int rows) {
#pragma unroll
        for (int i = 0; i < 2; i++, row += tall(IN)) {
            at[i] = Row{};
            if (row >= rows) continue;
            const __half *chunk = stream.next();
            if (rowOfWarp<IN>() < min(tall(IN), rows - row))
                at[i].load<IN>(chunk + rowOfWarp<IN>() * IN + segment<IN>() * SEGMENT);
            stream.take();
        }
    }
};

// The sum of a row, of those of a round.
template <int IN> __device__ float sumOf(const float *sums, int row) {
    float sum = 0;
#pragma unroll
    for (int s = 0; s < segments(IN); s++) sum += sums[row * segments(IN) + s];
    return sum;
}

// So many rows times a vector [IN]: calls then(sums, first, count) for each round, behind a
// meeting, with the sums of rows first … first + count − 1. rows has the first two chunks'. sums
// has a half for each round in turn: who writes a half again has met those who read it.
template <int IN, class Then>
__device__ void product(Stream &stream, Rows &rows, const Vector &v, int all, float (*sums)[SUMS],
                        int &half, Then then) {
    const int lane = threadIdx.x % 32, row = rowOfWarp<IN>();
    for (int first = 0; first < all; first += rowsOfRound(IN)) {
        const int count = min(rowsOfRound(IN), all - first);
        float *to = sums[half ^= 1];
#pragma unroll 1
        for (int r = 0; r < count; r += 2 * tall(IN)) {
            if (first + r > 0) rows.load<IN>(stream, r, count);
            const float sum = sumOfEach(v.times(rows.at[0]), v.times(rows.at[1]));
            const int its = r + (lane < 16 ? 0 : tall(IN)) + row;
            if (lane % 16 == 0 && row < tall(IN) && its < count)
                to[its * segments(IN) + segment<IN>()] = sum;
        }
        meetBlock(); // all sums are there
        then(to, first, count);
    }
}

// The factor of a norm, from the squares of a vector [HIDDEN].
__device__ float scaleOf(const float *squares, float epsilon) {
    float sum = 0;
#pragma unroll
    for (int s = 0; s < segments(HIDDEN); s++) sum += squares[s];
    return rsqrtf(sum * (1.0f / HIDDEN) + epsilon);
}
