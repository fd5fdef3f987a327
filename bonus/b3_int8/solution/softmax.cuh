// The softmax of a tile's scores in hopper.cu, in the registers where wgmma left them.
//
// Includers define KEYS (of a tile) and DIM.
#pragma once

constexpr unsigned EVERYONE = 0xffffffff;

__device__ float power2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ uint32_t pack(float low, float high) {
    __half2 two = __floats2half2_rn(low, high);
    return *reinterpret_cast<uint32_t *>(&two);
}

// A warp has 16 of a warpgroup's rows. Of [64 x N] a thread holds, as number 4 * j + 2 * h + c, the
// element of row lane / 4 + 8 * h and column 8 * j + lane % 4 * 2 + c.
typedef float Scores[KEYS / 2];
typedef float Output[DIM / 2];

// What is known of the two rows that a thread has a part of. Probabilities are 2^(score - base):
// base is at most 8 less than the largest score so far, or -inf without any.
struct Rows {
    float base[2], sum[2], rescale[2]; // sum: of this thread's part
};

// Sums of codes' products become scores without their scales.
__device__ void toFloat(Scores &s, const int (&sums)[KEYS / 2]) {
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) s[i] = (float)sums[i];
}
// Scores become probabilities, whose two halves of the tile's keys have scales of their own. If it
// returns true, the output so far must be rescaled.
__device__ bool softmax(Scores &s, Rows &rows, float left, float right) {
    float largest[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float a = fmaxf(s[2 * h], s[2 * h + 1]);
        float b = fmaxf(s[KEYS / 4 + 2 * h], s[KEYS / 4 + 2 * h + 1]);
#pragma unroll
        for (int i = 2 * h + 4; i < KEYS / 4; i += 4) { // two chains: neither waits for the other
            a = fmaxf(a, fmaxf(s[i], s[i + 1]));
            b = fmaxf(b, fmaxf(s[KEYS / 4 + i], s[KEYS / 4 + i + 1]));
        }
        largest[h] = fmaxf(a * left, b * right);
    }
    for (int step = 1; step < 4; step *= 2)
        for (int h = 0; h < 2; h++)
            largest[h] = fmaxf(largest[h], __shfl_xor_sync(EVERYONE, largest[h], step));

    const bool grown =
        __any_sync(EVERYONE, largest[0] > rows.base[0] + 8 || largest[1] > rows.base[1] + 8);
    if (grown) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float base = fmaxf(rows.base[h], largest[h]);
            // A row without a key so far: -inf - -inf would be NaN.
            rows.rescale[h] = power2(rows.base[h] - (base == -INFINITY ? 0 : base));
            rows.base[h] = base;
            rows.sum[h] *= rows.rescale[h];
        }
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float base = rows.base[h] == -INFINITY ? 0 : rows.base[h];
        float sum = 0;
#pragma unroll
        for (int i = 2 * h; i < KEYS / 2; i += 4) {
            const float scale = i < KEYS / 4 ? left : right;
            s[i] = power2(fmaf(s[i], scale, -base));
            s[i + 1] = power2(fmaf(s[i + 1], scale, -base));
            sum += s[i] + s[i + 1];
        }
        rows.sum[h] += sum;
    }
    return grown;
}
// Hides the keys that a row does not see: row sees those below limit, row + 8 eight more.
__device__ void hide(Scores &s, int key, int seqK, int limit, int lane) {
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) {
        const int column = key + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (column >= min(seqK, limit + i / 2 % 2 * 8)) s[i] = -INFINITY;
    }
}
