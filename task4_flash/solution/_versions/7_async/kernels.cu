// Attention in one kernel: out = softmax(q * k^T / sqrt(dim)) * v, float32, on tensor cores.
//
// Version 7. What is new: copies run while the warps compute (cp.async, which CUDA calls
// pipelines). The next tile arrives in shared memory as float32, while the tensor cores multiply
// this one, and only then is cut in two halves, by pieces.cuh as in version 6.

#include <cuda_pipeline.h>
#include "pieces.cuh"

struct Shared {
    Matrix<BR> q;
    Matrix<BC> k, v;
    float raw[BC * DIM]; // a tile of any of them, as it arrives
};

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

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    flash(const float *q, const float *k, const float *v, float *out, int seqQ, int seqK, int dim,
          int causal, int wide, float factor) { // factor is log2(e) / sqrt(dim)
    extern __shared__ __align__(128) unsigned char bytes[];
    Shared &shared = *(Shared *)bytes;
    const int blocks = (seqQ + BR - 1) / BR, head = blockIdx.x / blocks; // blocks of one head
    // The last queries first: with the causal mask they take longest.
    const int block0 = (blocks - 1 - blockIdx.x % blocks) * BR;
    const int query0 = block0 + WARP * 16; // this warp's first
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
    EACH(h, 2) { // 2^(score * scale) is what exp would be, and exp2f is cheaper
        r.scale[h] = factor * powerOfTwo(-shared.q.scale[WARP * 2 + h]);
        r.largest[h] = -INFINITY;
    }
    // Query i sees the keys up to i + lead. Tiles behind the last query's last key are left out.
    const int lead = causal ? seqK - seqQ : seqK;
    const int keys = min(seqK, block0 + BR + lead);
    if (keys > 0) fetch<BC>(shared.raw, k, 0, seqK, dim, wide);
    for (int key0 = 0; key0 < keys; key0 += BC) {
        // 2. Cut the keys in two, and let the values come meanwhile.
        cutRows<BC>(shared.k, 0, shared.raw);
        fetch<BC>(shared.raw, v, key0, seqK, dim, wide);
        __syncthreads(); // k is complete; and all are done with the last tile's v

        // 3. Scores, unless all are masked: beyond the last key, or after the query.
        const bool sees = key0 < query0 + 16 + lead;
        const bool edge = key0 + BC > seqK || key0 + BC - 1 > query0 + lead;
        Scores score = {};
        if (sees) {
            scores(score, shared.q, shared.k);
            EACH(n, GROUPS) {
                const float back = powerOfTwo(-shared.k.scale[n]);
                EACH(i, 4) {
                    const int query = query0 + i / 2 * 8 + LANE / 4;
                    const int key = key0 + n * 8 + LANE % 4 * 2 + i % 2;
                    score[n][i] *= back;
                    if (edge && (key >= seqK || key > query + lead)) score[n][i] = -INFINITY;
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

    write(out, r.out, r.sum, powerOfTwo(-r.unit), query0, seqQ, dim, wide); // 6.
}
