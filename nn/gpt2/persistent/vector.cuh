// vector.cuh: norms of vectors, and their products with what a Stream brings.
#pragma once

#include "mail.cuh"
#include "stream.cuh"

// --- Vectors

// A vector [N] whose numbers the block's threads share out: thread t has 2t, 2t + 1, and further
// ones after all threads had two.
template <int N> struct Spread {
    static constexpr int EACH = (N / 2 + THREADS - 1) / THREADS;
    float2 at[EACH];

    static __device__ int pair(int i) { return threadIdx.x + i * THREADS; }
    static __device__ bool has(int i) { return N / 2 % THREADS == 0 || pair(i) < N / 2; }

    // All that are missing are asked for at once, until none is: the last one to come is there a
    // single way to the L2 cache and back after it was posted.
    __device__ void receive(const uint64_t *from, uint32_t tag) {
        Two two[EACH] = {};
        for (bool all = false; !all;) {
            all = true;
#pragma unroll
            for (int i = 0; i < EACH; i++)
                if (has(i) && !two[i].has(tag)) two[i].ask(from + 2 * pair(i));
#pragma unroll
            for (int i = 0; i < EACH; i++) all = all && (!has(i) || two[i].has(tag));
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) at[i] = two[i].numbers();
    }
    __device__ void load(const float *from) { loadPairs((const float2 *)from); }
    // Pairs of floats, or of halves.
    template <class Type> __device__ void loadPairs(const Type *from) {
#pragma unroll
        for (int i = 0; i < EACH; i++) at[i] = has(i) ? numbers(from[pair(i)]) : make_float2(0, 0);
    }
    // For all of the block, behind its next barrier.
    __device__ void store(float *to) const {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (has(i)) ((float2 *)to)[pair(i)] = at[i];
    }
};

__device__ float sumOfWarp(float value) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

// What lane l holds of a vector [WIDTH], or of a row of weights: numbers 4 (l + 32 j) and so on.
template <class Type> struct Pieces {
    Type at[PIECES];

    // Whether there is a piece j, of so many numbers.
    static __device__ bool has(int j, int numbers) {
        return numbers == PIECES * 128 || 4 * (threadIdx.x % 32 + 32 * j) < numbers;
    }
    __device__ void load(const void *from, int numbers = WIDTH) {
#pragma unroll
        for (int j = 0; j < PIECES; j++)
            at[j] = has(j, numbers) ? ((const Type *)from)[threadIdx.x % 32 + 32 * j] : Type{};
    }
};
typedef Pieces<float4> Vector;
typedef Pieces<Four> Row;

// A lane's share of a product.
__device__ float times(const Vector &x, const Row &row) {
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int j = 0; j < PIECES; j++) {
        const float4 v = x.at[j], w = numbers(row.at[j]);
        sum.x = fmaf(w.x, v.x, sum.x), sum.y = fmaf(w.y, v.y, sum.y);
        sum.z = fmaf(w.z, v.z, sum.z), sum.w = fmaf(w.w, v.w, sum.w);
    }
    return sum.x + sum.y + (sum.z + sum.w);
}

// In pairs, so that no addition waits for many.
template <int N> __device__ float sumOf(float (&v)[N]) {
#pragma unroll
    for (int n = N; n > 1; n = (n + 1) / 2)
#pragma unroll
        for (int i = 0; i < n / 2; i++) v[i] += v[n - 1 - i];
    return v[0];
}

// A layer's norm. Gains and shifts are asked for early.
struct Norm {
    Spread<WIDTH> gain, shift;

    // x, normalised: to is in shared memory, for all of the block behind its next barrier. The
    // variance comes from differences from means: squares of x itself would lose precision if the
    // mean is large. Threads, then warps, put together what they have: squares around another mean
    // are more by the square of the difference, for each number. means is [WARPS].
    __device__ void apply(float *to, const Spread<WIDTH> &x, float2 *means, float epsilon) const {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        constexpr bool even = WIDTH / 2 % THREADS == 0; // then all threads have as many
        float mean = 0, squares = 0, have = even ? 2 * x.EACH : 0;
#pragma unroll
        for (int i = 0; i < x.EACH; i++) {
            mean += x.at[i].x + x.at[i].y; // zeros where it has none
            if (!even) have += x.has(i) ? 2 : 0;
        }
        mean = even ? mean * (0.5f / x.EACH) : mean / fmaxf(have, 1);
#pragma unroll
        for (int i = 0; i < x.EACH; i++) {
            const float a = x.at[i].x - mean, b = x.at[i].y - mean;
            if (x.has(i)) squares += a * a + b * b;
        }
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            const auto others = [&](float value) {
                return __shfl_xor_sync(0xffffffffu, value, lanes);
            };
            const float apart = others(mean) - mean, theirs = even ? have : others(have);
            const float part = even ? 0.5f : theirs / fmaxf(have + theirs, 1);
            squares = fmaf(apart * apart, have * part, squares + others(squares));
            mean = fmaf(apart, part, mean), have += theirs;
        }
        if (lane == 0) means[warp] = make_float2(mean, squares);
        meetBlock(); // means is there
        float all[WARPS];
#pragma unroll
        for (int w = 0; w < WARPS; w++) all[w] = means[w].x * ((float)count(w) / WIDTH);
        mean = sumOf(all);
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            const float apart = means[w].x - mean;
            all[w] = fmaf(apart * apart, count(w), means[w].y);
        }
        const float scale = rsqrtf(sumOf(all) * (1.0f / WIDTH) + epsilon);
        Spread<WIDTH> y;
#pragma unroll
        for (int i = 0; i < x.EACH; i++)
            y.at[i] = make_float2((x.at[i].x - mean) * scale * gain.at[i].x + shift.at[i].x,
                                  (x.at[i].y - mean) * scale * gain.at[i].y + shift.at[i].y);
        y.store(to);
    }
    // How many numbers a warp's threads have.
    static __device__ constexpr int count(int warp) {
        int sum = 0;
        for (int i = 0; i < Spread<WIDTH>::EACH; i++) {
            const int left = WIDTH - 64 * warp - 2 * THREADS * i;
            sum += left < 0 ? 0 : left < 64 ? left : 64;
        }
        return sum;
    }
};

// --- Products

// Segments of a row, of up to WIDTH floats: each is another warp's.
__host__ __device__ constexpr int segments(int in) {
    return (in + WIDTH - 1) / WIDTH;
}
constexpr int MOST = segments(INNER);
static_assert(MOST <= WARPS, "a row of the second matrix of the MLP has a warp for each segment");

// The segment of a vector [IN] that the thread's warp multiplies.
template <int IN> __device__ int segment() {
    return threadIdx.x / 32 % segments(IN);
}
template <int IN> __device__ int segmentFloats() {
    return IN % WIDTH == 0 ? WIDTH : min(WIDTH, IN - segment<IN>() * WIDTH);
}

// Who ends a product: a warp that has whole rows their sums, lanes 0 and 1 one row each; else warp
// 0 all of them, a lane for each row. This is the lane's row of a round, from r on in the first
// case.
template <int IN> __device__ int endedRow(int r) {
    const int lane = threadIdx.x % 32;
    return segments(IN) == 1 ? r + lane * WARPS : lane;
}
template <int IN> __device__ bool ends(int row, int rows) {
    return row < rows && (segments(IN) == 1 ? threadIdx.x % 32 < 2 : threadIdx.x < 32);
}
// The bias of the thread's first row: to be asked for early.
template <int IN> __device__ float firstOf(const float *bias, Share share) {
    const int row = endedRow<IN>(threadIdx.x / 32);
    return ends<IN>(row, share.last - share.first) ? bias[share.first + row] : 0;
}

// Rows that a round has, from one of the share on.
template <int IN> __device__ int rowsOfRound(Share share, int row) {
    return min(ROUND * tall(IN), share.last - row);
}

// Two rows of a matrix, or as many segments, that a warp multiplies next. They wait in registers
// for the vector: what comes behind its arrival is the time of a step, and this is before.
struct Rows {
    Row at[2];

    // Those of the stream that are not taken, from row r of a round on; zeros behind the last.
    template <int IN> __device__ void load(const Stream &stream, int r, int rows) {
        constexpr int GROUPS = WARPS / segments(IN);
#pragma unroll
        for (int i = 0; i < 2; i++, r += GROUPS) {
            at[i] = {};
            if (r < rows)
                at[i].load(stream.row<IN>(r) + segment<IN>() * WIDTH, segmentFloats<IN>());
        }
    }
    // The first that the warp has of a matrix.
    template <int IN> __device__ void loadFirst(const Stream &stream, Share share) {
        const int group = threadIdx.x / 32 / segments(IN);
        load<IN>(stream, group,
                 group < WARPS / segments(IN) ? rowsOfRound<IN>(share, share.first) : 0);
    }
};

// The block's rows times x, a warp's segment of a vector [IN]: calls then(row, sum + bias) for each
// row. rows has the warp's first, and early the first biases. sums is [2, 32, MOST], one half for
// each round in turn: who writes a half again has passed a barrier behind those who read it.
template <int IN, class Then>
__device__ void product(Stream &stream, Rows &rows, const Vector &x, Share share, const float *bias,
                        float early, float *sums, int &half, Then then) {
    constexpr int SEGMENTS = segments(IN), GROUPS = WARPS / SEGMENTS;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = warp / SEGMENTS;
    for (int first = share.first; first < share.last; first += ROUND * tall(IN)) {
        const int count = rowsOfRound<IN>(share, first);
        float *to = sums + (half ^= 1) * 32 * MOST;
        const auto end = [&](int row, bool held, float sum) {
            then(first + row, sum + (held ? early : bias ? bias[first + row] : 0));
        };
        // Two at a time, so that neither waits for the other's sums.
        const auto multiply = [&](int r, bool held) {
            const float sum = sumOfWarp(times(x, rows.at[0])),
                        sum2 = sumOfWarp(times(x, rows.at[1]));
            if (SEGMENTS == 1) {
                const int row = endedRow<IN>(r);
                if (ends<IN>(row, count)) end(row, held, lane == 0 ? sum : sum2);
            } else if (lane == 0 && group < GROUPS) {
                if (r < count) to[r * SEGMENTS + warp % SEGMENTS] = sum;
                if (r + GROUPS < count) to[(r + GROUPS) * SEGMENTS + warp % SEGMENTS] = sum2;
            }
        };
        int r = group;
        if (first == share.first) multiply(r, true), r += 2 * GROUPS;
#pragma unroll 1
        for (; r < count && group < GROUPS; r += 2 * GROUPS) {
            rows.load<IN>(stream, r, count);
            multiply(r, false);
        }
        meetBlock(); // all sums are there, and nobody reads these chunks any more
        stream.take((count + tall(IN) - 1) / tall(IN));
        if (SEGMENTS > 1 && ends<IN>(lane, count)) {
            float sum = 0;
#pragma unroll
            for (int s = 0; s < SEGMENTS; s++) sum += to[lane * SEGMENTS + s];
            end(lane, first == share.first, sum);
        }
    }
}

__device__ float gelu(float value) {
    const float u = 0.7978845608028654f * (value + 0.044715f * value * value * value);
    return value / (1.0f + expf(-2.0f * u));
}
