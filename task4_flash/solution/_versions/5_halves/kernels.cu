// Attention in one kernel: out = softmax(q * k^T / sqrt(dim)) * v, float32. It is too inexact, on
// purpose: this rung shows how fast tensor cores are, and what halves cost. The next one mends
// that.
//
// Version 5. What is new: tensor cores multiply. They take halves, so a number is rounded to 11
// bits as it is staged (and becomes infinite from 65520 on), and so is a probability; sums are
// float32's. fragments.cuh says which lane holds what.

#include "fragments.cuh"

// Two numbers, rounded to halves that share a register.
__device__ unsigned halves(float x, float y) {
    const __half2 h = __floats2half2_rn(x, y);
    return *(unsigned *)&h;
}

// A matrix [ROWS x DIM] in shared memory. Rows are eight halves longer than needed: load_matrix
// reads 16 bytes of eight rows at once, which then lie in different banks.
template <int ROWS> struct __align__(16) Matrix {
    __half high[ROWS * (DIM + 8)];
};

struct Shared {
    Matrix<BR> q;
    Matrix<BC> k, v;
};

// Stages ROWS rows, from row0 on. What lies outside the matrix becomes zeros.
template <int ROWS>
__device__ void stage(Matrix<ROWS> &to, const float *matrix, int row0, int rows, int dim,
                      int wide) {
    for (int group = WARP; group < ROWS / 8; group += WARPS)
#pragma unroll
        EACH(j, DIM / 16) {
            const int i = LANE + 32 * j, line = group * 8 + i / (DIM / 4), x = i % (DIM / 4) * 4;
            const float4 v = read(matrix + (size_t)(row0 + line) * dim + x,
                                  row0 + line < rows ? dim - x : 0, wide);
            *(uint2 *)(to.high + at(line, x / 8) + x % 8) =
                make_uint2(halves(v.x, v.y), halves(v.z, v.w));
        }
}

// score = q * k^T.
__device__ void scores(Scores &score, const Matrix<BR> &q, const Matrix<BC> &k) {
#pragma unroll 2
    for (int x = 0; x < DIM / 16; x++) {
        unsigned a[4], b[4];
        load_matrix(a, q.high + at(WARP * 16 + LANE % 16, 2 * x + LANE / 16));
        EACH(n, GROUPS / 2) {
            load_matrix(b, k.high + at(n * 16 + LANE / 16 * 8 + LANE % 8, 2 * x + LANE / 8 % 2));
            multiply(&score[2 * n], a, b);
        }
    }
}

// What a warp knows of its queries so far. Lines h = 0 and 1 of a lane lie 8 rows apart.
struct Rows {
    float scale[2], largest[2]; // of the scores; the largest is scaled
    float sum[2], rescale[2];   // of probabilities; what is summed, when that changes
    float out[DIM / 8][4];
};

// Online softmax turns scores into probabilities: a new maximum rescales what was summed relative
// to the old one, by 2^(old - new).
__device__ void softmax(Rows &r, Scores &score) {
    EACH(h, 2) {
        float most = -INFINITY;
        EACH(i, 2 * GROUPS) most = fmaxf(most, score[i / 2][2 * h + i % 2]);
        EACH(i, 2) most = fmaxf(most, __shfl_xor_sync(EVERYONE, most, 1 + i)); // four share a row
        most = fmaxf(r.largest[h], most * r.scale[h]);
        const float base = most == -INFINITY ? 0.0f : most; // any number, as long as no key is seen
        r.rescale[h] = exp2f(r.largest[h] - base);
        r.largest[h] = most;
        r.sum[h] *= r.rescale[h];
        EACH(i, 2 * GROUPS) {
            float &s = score[i / 2][2 * h + i % 2];
            s = exp2f(fmaf(s, r.scale[h], -base));
            r.sum[h] += s;
        }
    }
}

// out = out * rescale + probabilities * v.
__device__ void addValues(Rows &r, const Scores &probability, const Matrix<BC> &v) {
    unsigned p[GROUPS / 2][4];
    EACH(n, GROUPS) EACH(h, 2) {
        const float *two = &probability[n][2 * h];
        p[n / 2][n % 2 * 2 + h] = halves(two[0], two[1]);
    }
    EACH(n, DIM / 8) EACH(i, 4) r.out[n][i] *= r.rescale[i / 2];
#pragma unroll
    EACH(x, DIM / 16) EACH(n, GROUPS / 2) {
        unsigned b[4];
        load_matrix_transposed(b, v.high + at(n * 16 + LANE % 16, 2 * x + LANE / 16));
        multiply(&r.out[2 * x], p[n], b);
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
    Rows r = {};
    EACH(h, 2) { // 2^(score * scale) is what exp would be, and exp2f is cheaper
        r.scale[h] = factor;
        r.largest[h] = -INFINITY;
    }
    // Query i sees the keys up to i + lead. Tiles behind the last query's last key are left out.
    const int lead = causal ? seqK - seqQ : seqK;
    const int keys = min(seqK, block0 + BR + lead);
    for (int key0 = 0; key0 < keys; key0 += BC) {
        // 2. Stage the keys and the values.
        stage(shared.k, k, key0, seqK, dim, wide);
        stage(shared.v, v, key0, seqK, dim, wide);
        __syncthreads(); // k and v are complete, and q in the first round

        // 3. Scores, unless all are masked: beyond the last key, or after the query.
        const bool sees = key0 < query0 + 16 + lead;
        const bool edge = key0 + BC > seqK || key0 + BC - 1 > query0 + lead;
        if (sees) {
            Scores score = {};
            scores(score, shared.q, shared.k);
            EACH(n, GROUPS) EACH(i, 4) {
                const int query = query0 + i / 2 * 8 + LANE / 4;
                const int key = key0 + n * 8 + LANE % 4 * 2 + i % 2;
                if (edge && (key >= seqK || key > query + lead)) score[n][i] = -INFINITY;
            }

            // 4. Probabilities, and the sum of the values by them.
            softmax(r, score);
            addValues(r, score, shared.v);
        }
        __syncthreads(); // all are done with k and v before the next overwrite them
    }

    write(out, r.out, r.sum, 1.0f, query0, seqQ, dim, wide); // 5.
}
