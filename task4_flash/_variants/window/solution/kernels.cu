// Attention in one kernel, float32: out = softmax(q * k^T / sqrt(dim)) * v. A window adds the lines
// with `window`, `first` or `own` to the plain year's. Tensor cores multiply halves, of 11 bits.
// float32 has 24, so a number is cut into two, x = high + low, and a product takes three:
//     a * b = aHigh * bHigh + aHigh * bLow + aLow * bHigh      (aLow * bLow is 2^-22 of it)
// Halves have few exponents, too. So eight rows of a matrix (a group) share a scale, a power of two
// that brings their largest number to 2^14 ... 2^15: numbers down to 2^-18 of that keep 22 bits.
//
// A block has BR queries of one head, each warp TALL tiles of 16, and walks over the keys that they
// see BC at a time. Scores, probabilities and output stay in one warp's registers as fragments: of
// a tile [16 x 8] a lane has four numbers, i = 0 to 3, in row lane / 4 + i / 2 * 8, column
// lane % 4 * 2 + i % 2. The host defines BR, BC, and DIM: room for a head, 64 or 128.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include "tensorcore.h"

#define TALL (BR > 128 ? 2 : 1) // tiles of 16 queries a warp
#define WARPS (BR / (16 * TALL))
#define GROUPS (BC / 8) // of keys: as many fragments are side by side in a tile of scores
#define FIT (BR * DIM > 128 * 64 ? 0 : 2) // blocks that a processor should have room for
typedef float Scores[TALL][GROUPS][4];

#define EVERYONE 0xffffffffu
#define LANE (threadIdx.x % 32)
#define WARP (threadIdx.x / 32)
// Unrolled, by nvcc itself or by a pragma: then what i indexes can be in registers.
#define EACH(i, n) for (int i = 0; i < (n); i++)

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

// A matrix [ROWS x DIM] in shared memory: x = (high + low) / 2^scale.
template <int ROWS> struct __align__(16) Matrix {
    __half high[ROWS * DIM], low[ROWS * DIM];
    int scale[ROWS / 8]; // of each group of 8 rows
};

struct Shared {
    Matrix<BR> q;
    Matrix<BC> k, v;
    float raw[BC * DIM]; // a tile of any of them, as it arrives
};

// Where a row's chunk of eight halves is. Chunks are swapped within a row, so that a column of
// eight of them, as load_matrix reads it, meets all banks.
__device__ int at(int row, int chunk) {
    return row * DIM + (chunk ^ row % 8) * 8;
}

// Copies LINES rows, from row0 on, to raw, while the warp goes on. What lies outside the matrix
// becomes zeros. wide says that rows start at multiples of 16 bytes.
template <int LINES>
__device__ void fetch(float *raw, const float *matrix, int row0, int rows, int dim, int wide) {
    for (int group = WARP; group < LINES / 8; group += WARPS)
#pragma unroll
        for (int i = LANE; i < 2 * DIM; i += 32) {
            const int line = group * 8 + i / (DIM / 4), x = i % (DIM / 4) * 4;
            const float *from = matrix + (size_t)(row0 + line) * dim + x;
            const int have = row0 + line < rows ? min(max(dim - x, 0), 4) : 0;
            float *to = raw + line * DIM + x;
            if (wide)
                __pipeline_memcpy_async(to, have ? from : matrix, 16, have ? 0 : 16);
            else
                for (int c = 0; c < 4; c++)
                    __pipeline_memcpy_async(to + c, c < have ? from + c : matrix, 4,
                                            c < have ? 0 : 4);
        }
    __pipeline_commit();
}

// Cuts the rows that this warp's own fetch brought: every lane reads what it copied, so no barrier
// is needed in between. Row 0 of raw becomes row row0.
template <int LINES, int ROWS>
__device__ void cutRows(Matrix<ROWS> &to, int row0, const float *raw) {
    __pipeline_wait_prior(0);
    for (int group = WARP; group < LINES / 8; group += WARPS) {
        float most = 0.0f; // fmaxf passes over NaN, which stays NaN all the same
#pragma unroll
        for (int i = LANE; i < 2 * DIM; i += 32) {
            const float4 v = ((const float4 *)raw)[group * 2 * DIM + i];
            most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
        }
        most = __uint_as_float(__reduce_max_sync(EVERYONE, __float_as_uint(most))); // same order
        const int n = scaleFor(most);
        if (LANE == 0) to.scale[row0 / 8 + group] = n;
        const float scale = most < INFINITY ? powerOfTwo(n) : NAN; // all 8 rows, rather than wrong
#pragma unroll
        for (int i = LANE; i < 2 * DIM; i += 32) {
            const float4 v = ((const float4 *)raw)[group * 2 * DIM + i];
            uint2 high, low;
            cut(v.x * scale, v.y * scale, high.x, low.x);
            cut(v.z * scale, v.w * scale, high.y, low.y);
            const int row = row0 + group * 8 + i / (DIM / 4), column = i % (DIM / 4) * 4;
            *(uint2 *)(to.high + at(row, column / 8) + column % 8) = high;
            *(uint2 *)(to.low + at(row, column / 8) + column % 8) = low;
        }
    }
}

// d += a * b for two neighbouring fragments of 8 columns.
__device__ void multiply(float (*d)[4], const unsigned (&a)[4], const unsigned (&b)[4]) {
    mma_f16(d[0], a, b[0], b[1]);
    mma_f16(d[1], a, b[2], b[3]);
}

// score = q * k^T, times the scales. Tensor cores cut off what they cannot keep of a sum, instead
// of rounding, so every addition to a large sum loses a little. The two small products are summed
// first: then only a third of the additions meet a large one.
__device__ void scores(Scores &score, const Matrix<BR> &q, const Matrix<BC> &k) {
#pragma unroll
    EACH(pass, 2)
#pragma unroll 2
    for (int x = 0; x < DIM / 16; x++) {
        Fragment a[TALL], b;
        EACH(m, TALL) {
            const int from = at((WARP * TALL + m) * 16 + LANE % 16, 2 * x + LANE / 16);
            load_matrix(a[m].high, q.high + from);
            if (pass == 0) load_matrix(a[m].low, q.low + from);
        }
        EACH(n, GROUPS / 2) {
            const int from = at(n * 16 + LANE / 16 * 8 + LANE % 8, 2 * x + LANE / 8 % 2);
            load_matrix(b.high, k.high + from);
            if (pass == 0) load_matrix(b.low, k.low + from);
            EACH(m, TALL) {
                if (pass == 0) multiply(&score[m][2 * n], a[m].high, b.low);
                multiply(&score[m][2 * n], pass == 0 ? a[m].low : a[m].high, b.high);
            }
        }
    }
}

// What a warp knows of its queries so far. Lines h = 0 and 1 of a lane lie 8 rows apart.
struct Rows {
    float scale[TALL][2], largest[TALL][2]; // of the scores; the largest is scaled
    float sum[TALL][2], rescale[TALL][2];   // of probabilities; what is summed, when that changes
    float out[TALL][DIM / 8][4];            // times 2^unit
    int unit = 126;
};

// Online softmax turns scores into probabilities: a new maximum rescales what was summed relative
// to the old one, by 2^(old - new). So does a new unit: values larger than all before, with the
// smallest scale. Probabilities are 2^14 times what they are called: the division undoes that.
__device__ void softmax(Rows &r, Scores &score, int unit) {
    EACH(m, TALL) EACH(h, 2) {
        float most = -INFINITY;
        EACH(i, 2 * GROUPS) most = fmaxf(most, score[m][i / 2][2 * h + i % 2]);
        EACH(i, 2) most = fmaxf(most, __shfl_xor_sync(EVERYONE, most, 1 + i)); // four share a row
        most = fmaxf(r.largest[m][h], most * r.scale[m][h]);
        const float base = most == -INFINITY ? 0.0f : most; // any number, as long as no key is seen
        r.rescale[m][h] = exp2f(r.largest[m][h] - base);
        r.largest[m][h] = most;
        r.sum[m][h] *= r.rescale[m][h];
        r.rescale[m][h] *= powerOfTwo(unit - r.unit);
        EACH(i, 2 * GROUPS) {
            float &s = score[m][i / 2][2 * h + i % 2];
            s = exp2f(fmaf(s, r.scale[m][h], 14.0f - base));
            r.sum[m][h] += s;
        }
    }
    r.unit = unit;
}

// out = out * rescale + probabilities * v.
__device__ void addValues(Rows &r, const Scores &probability, const Matrix<BC> &v) {
    // A group of small values was scaled by more. Its probabilities, cut in two, make up for it.
    Fragment p[TALL][GROUPS / 2];
    EACH(n, GROUPS) {
        const float by = powerOfTwo(r.unit - v.scale[n]);
        EACH(m, TALL) EACH(h, 2) {
            const float *two = &probability[m][n][2 * h];
            Fragment &to = p[m][n / 2];
            cut(two[0] * by, two[1] * by, to.high[n % 2 * 2 + h], to.low[n % 2 * 2 + h]);
        }
    }
    // A tile's sum starts from zero, and meets the output only once, by an addition that rounds.
#pragma unroll
    EACH(x, DIM / 16) {
        float big[TALL][2][4] = {}, small[TALL][2][4] = {};
        EACH(n, GROUPS / 2) {
            Fragment b;
            const int from = at(n * 16 + LANE % 16, 2 * x + LANE / 16);
            load_matrix_transposed(b.high, v.high + from);
            load_matrix_transposed(b.low, v.low + from);
            EACH(m, TALL) {
                multiply(small[m], p[m][n].high, b.low);
                multiply(small[m], p[m][n].low, b.high);
                multiply(big[m], p[m][n].high, b.high);
            }
        }
        EACH(m, TALL) EACH(f, 2) EACH(i, 4) {
            float &sum = r.out[m][2 * x + f][i];
            sum = fmaf(sum, r.rescale[m][i / 2], big[m][f][i] + small[m][f][i]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, FIT)
    flash(const float *q, const float *k, const float *v, float *out, int seqQ, int seqK, int dim,
          int causal, int window, int wide, float factor) { // factor is log2(e) / sqrt(dim)
    extern __shared__ __align__(128) unsigned char bytes[];
    Shared &shared = *(Shared *)bytes;
    const int blocks = (seqQ + BR - 1) / BR, head = blockIdx.x / blocks; // blocks of one head
    // The last queries first: with the causal mask they take longest.
    const int block0 = (blocks - 1 - blockIdx.x % blocks) * BR;
    const int lead = causal ? seqK - seqQ : seqK; // query i sees `window` keys, up to i + lead
    const int query0 = block0 + WARP * TALL * 16, own = query0 + lead; // the warp's first, its key
    q += (size_t)head * seqQ * dim, out += (size_t)head * seqQ * dim;
    k += (size_t)head * seqK * dim, v += (size_t)head * seqK * dim;

    // 1. Stage the queries, once.
    constexpr int lines = BR < BC ? BR : BC; // that fit into raw
    for (int line = 0; line < BR; line += lines) {
        fetch<lines>(shared.raw, q, block0 + line, seqQ, dim, wide);
        cutRows<lines>(shared.q, line, shared.raw);
    }
    __syncthreads(); // q is complete, for a warp's rows may have been cut by another
    Rows r = {};
    EACH(m, TALL) EACH(h, 2) { // 2^(score * scale) is what exp would be, and exp2f is cheaper
        r.scale[m][h] = factor * powerOfTwo(-shared.q.scale[(WARP * TALL + m) * 2 + h]);
        r.largest[m][h] = -INFINITY;
    }
    const int keys = min(seqK, block0 + BR + lead); // all keys that the block sees are before this
    const int first = max(0, block0 + lead - window + 1) / BC * BC; // and not before this tile
    if (first < keys) fetch<BC>(shared.raw, k, first, seqK, dim, wide);
    for (int key0 = first; key0 < keys; key0 += BC) {
        // 2. Cut the keys in two, and let the values come meanwhile.
        cutRows<BC>(shared.k, 0, shared.raw);
        fetch<BC>(shared.raw, v, key0, seqK, dim, wide);
        __syncthreads(); // k is complete; and all are done with the last tile's v

        // 3. Scores, unless all are masked: past the last key, after the query, before its window.
        const bool sees = key0 < own + TALL * 16 && key0 + BC > own - window + 1;
        const bool edge = key0 + BC > min(keys, own + 1) || key0 < own + TALL * 16 - window;
        Scores score = {};
        if (sees) {
            scores(score, shared.q, shared.k);
            EACH(n, GROUPS) {
                const float back = powerOfTwo(-shared.k.scale[n]);
                EACH(m, TALL) EACH(i, 4) {
                    const int key = key0 + n * 8 + LANE % 4 * 2 + i % 2;
                    const int ago = own + m * 16 + i / 2 * 8 + LANE / 4 - key; // 0: the query's own
                    const bool masked = key >= keys || ago < 0 || ago >= window;
                    score[m][n][i] = edge && masked ? -INFINITY : score[m][n][i] * back;
                }
            }
        }

        // 4. Cut the values in two, and let the next keys come meanwhile.
        cutRows<BC>(shared.v, 0, shared.raw);
        if (key0 + BC < keys) fetch<BC>(shared.raw, k, key0 + BC, seqK, dim, wide);
        __syncthreads(); // v is complete; and all are done with k
        if (!sees) continue;

        // 5. Probabilities, and the sum of the values by them.
        int unit = r.unit;
        EACH(n, GROUPS) unit = min(unit, shared.v.scale[n]);
        softmax(r, score, unit);
        addValues(r, score, shared.v);
    }

    // 6. Divide by the whole row's sum, and write. A row that saw no key has zeros.
#pragma unroll
    EACH(m, TALL) EACH(h, 2) {
        float whole = r.sum[m][h];
        EACH(i, 2) whole += __shfl_xor_sync(EVERYONE, whole, 1 + i);
        const float inverse = whole > 0.0f ? powerOfTwo(-r.unit) / whole : 0.0f;
        const int query = query0 + m * 16 + h * 8 + LANE / 4;
        if (query >= seqQ) continue;
#pragma unroll
        EACH(n, DIM / 8) {
            const int x = n * 8 + LANE % 4 * 2;
            float *to = out + (size_t)query * dim + x;
            const float *a = &r.out[m][n][2 * h];
            if (wide && x < dim) *(float2 *)to = make_float2(a[0] * inverse, a[1] * inverse);
            if (!wide && x < dim) to[0] = a[0] * inverse;
            if (!wide && x + 1 < dim) to[1] = a[1] * inverse;
        }
    }
}
