// hopper.cu's softmax of a tile's scores, in the registers where wgmma left them.
//
// The including file defines KEYS (the keys of a tile) and DIM.
#pragma once

constexpr unsigned EVERYONE = 0xffffffff;

__device__ float power2(float x) { // 2^x; 0 for -inf
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ uint32_t pack(float low, float high) {
    __half2 two = __floats2half2_rn(low, high);
    return *reinterpret_cast<uint32_t *>(&two);
}

// A warp has 16 of a warpgroup's 64 rows; each thread has parts of two of them, h = 0 and 1. Its
// number 4 * j + 2 * h + c is the element in the warp's row lane / 4 + 8 * h and in column
// 8 * j + lane % 4 * 2 + c.
typedef float Scores[KEYS / 2];
typedef float Output[DIM / 2];

// The state of a thread's two rows. Probabilities are 2^(score - base), not yet divided by their
// sum, with scaled scores. base is -inf until the row has seen a key. Later no score so far is more
// than 8 above it: a probability is at most 2^8, which fits into a half.
struct Rows {
    float base[2], sum[2], rescale[2]; // sum: of this thread's columns; the base is the whole row's
};

// Turns sums of products of codes into scores, not yet scaled: exact, below 2^24.
__device__ void toFloat(Scores &s, const int (&sums)[KEYS / 2]) {
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) s[i] = (float)sums[i];
}
// Turns scores, not yet scaled, into probabilities. left and right scale the tile's first and
// second 64 keys: log2(e) / sqrt(DIM) and both blocks' scales. If it returns true, for the whole
// warp, the caller must multiply the output so far by rows.rescale.
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
        largest[h] = fmaxf(a * left, b * right); // only scaled scores compare: a scale is positive
    }
    for (int step = 1; step < 4; step *= 2)
        for (int h = 0; h < 2; h++)
            largest[h] = fmaxf(largest[h], __shfl_xor_sync(EVERYONE, largest[h], step));

    // The base moves only for a probability above 2^8, so rescaling is rare. The first key always
    // moves it: any score is above -inf + 8.
    const bool grown =
        __any_sync(EVERYONE, largest[0] > rows.base[0] + 8 || largest[1] > rows.base[1] + 8);
    if (grown) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float base = fmaxf(rows.base[h], largest[h]);
            // If the row still has no key, -inf - -inf would be NaN. If this is its first, rescale
            // is 2^-inf = 0.
            rows.rescale[h] = power2(rows.base[h] - (base == -INFINITY ? 0 : base));
            rows.base[h] = base;
            rows.sum[h] *= rows.rescale[h];
        }
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        // Without a key all scores are -inf: less 0, their probabilities are 0, not NaN.
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
// Hides the keys that a row does not see. A thread's first row sees the keys below limit, its
// second, eight rows down, eight more; neither sees any from seqK on. key: the tile's first.
__device__ void hide(Scores &s, int key, int seqK, int limit, int lane) {
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) {
        const int column = key + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (column >= min(seqK, limit + i / 2 % 2 * 8)) s[i] = -INFINITY;
    }
}
