// What the rungs share that cut each number into two halves, x = high + low, of 22 bits. A product
// takes three of theirs:
//     a * b = aHigh * bHigh + aHigh * bLow + aLow * bHigh      (aLow * bLow is 2^-22 of it)
// Halves have few exponents, too. So eight rows of a matrix (a group) share a scale, a power of two
// that brings their largest number to 2^14 ... 2^15: numbers down to 2^-18 of that keep 22 bits.

#include "fragments.cuh"

// Two to the n-th, or 2^-126 if that is more: nothing here needs a smaller one.
__device__ float powerOfTwo(int n) {
    return __int_as_float(max(n + 127, 1) << 23);
}

// The n of the scale 2^n for numbers of which the largest is most; of zeros, the largest possible.
__device__ int scaleFor(float most) {
    return min(14 + 127 - (int)(__float_as_uint(most) >> 23), 126);
}

// Cuts two numbers in two halves each. The high halves, rounded to the nearest, share a register.
// The low ones are what is left when those are subtracted: that difference is exact.
__device__ void cut(float x, float y, unsigned &high, unsigned &low) {
    const __half2 h = __floats2half2_rn(x, y);
    const float2 rounded = __half22float2(h);
    const __half2 l = __floats2half2_rn(x - rounded.x, y - rounded.y);
    high = *(unsigned *)&h, low = *(unsigned *)&l;
}

// What a lane has of a [16 x 16], as tensor cores multiply it: of four squares of 8 x 8.
struct Fragment {
    unsigned high[4], low[4];
};

// A matrix [ROWS x DIM] in shared memory: x = (high + low) / 2^scale. Rows are eight halves longer
// than needed: load_matrix reads 16 bytes of eight rows at once, which then lie in different banks.
template <int ROWS> struct __align__(16) Matrix {
    __half high[ROWS * (DIM + 8)], low[ROWS * (DIM + 8)];
    int scale[ROWS / 8]; // of each group of 8 rows
};

// score = q * k^T, times the scales. Tensor cores cut off what they cannot keep of a sum, instead
// of rounding, so every addition to a large sum loses a little. The two small products are summed
// first: then only a third of the additions meet a large one.
__device__ void scores(Scores &score, const Matrix<BR> &q, const Matrix<BC> &k) {
#pragma unroll
    EACH(pass, 2)
#pragma unroll 2
    for (int x = 0; x < DIM / 16; x++) {
        Fragment a, b;
        const int fromA = at(WARP * 16 + LANE % 16, 2 * x + LANE / 16);
        load_matrix(a.high, q.high + fromA);
        if (pass == 0) load_matrix(a.low, q.low + fromA);
        EACH(n, GROUPS / 2) {
            const int from = at(n * 16 + LANE / 16 * 8 + LANE % 8, 2 * x + LANE / 8 % 2);
            load_matrix(b.high, k.high + from);
            if (pass == 0) load_matrix(b.low, k.low + from);
            if (pass == 0) multiply(&score[2 * n], a.high, b.low);
            multiply(&score[2 * n], pass == 0 ? a.low : a.high, b.high);
        }
    }
}

// What a warp knows of its queries so far. Lines h = 0 and 1 of a lane lie 8 rows apart.
struct Rows {
    float scale[2], largest[2]; // of the scores; the largest is scaled
    float sum[2], rescale[2];   // of probabilities; what is summed, when that changes
    float out[DIM / 8][4];      // times 2^unit
    int unit = 126;
};

// Online softmax turns scores into probabilities: a new maximum rescales what was summed relative
// to the old one, by 2^(old - new). So does a new unit: values larger than all before, with the
// smallest scale. Probabilities are 2^14 times what they are called: the division undoes that.
__device__ void softmax(Rows &r, Scores &score, int unit) {
    EACH(h, 2) {
        float most = -INFINITY;
        EACH(i, 2 * GROUPS) most = fmaxf(most, score[i / 2][2 * h + i % 2]);
        EACH(i, 2) most = fmaxf(most, __shfl_xor_sync(EVERYONE, most, 1 + i)); // four share a row
        most = fmaxf(r.largest[h], most * r.scale[h]);
        const float base = most == -INFINITY ? 0.0f : most; // any number, as long as no key is seen
        r.rescale[h] = exp2f(r.largest[h] - base);
        r.largest[h] = most;
        r.sum[h] *= r.rescale[h];
        r.rescale[h] *= powerOfTwo(unit - r.unit);
        EACH(i, 2 * GROUPS) {
            float &s = score[i / 2][2 * h + i % 2];
            s = exp2f(fmaf(s, r.scale[h], 14.0f - base));
            r.sum[h] += s;
        }
    }
    r.unit = unit;
}

// out = out * rescale + probabilities * v.
__device__ void addValues(Rows &r, const Scores &probability, const Matrix<BC> &v) {
    // A group of small values was scaled by more. Its probabilities, cut in two, make up for it.
    Fragment p[GROUPS / 2];
    EACH(n, GROUPS) {
        const float by = powerOfTwo(r.unit - v.scale[n]);
        EACH(h, 2) {
            const float *two = &probability[n][2 * h];
            Fragment &to = p[n / 2];
            cut(two[0] * by, two[1] * by, to.high[n % 2 * 2 + h], to.low[n % 2 * 2 + h]);
        }
    }
    // A tile's sum starts from zero, and meets the output only once, by an addition that rounds.
#pragma unroll
    EACH(x, DIM / 16) {
        float big[2][4] = {}, small[2][4] = {};
        EACH(n, GROUPS / 2) {
            Fragment b;
            const int from = at(n * 16 + LANE % 16, 2 * x + LANE / 16);
            load_matrix_transposed(b.high, v.high + from);
            load_matrix_transposed(b.low, v.low + from);
            multiply(small, p[n].high, b.low);
            multiply(small, p[n].low, b.high);
            multiply(big, p[n].high, b.high);
        }
        EACH(f, 2) EACH(i, 4) {
            float &sum = r.out[2 * x + f][i];
            sum = fmaf(sum, r.rescale[i / 2], big[f][i] + small[f][i]);
        }
    }
}
