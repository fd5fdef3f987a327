// halves.cuh: products with weights in halves.
#pragma once

#include "vector.cuh"

// Rows whose sums are kept until the block meets: whole chunks, and a multiple of 4.
__host__ __device__ constexpr int rowsOfRound(int in) {
    return SUMS / segments(in) / (4 * tall(in)) * (4 * tall(in));
}
static_assert(rowsOfRound(HIDDEN) > 0 &&
                  (BITS == 4 || (rowsOfRound(WIDTH) > 0 && rowsOfRound(MLP) > 0)),
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

// So many rows, which a Stream brings, times a vector [IN]: calls then(sumOf, first, count) for
// each round, behind a meeting; sumOf(i) is that of row first + i, of the rows first … first +
// count − 1. shared's sums have a half for each round in turn: who writes a half again has met
// those who read it.
template <int IN, bool NORM, class Then>
__device__ void timesHalves(Stream &stream, Source source, int all, Shared &shared, int &half,
                            float epsilon, Then then) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = rowOfWarp<IN>();
    Rows rows;
    rows.load<IN>(stream, 0, all);
    Row gains;
    if (NORM) gains.load<IN>(source.gains + segment<IN>() * SEGMENT);
    Vector v = {}; // a warp without a row receives nothing
    v.receive<IN>(source.sent, source.tag);
    if (NORM) {
        const float sum = sumOfWarp(v.squares());
        if (lane == 0 && warp < segments(IN)) shared.squares[warp] = sum;
        v.scale(gains);
    }
    for (int first = 0; first < all; first += rowsOfRound(IN)) {
        const int count = min(rowsOfRound(IN), all - first);
        float *to = shared.sums[half ^= 1];
#pragma unroll 1
        for (int r = 0; r < count; r += 2 * tall(IN)) {
            if (first + r > 0) rows.load<IN>(stream, r, count);
            const float sum = sumOfEach(v.times(rows.at[0]), v.times(rows.at[1]));
            const int its = r + (lane < 16 ? 0 : tall(IN)) + row;
            if (lane % 16 == 0 && row < tall(IN) && its < count)
                to[its * segments(IN) + segment<IN>()] = sum;
        }
        meetBlock(); // all sums are there
        const float scale = NORM ? scaleOf(shared.squares, segments(IN), epsilon) : 1.0f;
        then(
            [&](int i) {
                float sum = 0;
#pragma unroll
                for (int s = 0; s < segments(IN); s++) sum += to[i * segments(IN) + s];
                return scale * sum;
            },
            first, count);
    }
}
