// The softmax of a tile's scores in hopper.cu, in the registers where wgmma left them.
//
// Includers define Half, KEYS (of a tile) and DIM.
#pragma once

constexpr unsigned EVERYONE = 0xffffffff;

__device__ float power2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ uint32_t pack(float low, float high) {
#ifdef BRAIN
    __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
#else
    __half2 two = __floats2half2_rn(low, high);
#endif
    return *reinterpret_cast<uint32_t *>(&two);
}

// d [16 x 8] += a [16 x 16] * b [16 x 8].
__device__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#ifdef BRAIN
    mma_bf16(d, a, b0, b1);
#else
    mma_f16(d, a, b0, b1);
#endif
}

// A warp has 16 of a warpgroup's rows. Of [64 x N] a thread holds, as number 4 * j + 2 * h + c, the
// element of row lane / 4 + 8 * h and column 8 * j + lane % 4 * 2 + c.
typedef float Scores[KEYS / 2];
typedef float Output[DIM / 2];

// What is known of the two rows that a thread has a part of. Probabilities are 2^(score - base):
// base is -inf without a key so far, else at least the largest score so far less 13.
struct Rows {
    float base[2], sum[2], rescale[2]; // sum: of this thread's part
};

// Scores become probabilities. If it returns true, the output so far must be rescaled.
__device__ bool softmax(Scores &s, Rows &rows, float scale) {
    float largest[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float a = fmaxf(s[2 * h], s[2 * h + 1]), b = fmaxf(s[2 * h + 4], s[2 * h + 5]);
#pragma unroll
        for (int i = 2 * h + 8; i < KEYS / 2; i += 8) { // two chains: neither waits for the other
            a = fmaxf(a, fmaxf(s[i], s[i + 1]));
            b = fmaxf(b, fmaxf(s[i + 4], s[i + 5]));
        }
        largest[h] = fmaxf(a, b);
    }
    for (int step = 1; step < 4; step *= 2)
        for (int h = 0; h < 2; h++)
            largest[h] = fmaxf(largest[h], __shfl_xor_sync(EVERYONE, largest[h], step));

    const bool grown = __any_sync(EVERYONE, largest[0] * scale > rows.base[0] + 8 ||
                                                largest[1] * scale > rows.base[1] + 8);
    if (grown) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float base = fmaxf(rows.base[h], largest[h] * scale);
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
            s[i] = power2(fmaf(s[i], scale, -base));
            s[i + 1] = power2(fmaf(s[i + 1], scale, -base));
            sum += s[i] + s[i + 1];
        }
        rows.sum[h] += sum;
    }
    return grown;
}
// The same without looking for the largest score: false, with nothing but s changed, where a row of
// the warp has outgrown its base.
__device__ bool relative(Scores &s, Rows &rows, float scale) {
    constexpr float LARGE = 1 << 13; // far below 65,504, a half's largest
    float sum[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float a = 0, b = 0; // two chains
#pragma unroll
        for (int i = 2 * h; i < KEYS / 2; i += 4) {
            s[i] = power2(fmaf(s[i], scale, -rows.base[h]));
            s[i + 1] = power2(fmaf(s[i + 1], scale, -rows.base[h]));
            a += s[i], b += s[i + 1];
        }
        sum[h] = a + b;
    }
    // A base of -inf makes it infinite, or NaN: neither fits.
    if (__any_sync(EVERYONE, !(sum[0] <= LARGE && sum[1] <= LARGE))) return false;
    rows.sum[0] += sum[0], rows.sum[1] += sum[1];
    return true;
}
// Hides the keys that a row does not see: row sees those below limit, row + 8 eight more.
__device__ void hide(Scores &s, int key, int seqK, int limit, int lane) {
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) {
        const int column = key + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (column >= min(seqK, limit + i / 2 % 2 * 8)) s[i] = -INFINITY;
    }
}
