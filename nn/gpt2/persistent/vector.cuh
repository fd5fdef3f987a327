// vector.cuh: vectors [WIDTH] in registers, and their products with what a Stream brings.
#pragma once

#include "mail.cuh"

// --- Vectors [WIDTH], of which each warp has a copy: lane l holds floats 4 (l + 32 j) and so on.

__device__ float sumOfWarp(float value) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

struct Vector {
    float4 at[PIECES];

    // Whether there is a piece j, of so many floats.
    static __device__ bool has(int j, int floats) {
        return floats == PIECES * 128 || 4 * (threadIdx.x % 32 + 32 * j) < floats;
    }
    __device__ void load(const float *from, int floats = WIDTH) {
#pragma unroll
        for (int j = 0; j < PIECES; j++)
            at[j] = has(j, floats) ? ((const float4 *)from)[threadIdx.x % 32 + 32 * j]
                                   : make_float4(0, 0, 0, 0);
    }
    // A lane's share of the product with floats in shared memory.
    __device__ float times(const float *w, int floats) const {
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
        for (int j = 0; j < PIECES; j++) {
            if (!has(j, floats)) continue;
            const float4 v = ((const float4 *)w)[threadIdx.x % 32 + 32 * j];
            sum.x = fmaf(v.x, at[j].x, sum.x), sum.y = fmaf(v.y, at[j].y, sum.y);
            sum.z = fmaf(v.z, at[j].z, sum.z), sum.w = fmaf(v.w, at[j].w, sum.w);
        }
        return sum.x + sum.y + (sum.z + sum.w);
    }
};

// A layer's norm. Gains and shifts are asked for early.
struct Norm {
    Spread<WIDTH> gain, shift;

    // x, normalised: to is in shared memory, for all of the block behind its next barrier. The
    // variance comes from differences from the mean: squares of x itself would lose precision if
    // the mean is large. Each warp has a mean and squares of its own; squares around another mean
    // are more by the square of the difference, for each number. means is [WARPS].
    __device__ void apply(float *to, const Spread<WIDTH> &x, float2 *means, float epsilon) const {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        float sum = 0, squares = 0;
#pragma unroll
        for (int i = 0; i < x.EACH; i++) sum += x.at[i].x + x.at[i].y; // zeros where it has none
        constexpr bool even = WIDTH / 2 % THREADS == 0;                // then it is a constant
        const float mine = sumOfWarp(sum) * (even ? 1.0f / count(0) : 1.0f / max(count(warp), 1));
#pragma unroll
        for (int i = 0; i < x.EACH; i++) {
            const float a = x.at[i].x - mine, b = x.at[i].y - mine;
            if (x.has(i)) squares += a * a + b * b;
        }
        squares = sumOfWarp(squares);
        if (lane == 0) means[warp] = make_float2(mine, squares);
        meetBlock(); // means is there
        float mean = 0, all = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) mean = fmaf(means[w].x, (float)count(w) / WIDTH, mean);
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            const float apart = means[w].x - mean;
            all += fmaf(apart * apart, count(w), means[w].y);
        }
        const float scale = 1.0f / sqrtf(all / WIDTH + epsilon);
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

// The biases of the block's first rows, in warp 0: to be asked for early.
__device__ float firstOf(const float *bias, Share share) {
    const int row = share.first + threadIdx.x;
    return threadIdx.x < 32 && row < share.last ? bias[row] : 0;
}

// The block's rows times x, a warp's segment of a vector [IN]: warp 0 calls then(row, sum + bias),
// a lane for each row. early has the first biases. sums is [2, 32, MOST], one half for each round
// in turn: who writes a half again has passed a barrier behind those who read it.
template <int IN, class Then>
__device__ void product(Stream &stream, const Vector &x, Share share, const float *bias,
                        float early, float *sums, int &half, Then then) {
    constexpr int SEGMENTS = segments(IN), GROUPS = WARPS / SEGMENTS, TALL = tall(IN);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = warp / SEGMENTS;
    const int from = segment<IN>() * WIDTH, floats = segmentFloats<IN>();
    for (int row = share.first; row < share.last; row += ROUND * TALL) {
        const int count = min(ROUND * TALL, share.last - row);
        const bool more = bias && row > share.first && warp == 0 && lane < count;
        const float add = more ? bias[row + lane] : row == share.first ? early : 0;
        float *to = sums + (half ^= 1) * 32 * MOST;
        // Two rows at a time, so that neither waits for the other's sums.
#pragma unroll 1
        for (int r = group; r < count && group < GROUPS; r += 2 * GROUPS) {
            const int other = r + GROUPS;
            float sum = x.times(stream.row<IN>(r) + from, floats), sum2 = 0;
            if (other < count) sum2 = x.times(stream.row<IN>(other) + from, floats);
            sum = sumOfWarp(sum), sum2 = sumOfWarp(sum2);
            if (lane == 0) to[r * SEGMENTS + warp % SEGMENTS] = sum;
            if (lane == 0 && other < count) to[other * SEGMENTS + warp % SEGMENTS] = sum2;
        }
        meetBlock(); // all sums are there, and nobody reads these chunks any more
        stream.take((count + TALL - 1) / TALL);
        if (warp == 0 && lane < count) {
            float sum = 0;
#pragma unroll
            for (int s = 0; s < SEGMENTS; s++) sum += to[lane * SEGMENTS + s];
            then(row + lane, sum + add);
        }
    }
}

__device__ float gelu(float value) {
    const float u = 0.7978845608028654f * (value + 0.044715f * value * value * value);
    return value / (1.0f + expf(-2.0f * u));
}
