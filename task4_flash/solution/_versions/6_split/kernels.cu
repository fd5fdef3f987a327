// Attention in one kernel: out = softmax(q * k^T / sqrt(dim)) * v, float32, on tensor cores.
//
// Version 6. What is new: nothing is rounded away. Halves have 11 bits, float32 has 24, so a number
// is cut into two halves, x = high + low, and a product takes three. pieces.cuh has what comes of
// that: how numbers are cut, scores, softmax and the weighted sum. Here they are staged.

#include "pieces.cuh"

struct Shared {
    Matrix<BR> q;
    Matrix<BC> k, v;
};

// Stages ROWS rows, from row0 on, cut in two. What lies outside the matrix becomes zeros.
template <int ROWS>
__device__ void stage(Matrix<ROWS> &to, const float *matrix, int row0, int rows, int dim,
                      int wide) {
    for (int group = WARP; group < ROWS / 8; group += WARPS) {
        float4 four[DIM / 16];
        float most = 0.0f; // fmaxf passes over NaN, which stays NaN all the same
#pragma unroll
        EACH(j, DIM / 16) {
            const int i = LANE + 32 * j, line = group * 8 + i / (DIM / 4), x = i % (DIM / 4) * 4;
            const float4 v = four[j] = read(matrix + (size_t)(row0 + line) * dim + x,
                                            row0 + line < rows ? dim - x : 0, wide);
            most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
        }
        most = __uint_as_float(__reduce_max_sync(EVERYONE, __float_as_uint(most))); // same order
        const int n = scaleFor(most);
        if (LANE == 0) to.scale[group] = n;
        const float scale = most < INFINITY ? powerOfTwo(n) : NAN; // all 8 rows, rather than wrong
#pragma unroll
        EACH(j, DIM / 16) {
            const int i = LANE + 32 * j, line = group * 8 + i / (DIM / 4), x = i % (DIM / 4) * 4;
            const float4 v = four[j];
            uint2 high, low;
            cut(v.x * scale, v.y * scale, high.x, low.x);
            cut(v.z * scale, v.w * scale, high.y, low.y);
            *(uint2 *)(to.high + at(line, x / 8) + x % 8) = high;
            *(uint2 *)(to.low + at(line, x / 8) + x % 8) = low;
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
    stage(shared.q, q, block0, seqQ, dim, wide);
    __syncthreads(); // q is complete, for a warp's rows may have been cut by another
    Rows r = {};
    EACH(h, 2) { // 2^(score * scale) is what exp would be, and exp2f is cheaper
        r.scale[h] = factor * powerOfTwo(-shared.q.scale[WARP * 2 + h]);
        r.largest[h] = -INFINITY;
    }
    // Query i sees the keys up to i + lead. Tiles behind the last query's last key are left out.
    const int lead = causal ? seqK - seqQ : seqK;
    const int keys = min(seqK, block0 + BR + lead);
    for (int key0 = 0; key0 < keys; key0 += BC) {
        // 2. Stage the keys and the values.
        stage(shared.k, k, key0, seqK, dim, wide);
        stage(shared.v, v, key0, seqK, dim, wide);
        __syncthreads(); // k and v are complete

        // 3. Scores, unless all are masked: beyond the last key, or after the query.
        const bool sees = key0 < query0 + 16 + lead;
        const bool edge = key0 + BC > seqK || key0 + BC - 1 > query0 + lead;
        if (sees) {
            Scores score = {};
            scores(score, shared.q, shared.k);
            int unit = r.unit;
            EACH(n, GROUPS) {
                const float back = powerOfTwo(-shared.k.scale[n]);
                EACH(i, 4) {
                    const int query = query0 + i / 2 * 8 + LANE / 4;
                    const int key = key0 + n * 8 + LANE % 4 * 2 + i % 2;
                    score[n][i] *= back;
                    if (edge && (key >= seqK || key > query + lead)) score[n][i] = -INFINITY;
                }
                unit = min(unit, shared.v.scale[n]);
            }

            // 4. Probabilities, and the sum of the values by them.
            softmax(r, score, unit);
            addValues(r, score, shared.v);
        }
        __syncthreads(); // all are done with k and v before the next overwrite them
    }

    write(out, r.out, r.sum, powerOfTwo(-r.unit), query0, seqQ, dim, wide); // 5.
}
