// hopper.cu's softmax of a tile's scores: from the registers where wgmma left sums of codes, to
// those from which it takes probabilities.
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
typedef int Sums[KEYS / 2]; // of products of codes: exact as floats, too
typedef float Scores[KEYS / 2];
typedef uint32_t Probabilities[KEYS / 4]; // pairs of halves, as the next product takes them
typedef float Output[DIM / 2];

// The state of a thread's two rows. Probabilities are 2^(score - base), not yet divided by their
// sum, with scaled scores. base is -inf until the row has seen a key.
struct Rows {
    float base[2], sum[2], rescale[2]; // sum: of this thread's columns; the base is the whole row's
    // Scores are relative to this: -inf - -inf would be NaN.
    __device__ float reference(int h) const { return base[h] == -INFINITY ? 0 : base[h]; }
};

// Turns sums into scores. left and right scale the tile's first and second 64 keys: log2(e) /
// sqrt(DIM) and both blocks' scales.
__device__ void toScores(Scores &s, const Sums &sums, const Rows &rows, float left, float right) {
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++)
        s[i] = fmaf((float)sums[i], i < KEYS / 4 ? left : right, -rows.reference(i / 2 % 2));
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
// Searches for the largest score, and moves the bases if one is more than 8 above its own, so that
// rescaling is rare; or if it is a row's first. Then it returns true, for the whole warp: the
// caller must multiply the output so far by rows.rescale.
__device__ bool moveBases(Scores &s, Rows &rows) {
    float largest[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float a = s[2 * h], b = s[2 * h + 1]; // two chains: neither waits for the other
#pragma unroll
        for (int i = 2 * h + 4; i < KEYS / 2; i += 4) a = fmaxf(a, s[i]), b = fmaxf(b, s[i + 1]);
        largest[h] = fmaxf(a, b);
        for (int step = 1; step < 4; step *= 2)
            largest[h] = fmaxf(largest[h], __shfl_xor_sync(EVERYONE, largest[h], step));
    }
    const auto isFirst = [&](int h) { return rows.base[h] == -INFINITY; };
    const auto moves = [&](int h) { return largest[h] > (isFirst(h) ? -INFINITY : 8); };
    if (!__any_sync(EVERYONE, moves(0) || moves(1))) return false;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float by = isFirst(h) && largest[h] > -INFINITY ? largest[h] : fmaxf(largest[h], 0);
        rows.rescale[h] = isFirst(h) ? 0 : power2(-by);
        if (!isFirst(h) || largest[h] > -INFINITY) rows.base[h] = rows.reference(h) + by;
        rows.sum[h] *= rows.rescale[h];
#pragma unroll
        for (int i = 2 * h; i < KEYS / 2; i += i % 2 ? 3 : 1) s[i] -= by;
    }
    return true;
}
__device__ void exponentials(Probabilities &p, float (&sum)[2], const Scores &s) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float a = 0, b = 0;
#pragma unroll
        for (int i = 2 * h; i < KEYS / 2; i += 4) {
            const float x = power2(s[i]), y = power2(s[i + 1]);
            a += x, b += y;
            p[i / 2] = pack(x, y);
        }
        sum[h] = a + b;
    }
}
// Turns scores into probabilities. searched: keys may be hidden, or there is no base yet. Else it
// searches only if a row has outgrown its base, which is rare. True as from moveBases.
__device__ bool softmax(Probabilities &p, Scores &s, Rows &rows, bool searched) {
    constexpr float LARGE = 1 << 13; // a thread's sum bounds each term; a half goes up to 65,504
    bool grown = false;
    float sum[2];
    if (!searched) exponentials(p, sum, s);
    // A NaN among the scores makes the sum NaN, which the negated comparison rejects.
    const auto fits = [&](int h) { return sum[h] <= LARGE && rows.base[h] > -INFINITY; };
    if (searched || __any_sync(EVERYONE, !(fits(0) && fits(1)))) {
        grown = moveBases(s, rows);
        exponentials(p, sum, s);
    }
    rows.sum[0] += sum[0], rows.sum[1] += sum[1];
    return grown;
}
