// hopper.cu's softmax of a tile's scores, in the registers where wgmma left them, and how a warp
// computes such scores by itself.
//
// The including file defines Half, KEYS (the keys of a tile), DIM, BOXES and HELD.
#pragma once

constexpr unsigned EVERYONE = 0xffffffff;

__device__ float power2(float x) { // 2^x; 0 for -inf
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

// A warp has 16 of a warpgroup's 64 rows; each thread has parts of two of them, h = 0 and 1. Its
// number 4 * j + 2 * h + c is the element in the warp's row lane / 4 + 8 * h and in column
// 8 * j + lane % 4 * 2 + c.
typedef float Scores[KEYS / 2];
typedef float Output[DIM / 2];

// The state of a thread's two rows. Probabilities are 2^(score - base), not yet divided by their
// sum, with scaled scores. base is -inf until the row has seen a key. Later no score so far is more
// than 13 above it: a probability is at most 2^13, which fits into a half.
struct Rows {
    float base[2], sum[2], rescale[2]; // sum: of this thread's columns; the base is the whole row's
};

// Turns scores, not yet scaled, into probabilities. If it returns true, for the whole warp, the
// caller must multiply the output so far by rows.rescale.
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

    // The base moves only for a probability above 2^8, so rescaling is rare. The first key always
    // moves it: any score is above -inf + 8.
    const bool grown = __any_sync(EVERYONE, largest[0] * scale > rows.base[0] + 8 ||
                                                largest[1] * scale > rows.base[1] + 8);
    if (grown) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float base = fmaxf(rows.base[h], largest[h] * scale);
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
            s[i] = power2(fmaf(s[i], scale, -base));
            s[i + 1] = power2(fmaf(s[i + 1], scale, -base));
            sum += s[i] + s[i + 1];
        }
        rows.sum[h] += sum;
    }
    return grown;
}
// The same relative to the bases as they are, without the search for the largest score. If a row of
// the warp has outgrown its base, it returns false: s is lost then, and rows are unchanged.
__device__ bool relative(Scores &s, Rows &rows, float scale) {
    constexpr float LARGE = 1 << 13; // a thread's sum bounds each term; a half goes up to 65,504
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
    // A base of -inf makes the sum infinite or NaN, and a NaN among the scores makes it NaN. The
    // negated comparison rejects all of these.
    if (__any_sync(EVERYONE, !(sum[0] <= LARGE && sum[1] <= LARGE))) return false;
    rows.sum[0] += sum[0], rows.sum[1] += sum[1];
    return true;
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

// The 8 halves (16 bytes) of a tile's row r that begin at column 16 * j + 8 * half. The swizzle by
// 128 puts piece c of a box's row r where piece c ^ r % 8 would be.
template <int LINES>
__device__ Half *piece(Half (&boxes)[BOXES][LINES][64], int r, int j, int half) {
    return &boxes[j / 4][r][((j % 4 * 2 + half) ^ r % 8) * 8];
}

// Recomputes one warp's scores. wgmma needs all four warps; kernels.cu's mma does not, and its
// fragments of q and s are the same as wgmma's. held: the fragments of q, used if HELD.
__device__ void scoresAgain(Scores &s, const uint32_t *held, Half (&q)[BOXES][64][64],
                            Half (&k)[BOXES][KEYS][64]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) s[i] = 0;
#pragma unroll
    for (int j = 0; j < DIM / 16; j++) {
        unsigned a[4], b[4];
        for (int e = 0; HELD && e < 4; e++) a[e] = held[4 * j + e];
        if (!HELD) load_matrix(a, piece(q, warp * 16 + lane % 16, j, lane / 16));
#pragma unroll
        for (int n = 0; n < KEYS / 8; n += 2) { // 16 keys
            load_matrix(b, piece(k, n * 8 + lane / 16 * 8 + lane % 8, j, lane / 8 % 2));
            mma(*reinterpret_cast<float(*)[4]>(s + 4 * n), a, b[0], b[1]);
            mma(*reinterpret_cast<float(*)[4]>(s + 4 * n + 4), a, b[2], b[3]);
        }
    }
    fence_proxy_async(); // the copy engine overwrites q and k only after these loads
    __syncwarp();
}
