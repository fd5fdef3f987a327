// Attention with the rotation inside: out = softmax(rot(q) * rot(k)^T / sqrt(dim)) * v, float32, on
// tensor cores. It is task 4's kernel, whose notes explain the halves (x = hi + lo). What is new
// stands in "split": numbers are turned between where they arrive in shared memory, "raw", and
// where they are multiplied. Query i of a sequence has position start + i, key j position j; at
// position p the pair j of a row is turned by the angle p * base^(-2 j / dim).
//
// A dot product does not mind the order of the columns, if both rows agree. So a row of q or k lies
// in shared memory as two halves, each padded to DIM / 2, and a lane that has columns x ... x + 3
// of both holds whole pairs, whichever of the two pairings it is.
//
// A block has BR queries of one head, each warp TALL tiles of 16, and takes BC keys at a time. Of a
// tile [16 x 8] a lane holds the elements [lane / 4 + 8 * h][lane % 4 * 2 + c]. DIM is 64 or 128.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "tensorcore.h"

#define TALL (BR > 128 ? 2 : 1) // tiles of 16 queries a warp
#define LINES (2 * TALL)        // rows of them that a lane has a part of
#define WARPS (BR / (16 * TALL))
#define STEPS (BC / 8)      // groups of 8 keys
#define CHUNKS (DIM / 8)    // lanes that share a row when it is staged
#define APART (32 / CHUNKS) // rows from one that a lane stages to its next
static_assert(BR % (16 * TALL) == 0 && BR % BC == 0 && BC % 16 == 0, "see rope.go");
#define EVERYONE 0xffffffffu
#define LANE (threadIdx.x % 32)
#define WARP (threadIdx.x / 32)

// A matrix of numbers cut in two: (hi + lo) * 2^exponent, one exponent for 8 rows. Chunks of eight
// are swapped within a row, so that a column of them meets all banks.
struct Pieces {
    __half *hi, *lo;
    int *exponents;
    __device__ static int at(int row, int chunk) { return row * DIM + ((chunk ^ row % 8) * 8); }
};

// 2^e, for e from -126 to 127; less than that is as good as -126.
__device__ float power(int e) {
    return __int_as_float((max(e, -126) + 127) << 23);
}

// Copies BC rows, from row0 on, to raw, while the warp goes on. Columns from half on go to DIM / 2
// and further; what lies outside the matrix becomes zeros.
__device__ void fetch(float *raw, const float *matrix, int row0, int rows, int dim, int half) {
    const int x = LANE % CHUNKS * 4;
    for (int group = WARP * 8; group < BC; group += WARPS * 8)
        for (int line = group + LANE / CHUNKS; line < group + 8; line += APART) {
            const float *from = matrix + (size_t)(row0 + line) * dim + x;
            const bool a = row0 + line < rows && x < min(half, dim), b = a && half + x < dim;
            float *to = raw + line * DIM + x;
            __pipeline_memcpy_async(to, a ? from : matrix, 16, a ? 0 : 16);
            __pipeline_memcpy_async(to + DIM / 2, b ? from + half : matrix, 16, b ? 0 : 16);
        }
    __pipeline_commit();
}

// Cosine and sine at a position, of a pair that makes each.x + each.y turns a step. Whole turns do
// not count, so the product's fraction must be good: fmaf knows what rounding took from it.
__device__ float2 angle(float4 each, float position) {
    const float turns = position * each.x;
    const float lost = fmaf(position, each.x, -turns) + position * each.y;
    float2 to;
    sincospif(2.0f * (turns - rintf(turns) + lost), &to.y, &to.x);
    return to;
}

// (a, b) turned by an angle's cosine and sine; to add two angles is the same.
__device__ void turn(float &a, float &b, float2 by) {
    const float x = a * by.x - b * by.y;
    b = b * by.x + a * by.y, a = x;
}

__device__ float largest(float4 x) {
    return fmaxf(fmaxf(fabsf(x.x), fabsf(x.y)), fmaxf(fabsf(x.z), fabsf(x.w)));
}

// (x, y) = hi + lo, each a pair of halves.
__device__ void cut(float x, float y, unsigned &hi, unsigned &lo) {
    const __half2 high = __floats2half2_rn(x, y);
    const float2 back = __half22float2(high);
    const __half2 low = __floats2half2_rn(x - back.x, y - back.y); // exact before it is rounded
    hi = *(const unsigned *)&high, lo = *(const unsigned *)&low;
}

__device__ void store(const Pieces &to, int row, int column, float4 x, float factor) {
    uint2 hi, lo;
    cut(x.x * factor, x.y * factor, hi.x, lo.x);
    cut(x.z * factor, x.w * factor, hi.y, lo.y);
    const int at = to.at(row, column / 8) + column % 8;
    *(uint2 *)(to.hi + at) = hi, *(uint2 *)(to.lo + at) = lo;
}

// Cuts the rows that this warp's own fetch brought, and turns them before if TURN. Every lane reads
// what it copied, so no barrier is needed in between. The first row becomes row0, at the position.
template <bool TURN>
__device__ void split(const Pieces &to, int row0, const float *raw, const float4 *turns,
                      int neighbours, int position) {
    __pipeline_wait_prior(0);
    const int x = LANE % CHUNKS * 4;
    float4 each[4]; // of this lane's pairs
    for (int i = 0; TURN && i < 4; i++) each[i] = turns[i * CHUNKS + LANE % CHUNKS];
    for (int group = WARP * 8; group < BC; group += WARPS * 8) {
        const float4 *from = (const float4 *)(raw + group * DIM + x);
        float most = 0.0f;
        for (int at = LANE / CHUNKS * CHUNKS * 2; at < CHUNKS * 16; at += APART * CHUNKS * 2)
            most = fmaxf(most, fmaxf(largest(from[at]), largest(from[at + CHUNKS])));
        // As integers, positive floats have the same order. The largest becomes 2^14 ... 2^15:
        // turning adds a factor sqrt(2) at most, and halves end at 2^16.
        const unsigned bits = __reduce_max_sync(EVERYONE, __float_as_uint(most));
        const int exponent = max((int)(bits >> 23), 15) - 127 - 14;
        if (LANE == 0) to.exponents[(row0 + group) / 8] = exponent;
        float2 by[4]; // a sine is dear: the first row has its own, and further rows add angles
        const int first = position + group + LANE / CHUNKS;
        for (int i = 0; TURN && i < 4; i++) by[i] = angle(each[i], first);
#pragma unroll
        for (int line = LANE / CHUNKS; line < 8; line += APART) {
            float4 a = from[line * CHUNKS * 2], b = from[line * CHUNKS * 2 + CHUNKS];
            if (TURN && neighbours) {
                const float4 u = a, v = b; // then a has the pairs' first numbers, b the second
                a = make_float4(u.x, u.z, v.x, v.z), b = make_float4(u.y, u.w, v.y, v.w);
            }
            if (TURN) {
                turn(a.x, b.x, by[0]), turn(a.y, b.y, by[1]);
                turn(a.z, b.z, by[2]), turn(a.w, b.w, by[3]);
                for (int i = 0; i < 4; i++)
                    turn(by[i].x, by[i].y, make_float2(each[i].z, each[i].w));
            }
            store(to, row0 + group + line, x, a, power(-exponent));
            store(to, row0 + group + line, DIM / 2 + x, b, power(-exponent));
        }
    }
}

// d += a * b for two neighbouring fragments of 8 columns.
__device__ void multiply(float (*d)[4], const unsigned (&a)[4], const unsigned (&b)[4]) {
    mma_f16(d[0], a, b[0], b[1]), mma_f16(d[1], a, b[2], b[3]);
}

// score = q * k^T, in units of 2^(the exponents). The two small products come first: tensor cores
// cut off what does not fit a sum, so the fewer additions meet a large one the better.
__device__ void scores(float (&score)[TALL][STEPS][4], const Pieces &q, const Pieces &k) {
    for (int product = 0; product < 3; product++) {
        const __half *fromQ = product == 1 ? q.lo : q.hi, *fromK = product == 0 ? k.lo : k.hi;
#pragma unroll 2
        for (int x = 0; x < CHUNKS; x += 2) {
            unsigned a[TALL][4], b[4];
            for (int m = 0; m < TALL; m++)
                load_matrix(a[m], fromQ + q.at((WARP * TALL + m) * 16 + LANE % 16, x + LANE / 16));
#pragma unroll
            for (int n = 0; n < STEPS; n += 2) {
                load_matrix(b, fromK + k.at(n * 8 + LANE / 16 * 8 + LANE % 8, x + LANE / 8 % 2));
                for (int m = 0; m < TALL; m++) multiply(&score[m][n], a[m], b);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    rope(const float *q, const float *k, const float *v, const int *start, float *out, int heads,
         int seqQ, int seqK, int dim, int causal, int neighbours, double log2Base, float factor) {
    extern __shared__ __align__(128) unsigned char shared[]; // rope.go computes its size
    __half *at = (__half *)shared;
    float4 *turns = (float4 *)(shared + 4 * DIM * (BR + 3 * BC));
    int *exponents = (int *)(turns + DIM / 2);
    const Pieces qs = {at, at + BR * DIM, exponents};
    const Pieces ks = {at += 2 * BR * DIM, at + BC * DIM, exponents + BR / 8};
    const Pieces vs = {at += 2 * BC * DIM, at + BC * DIM, exponents + BR / 8 + STEPS};
    float *raw = (float *)(at + 2 * BC * DIM);

    const int blocks = (seqQ + BR - 1) / BR; // of one head
    const size_t head = blockIdx.x / blocks;
    const int block0 = (blocks - 1 - blockIdx.x % blocks) * BR; // the longest come first
    const int query0 = block0 + WARP * TALL * 16;               // this warp's first
    q += head * seqQ * dim, out += head * seqQ * dim;
    k += head * seqK * dim, v += head * seqK * dim;
    const int from = start[head / heads]; // the position of query 0

    // 1. So that lanes meet different banks: each pair's turns a step, as a sum of two floats
    //    (one has too few bits for position 100,000), and cosine and sine of APART steps.
    const int half = dim / 2;
    for (int i = threadIdx.x; i < DIM / 2; i += WARPS * 32) {
        const int n = i / CHUNKS, x = i % CHUNKS * 4; // a lane's pair n, and its first column
        const int pair = neighbours ? ((n < 2 ? 0 : half) + x) / 2 + n % 2 : x + n;
        const double each = exp2(-2.0 * pair / dim * log2Base) * 0.15915494309189535; // 1 / (2 pi)
        turns[i].x = (float)each, turns[i].y = (float)(each - turns[i].x);
        sincospif((float)(2 * APART * each), &turns[i].w, &turns[i].z);
    }
    __syncthreads(); // turns is complete
    // 2. Stage the queries, once.
    for (int line = 0; line < BR; line += BC) {
        fetch(raw, q, block0 + line, seqQ, dim, half);
        split<true>(qs, line, raw, turns, neighbours, from + block0 + line);
    }
    __syncthreads(); // q is complete, for a warp's rows may have been cut by another

    float top[LINES], sum[LINES] = {}, acc[TALL][DIM / 8][4] = {}; // acc is in units of 2^unit
    int unit = -126;
    for (int r = 0; r < LINES; r++) top[r] = -INFINITY;

    // With the mask query i sees the keys up to i + lead, whose positions are not after its own.
    const int lead = causal ? from : seqK;
    const int keys = min(seqK, block0 + BR + lead);
    fetch(raw, k, 0, seqK, dim, half);

    for (int key0 = 0; key0 < keys; key0 += BC) {
        // 3. Turn the keys and cut them in two, and let the values come meanwhile.
        split<true>(ks, 0, raw, turns, neighbours, key0);
        fetch(raw, v, key0, seqK, dim, DIM / 2);
        __syncthreads(); // k is complete; and all are done with the last tile's v

        // 4. Scores, unless the mask hides the whole tile from this warp.
        const bool sees = key0 < query0 + TALL * 16 + lead;
        const bool edge = key0 + BC > seqK || key0 + BC - 1 > query0 + lead;
        float score[TALL][STEPS][4] = {};
        if (sees) {
            scores(score, qs, ks);
            for (int i = 0; i < TALL * STEPS * 4; i++) {
                float &s = score[i / (STEPS * 4)][i / 4 % STEPS][i % 4];
                s *= power(ks.exponents[i / 4 % STEPS]);
                const int query = query0 + i / (STEPS * 4) * 16 + LANE / 4 + i % 4 / 2 * 8;
                const int key = key0 + i / 4 % STEPS * 8 + LANE % 4 * 2 + i % 2;
                if (edge && (key >= seqK || key > query + lead)) s = -INFINITY;
            }
        }

        // 5. Cut the values in two, and let the next keys come meanwhile.
        split<false>(vs, 0, raw, turns, 0, 0);
        if (key0 + BC < keys) fetch(raw, k, key0 + BC, seqK, dim, half);
        __syncthreads(); // v is complete; and all are done with k
        if (!sees) continue;

        // 6. Online softmax: a new maximum, or a new unit, rescales what was summed before. factor
        //    is log2(e) / sqrt(dim). Probabilities are 2^14 times what they are called.
        int newUnit = unit;
        for (int n = 0; n < STEPS; n++) newUnit = max(newUnit, vs.exponents[n]);
        float rescale[LINES];
        for (int r = 0; r < LINES; r++) {
            const float scale = factor * power(qs.exponents[WARP * LINES + r]);
            float(*line)[4] = score[r / 2], most = -INFINITY;
            for (int i = 0; i < BC / 4; i++) most = fmaxf(most, line[i / 2][r % 2 * 2 + i % 2]);
            most = fmaxf(most, __shfl_xor_sync(EVERYONE, most, 1)); // four lanes share a row
            most = fmaxf(most, __shfl_xor_sync(EVERYONE, most, 2));
            most = fmaxf(top[r], most * scale);
            rescale[r] = exp2f(top[r] - most);
            top[r] = most, sum[r] *= rescale[r]; // top is finite: key 0 is never hidden
            rescale[r] *= power(unit - newUnit);
            for (int i = 0; i < BC / 4; i++) {
                float &s = line[i / 2][r % 2 * 2 + i % 2];
                sum[r] += s = exp2f(fmaf(s, scale, 14.0f - most));
            }
        }
        unit = newUnit;

        // 7. Cut the probabilities in two, as [16 x 16] fragments. A group of values smaller than
        //    the largest so far was scaled by more: its probabilities make up for it.
        unsigned pHi[TALL][STEPS / 2][4], pLo[TALL][STEPS / 2][4];
        for (int i = 0; i < STEPS * LINES; i++) {
            const int n = i / LINES, r = i % LINES, part = n % 2 * 2 + r % 2;
            const float *p = &score[r / 2][n][r % 2 * 2], by = power(vs.exponents[n] - unit);
            cut(p[0] * by, p[1] * by, pHi[r / 2][n / 2][part], pLo[r / 2][n / 2][part]);
        }

        // 8. Add the weighted values. A tile's sum starts from zero, small products by themselves,
        //    and meets the output only once, by an addition that rounds.
#pragma unroll
        for (int x = 0; x < CHUNKS; x += 2) {
            float big[TALL][2][4] = {}, small[TALL][2][4] = {};
#pragma unroll
            for (int n = 0; n < STEPS / 2; n++) {
                unsigned vHi[4], vLo[4];
                const int place = vs.at(n * 16 + LANE % 16, x + LANE / 16);
                load_matrix_transposed(vHi, vs.hi + place);
                load_matrix_transposed(vLo, vs.lo + place);
                for (int m = 0; m < TALL; m++) {
                    multiply(small[m], pHi[m][n], vLo), multiply(small[m], pLo[m][n], vHi);
                    multiply(big[m], pHi[m][n], vHi);
                }
            }
            for (int i = 0; i < TALL * 8; i++) {
                const int m = i / 8, n = i / 4 % 2, e = i % 4;
                float &a = acc[m][x + n][e];
                a = fmaf(a, rescale[2 * m + e / 2], big[m][n][e] + small[m][n][e]);
            }
        }
    }

    // 9. Divide by the whole row's sum, and write.
    for (int r = 0; r < LINES; r++) {
        for (int by = 1; by < 4; by *= 2) sum[r] += __shfl_xor_sync(EVERYONE, sum[r], by);
        const float inverse = power(unit) / sum[r];
        const int query = query0 + r / 2 * 16 + LANE / 4 + r % 2 * 8;
        float2 *to = (float2 *)(out + (size_t)query * dim + LANE % 4 * 2);
        for (int n = 0; n < CHUNKS; n++) {
            const float *a = &acc[r / 2][n][r % 2 * 2];
            if (query < seqQ && n * 8 < dim)
                to[n * 4] = make_float2(a[0] * inverse, a[1] * inverse);
        }
    }
}
