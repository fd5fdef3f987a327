// Attention in one kernel: out = softmax(q * k^T / sqrt(dim)) * v, float32, on tensor cores.
//
// Version 3 (versions/ has the earlier ones). What is new: tensor cores multiply halves, with 11
// bits of precision; float32 has 24. So each number is cut into two halves, x = hi + lo, which
// keep 22 bits together, and a product takes three of the tensor cores':
//     a * b = aHi * bHi + aHi * bLo + aLo * bHi         (aLo * bLo is below float32's rounding)
// Three products of halves still cost far less than one of float32 without tensor cores.
//
// Halves have few exponents, too. Eight rows of a matrix (a group) are scaled together, by a
// power of two that brings the largest number to 2^14 ... 2^15: numbers down to 2^-17 of it keep
// all 22 bits. The exponents of the groups are undone in the scores, and in the probabilities.
//
// A block has BR queries of one head, each warp TALL tiles of 16 of them, and walks over the
// head's keys BC at a time. Scores, probabilities and output stay in the registers of one warp,
// as fragments: of a tile [16 x 8] a lane holds the elements [lane / 4 + 8 * h][lane % 4 * 2 + c].
// Shared memory has the halves of q, k and v, and a tile of k or v as it arrives ("raw").
//
// The host defines BR and BC, and computes the shared memory as Tiles does.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "tensorcore.h"

#define TALL (BR > 128 ? 2 : 1) // tiles of 16 queries a warp
#define WARPS (BR / (16 * TALL))
#define STEPS (BC / 8) // groups of keys; fragments of a line of scores
static_assert(BR % (16 * TALL) == 0 && BC % 16 == 0, "BR and BC are multiples of 16");

#define EVERYONE 0xffffffffu
#define LANE (threadIdx.x % 32)
#define WARP (threadIdx.x / 32)

// A matrix [rows, DIM] of numbers cut in two. Chunks of eight halves are swapped within a row,
// so that a column of eight of them, as load_matrix reads it, meets all banks.
template <int DIM> struct Pieces {
    __half *hi, *lo;
    int *exponents; // of each group of 8 rows: x = (hi + lo) * 2^exponent
    __device__ static int at(int row, int chunk) { return row * DIM + ((chunk ^ row % 8) * 8); }
};

// Where they lie, in bytes.
template <int DIM> struct Tiles {
    static constexpr int q = 0;
    static constexpr int k = q + 4 * BR * DIM;
    static constexpr int v = k + 4 * BC * DIM;
    static constexpr int raw = v + 4 * BC * DIM;
    static constexpr int exponents = raw + 4 * BC * DIM;
};

// 2^e, for e from -126 to 127; less than that is as good as -126.
__device__ float power(int e) {
    return __int_as_float((max(e, -126) + 127) << 23);
}

// Copies LINES rows, from row0 on, to raw, while the warp goes on. What lies outside the matrix
// becomes zeros. wide says that rows start at multiples of 16 bytes.
template <int DIM, int LINES>
__device__ void fetch(float *raw, const float *matrix, int row0, int rows, int dim, int wide) {
    for (int group = WARP; group < LINES / 8; group += WARPS) {
#pragma unroll
        for (int i = LANE; i < 8 * DIM / 4; i += 32) {
            const int line = group * 8 + i / (DIM / 4);
            const int x = i % (DIM / 4) * 4;
            const float *from = matrix + (size_t)(row0 + line) * dim + x;
            const int there = row0 + line < rows ? min(max(dim - x, 0), 4) : 0;
            float *to = raw + line * DIM + x;
            if (wide) {
                __pipeline_memcpy_async(to, there ? from : matrix, 16, there ? 0 : 16);
                continue;
            }
            for (int c = 0; c < 4; c++)
                __pipeline_memcpy_async(to + c, c < there ? from + c : matrix, 4,
                                        c < there ? 0 : 4);
        }
    }
    __pipeline_commit();
}

__device__ unsigned magnitude(float x) {
    return __float_as_uint(fabsf(x));
}

// (x, y) = hi + lo, each a pair of halves.
__device__ void cut(float x, float y, unsigned &hi, unsigned &lo) {
    const __half2 high = __floats2half2_rn(x, y);
    const float2 back = __half22float2(high);
    const __half2 low = __floats2half2_rn(x - back.x, y - back.y); // exact before it is rounded
    hi = *(const unsigned *)&high, lo = *(const unsigned *)&low;
}

// Cuts the rows that this warp's own fetch brought: every lane reads what it copied, so no
// barrier is needed in between. Row 0 of raw becomes row row0.
template <int DIM, int LINES>
__device__ void split(const Pieces<DIM> &to, int row0, const float *raw) {
    __pipeline_wait_prior(0);
    for (int group = WARP; group < LINES / 8; group += WARPS) {
        const float4 *from = (const float4 *)raw + group * 8 * DIM / 4;
        unsigned largest = 0; // as an integer: positive floats have the same order
#pragma unroll
        for (int i = LANE; i < 8 * DIM / 4; i += 32) {
            const float4 x = from[i];
            largest = max(max(largest, max(magnitude(x.x), magnitude(x.y))),
                          max(magnitude(x.z), magnitude(x.w)));
        }
        largest = __reduce_max_sync(EVERYONE, largest);
        const int exponent = max((int)(largest >> 23), 15) - 127 - 14;
        // Infinity or NaN: the whole group becomes NaN, rather than wrong.
        const float factor = largest < 0x7f800000u ? power(-exponent) : NAN;
        if (LANE == 0) to.exponents[row0 / 8 + group] = exponent;
#pragma unroll
        for (int i = LANE; i < 8 * DIM / 4; i += 32) {
            const float4 x = from[i];
            uint2 hi, lo;
            cut(x.x * factor, x.y * factor, hi.x, lo.x);
            cut(x.z * factor, x.w * factor, hi.y, lo.y);
            const int column = i % (DIM / 4); // in fours
            const int at = Pieces<DIM>::at(row0 + group * 8 + i / (DIM / 4), column / 2);
            *(uint2 *)(to.hi + at + column % 2 * 4) = hi;
            *(uint2 *)(to.lo + at + column % 2 * 4) = lo;
        }
    }
}

// Four neighbours share a row of a fragment.
__device__ float rowMax(float x) {
    x = fmaxf(x, __shfl_xor_sync(EVERYONE, x, 1));
    return fmaxf(x, __shfl_xor_sync(EVERYONE, x, 2));
}

__device__ float rowSum(float x) {
    x += __shfl_xor_sync(EVERYONE, x, 1);
    return x + __shfl_xor_sync(EVERYONE, x, 2);
}

// d += a * b for two neighbouring fragments of 8 columns.
__device__ void multiply(float (&d)[2][4], const unsigned (&a)[4], const unsigned (&b)[4]) {
    mma_f16(d[0], a, b[0], b[1]);
    mma_f16(d[1], a, b[2], b[3]);
}

// score = q * k^T, in units of 2^(the exponents). Tensor cores cut off what they cannot keep of a
// sum, instead of rounding, so every addition to a large sum loses a little. The two small
// products are summed first: then only a third of the additions meet a large one.
template <int DIM>
__device__ void scores(float (&score)[TALL][STEPS / 2][2][4], const Pieces<DIM> &q,
                       const Pieces<DIM> &k) {
#pragma unroll
    for (int pass = 0; pass < 2; pass++) {
#pragma unroll 2
        for (int x = 0; x < DIM / 16; x++) {
            unsigned qHi[TALL][4], qLo[TALL][4], kHi[4], kLo[4];
#pragma unroll
            for (int m = 0; m < TALL; m++) {
                const int row = (WARP * TALL + m) * 16 + LANE % 16;
                load_matrix(qHi[m], q.hi + q.at(row, 2 * x + LANE / 16));
                if (pass == 0) load_matrix(qLo[m], q.lo + q.at(row, 2 * x + LANE / 16));
            }
#pragma unroll
            for (int n = 0; n < STEPS / 2; n++) {
                const int at = k.at(n * 16 + LANE / 16 * 8 + LANE % 8, 2 * x + LANE / 8 % 2);
                load_matrix(kHi, k.hi + at);
                if (pass == 0) load_matrix(kLo, k.lo + at);
#pragma unroll
                for (int m = 0; m < TALL; m++) {
                    if (pass == 0) multiply(score[m][n], qHi[m], kLo);
                    multiply(score[m][n], pass == 0 ? qLo[m] : qHi[m], kHi);
                }
            }
        }
    }
}

template <int DIM>
__device__ void flash(unsigned char *shared, const float *q, const float *k, const float *v,
                      float *out, int seqQ, int seqK, int dim, int causal, int wide, float factor) {
    using T = Tiles<DIM>;
    float *raw = (float *)(shared + T::raw);
    int *exponents = (int *)(shared + T::exponents);
    __half *at = (__half *)(shared + T::q);
    const Pieces<DIM> qs = {at, at + BR * DIM, exponents};
    at = (__half *)(shared + T::k);
    const Pieces<DIM> ks = {at, at + BC * DIM, exponents + BR / 8};
    at = (__half *)(shared + T::v);
    const Pieces<DIM> vs = {at, at + BC * DIM, exponents + BR / 8 + STEPS};

    const int blocks = (seqQ + BR - 1) / BR; // of one head
    const size_t head = blockIdx.x / blocks;
    // The last queries first: with the causal mask they have the most keys, and a block that
    // starts late should not be a long one.
    const int block0 = (blocks - 1 - blockIdx.x % blocks) * BR;
    const int query0 = block0 + WARP * TALL * 16; // this warp's first
    q += head * seqQ * dim, out += head * seqQ * dim;
    k += head * seqK * dim, v += head * seqK * dim;

    // 1. Stage the queries, once.
    constexpr int lines = BR < BC ? BR : BC; // that fit into raw
    for (int line = 0; line < BR; line += lines) {
        fetch<DIM, lines>(raw, q, block0 + line, seqQ, dim, wide);
        split<DIM, lines>(qs, line, raw);
    }
    __syncthreads(); // q is complete, for a warp's rows may have been cut by another

    // factor is log2(e) / sqrt(dim): 2^(score * scale) is what exp would be, and exp2f is the
    // cheaper one. Lines h = 0 and 1 of a lane lie 8 rows apart: in two groups.
    float scale[TALL][2], largest[TALL][2], sum[TALL][2];
    float acc[TALL][DIM / 16][2][4]; // the output so far, in units of 2^unit
    int unit = -126;
#pragma unroll
    for (int m = 0; m < TALL; m++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            scale[m][h] = factor * power(qs.exponents[(WARP * TALL + m) * 2 + h]);
            largest[m][h] = -INFINITY, sum[m][h] = 0.0f;
        }
#pragma unroll
        for (int i = 0; i < DIM / 2; i++) acc[m][i / 8][i / 4 % 2][i % 4] = 0.0f;
    }

    // Query i sees the keys up to i + lead. With the causal mask, tiles behind the last
    // query's last key are left out.
    const int lead = causal ? seqK - seqQ : seqK;
    const int keys = min(seqK, block0 + BR + lead);
    if (keys > 0) fetch<DIM, BC>(raw, k, 0, seqK, dim, wide);

    for (int key0 = 0; key0 < keys; key0 += BC) {
        // 2. Cut the keys in two, and let the values come meanwhile.
        split<DIM, BC>(ks, 0, raw);
        fetch<DIM, BC>(raw, v, key0, seqK, dim, wide);
        __syncthreads(); // k is complete; and all are done with the last tile's v

        // 3. Scores, unless the mask hides the whole tile from this warp. Mask what lies beyond
        //    the last key, or after the query; most tiles have neither.
        const bool sees = key0 < query0 + TALL * 16 + lead;
        const bool edge = key0 + BC > seqK || key0 + BC - 1 > query0 + lead;
        float score[TALL][STEPS / 2][2][4] = {};
        if (sees) {
            scores<DIM>(score, qs, ks);
#pragma unroll
            for (int i = 0; i < BC / 2; i++) {
                const float unitOfKeys = power(ks.exponents[i / 4]);
#pragma unroll
                for (int m = 0; m < TALL; m++) {
                    float &s = score[m][i / 8][i / 4 % 2][i % 4];
                    s *= unitOfKeys;
                    const int query = query0 + m * 16 + LANE / 4 + i / 2 % 2 * 8;
                    const int key = key0 + i / 4 * 8 + LANE % 4 * 2 + i % 2;
                    if (edge && (key >= seqK || key > query + lead)) s = -INFINITY;
                }
            }
        }

        // 4. Cut the values in two, and let the next keys come meanwhile.
        split<DIM, BC>(vs, 0, raw);
        if (key0 + BC < keys) fetch<DIM, BC>(raw, k, key0 + BC, seqK, dim, wide);
        __syncthreads(); // v is complete; and all are done with k
        if (!sees) continue;

        // 5. Online softmax: a new maximum rescales what was summed relative to the old one, by
        //    2^(old - new). So does a new unit: values larger than all before. Probabilities
        //    are 2^14 times what they are called, which the division at the end undoes.
        int newUnit = unit;
#pragma unroll
        for (int n = 0; n < STEPS; n++) newUnit = max(newUnit, vs.exponents[n]);
        float rescale[TALL][2];
#pragma unroll
        for (int m = 0; m < TALL; m++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float most = -INFINITY;
#pragma unroll
                for (int i = 0; i < BC / 4; i++)
                    most = fmaxf(most, score[m][i / 4][i / 2 % 2][2 * h + i % 2]);
                most = fmaxf(largest[m][h], rowMax(most) * scale[m][h]);
                // A row that has seen no key yet: any number but -infinity will do.
                const float base = most == -INFINITY ? 0.0f : most;
                rescale[m][h] = exp2f(largest[m][h] - base);
                largest[m][h] = most;
                sum[m][h] *= rescale[m][h];
                rescale[m][h] *= power(unit - newUnit);
#pragma unroll
                for (int i = 0; i < BC / 4; i++) {
                    float &s = score[m][i / 4][i / 2 % 2][2 * h + i % 2];
                    s = exp2f(fmaf(s, scale[m][h], 14.0f - base));
                    sum[m][h] += s;
                }
            }
        unit = newUnit;

        // 6. Cut the probabilities in two. A group of values smaller than the largest so far
        //    was scaled by more: its probabilities make up for it.
        unsigned pHi[TALL][STEPS / 2][4], pLo[TALL][STEPS / 2][4];
#pragma unroll
        for (int n = 0; n < STEPS; n++) {
            const float by = power(vs.exponents[n] - unit);
#pragma unroll
            for (int m = 0; m < TALL; m++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const float *p = &score[m][n / 2][n % 2][2 * h];
                    const int part = n % 2 * 2 + h; // as a [16 x 16] fragment wants it
                    cut(p[0] * by, p[1] * by, pHi[m][n / 2][part], pLo[m][n / 2][part]);
                }
        }

        // 7. Add the weighted values. A tile's sum starts from zero, small products by
        //    themselves, and meets the output only once, by an addition that rounds.
#pragma unroll
        for (int x = 0; x < DIM / 16; x++) {
            float big[TALL][2][4] = {}, small[TALL][2][4] = {};
#pragma unroll
            for (int n = 0; n < STEPS / 2; n++) {
                unsigned vHi[4], vLo[4];
                const int at = vs.at(n * 16 + LANE % 16, 2 * x + LANE / 16);
                load_matrix_transposed(vHi, vs.hi + at);
                load_matrix_transposed(vLo, vs.lo + at);
#pragma unroll
                for (int m = 0; m < TALL; m++) {
                    multiply(small[m], pHi[m][n], vLo);
                    multiply(small[m], pLo[m][n], vHi);
                    multiply(big[m], pHi[m][n], vHi);
                }
            }
#pragma unroll
            for (int m = 0; m < TALL; m++)
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    float &a = acc[m][x][i / 4][i % 4];
                    a = fmaf(a, rescale[m][i / 2 % 2],
                             big[m][i / 4][i % 4] + small[m][i / 4][i % 4]);
                }
        }
    }

    // 8. Divide by the whole row's sum, and write. A row that saw no key has gathered zeros.
#pragma unroll
    for (int m = 0; m < TALL; m++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float whole = rowSum(sum[m][h]);
            const float inverse = whole > 0.0f ? power(unit) / whole : 0.0f;
            const int query = query0 + m * 16 + LANE / 4 + h * 8;
            if (query >= seqQ) continue;
#pragma unroll
            for (int n = 0; n < DIM / 8; n++) {
                const int x = n * 8 + LANE % 4 * 2;
                float *to = out + (size_t)query * dim + x;
                const float *a = &acc[m][n / 2][n % 2][2 * h];
                if (wide && x < dim) *(float2 *)to = make_float2(a[0] * inverse, a[1] * inverse);
                if (!wide && x < dim) to[0] = a[0] * inverse;
                if (!wide && x + 1 < dim) to[1] = a[1] * inverse;
            }
        }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    flash_64(const float *q, const float *k, const float *v, float *out, int seqQ, int seqK,
             int dim, int causal, int wide, float factor) {
    extern __shared__ __align__(128) unsigned char shared[];
    flash<64>(shared, q, k, v, out, seqQ, seqK, dim, causal, wide, factor);
}

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    flash_128(const float *q, const float *k, const float *v, float *out, int seqQ, int seqK,
              int dim, int causal, int wide, float factor) {
    extern __shared__ __align__(128) unsigned char shared[];
    flash<128>(shared, q, k, v, out, seqQ, seqK, dim, causal, wide, factor);
}
