// Attention whose scores are products of codes, without tensor cores: out = softmax(q * k^T /
// sqrt(dim)) * v.
//
//   q codes [batch * heads, seqQ, DIM]     k codes, v [batch * heads / group, seqK, DIM]
//
// A block has 64 queries of one head, each warp 8 of them, and walks over the keys, 32 at a time: a
// lane has one key of a tile for the scores, and some columns of the output. __dp4a multiplies four
// codes by four and adds the products to an integer.
//
// The host defines DIM (64 or 128), and TENSOR where scale and zero are the whole tensor's and v
// is codes, too. Without, each 64 rows of q and of k have a scale, and v is halves.

#include <cuda_fp16.h>
#include <stdint.h>

#ifdef TENSOR
typedef int8_t Value;
typedef int PerKeys;
#else
typedef __half Value;
typedef float PerKeys;
constexpr int BLOCK = 64; // rows that share a scale
#endif

constexpr int WARPS = 8, EACH = 8, KEYS = 32; // EACH: queries of a warp
constexpr int ROWS = WARPS * EACH, THREADS = WARPS * 32;
constexpr int WORDS = DIM / 4, COLUMNS = DIM / 32;
constexpr unsigned EVERYONE = 0xffffffff;

__device__ float largestOf(float x) {
    for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(EVERYONE, x, step));
    return x;
}
__device__ float sumOf(float x) {
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(EVERYONE, x, step);
    return x;
}

// Rows of codes, four to a word, from row first on; zeros behind the last.
template <int LINES, int WIDTH>
__device__ void load(int (&to)[LINES][WIDTH], const int8_t *from, int first, int len) {
    for (int i = threadIdx.x; i < LINES * WORDS; i += THREADS) {
        const int row = i / WORDS, word = i % WORDS;
        to[row][word] =
            first + row < len ? ((const int *)from)[(size_t)(first + row) * WORDS + word] : 0;
    }
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two. With TENSOR, qScale is scale
// and zero of q, k and v, one after another, and kScale the sum of each key's codes.
extern "C" __global__
__launch_bounds__(THREADS) void attention(const int8_t *q, const int8_t *k, const Value *v,
                                          __half *out, const float *qScale, const PerKeys *kScale,
                                          int seqQ, int seqK, int group, int causal, float scale) {
    // A row of k has one word more, so that 32 lanes find word w of their keys in different banks.
    __shared__ int qs[ROWS][WORDS], ks[KEYS][WORDS + 1];
    __shared__ float vs[KEYS][DIM];
    const int lane = threadIdx.x % 32, mine = threadIdx.x / 32 * EACH;
    const int head = blockIdx.y, firstRow = blockIdx.x * ROWS, before = seqK - seqQ;
    q += (size_t)head * seqQ * DIM, out += (size_t)head * seqQ * DIM;
    k += (size_t)(head / group) * seqK * DIM, v += (size_t)(head / group) * seqK * DIM;
    const int seen = causal ? min(seqK, before + firstRow + ROWS) : seqK; // by the last row

#ifdef TENSOR
    const float both = scale * qScale[0] * qScale[2], valueScale = qScale[4];
    const int zeroQ = (int)qScale[1], zeroV = (int)qScale[5];
    kScale += (size_t)(head / group) * seqK;
#else
    const int zeroV = 0;
    const float scaleQ = scale * qScale[head * gridDim.x + blockIdx.x], valueScale = 1;
    kScale += (head / group) * ((seqK + BLOCK - 1) / BLOCK);
#endif

    float o[EACH][COLUMNS] = {}, largest[EACH], sum[EACH] = {};
#pragma unroll
    for (int e = 0; e < EACH; e++) largest[e] = -INFINITY;
    load(qs, q, firstRow, seqQ);
    for (int first = 0; first < seen; first += KEYS) {
        load(ks, k, first, seqK);
        for (int i = threadIdx.x; i < KEYS * DIM; i += THREADS) {
            const int row = first + i / DIM;
            vs[i / DIM][i % DIM] = row < seqK ? (float)v[(size_t)row * DIM + i % DIM] - zeroV : 0;
        }
        __syncthreads(); // q, k and v are there for all

        const int key = first + lane;
#ifdef TENSOR
        // (q - zeroQ) * k: what is left of the zeros, for those of k move all of a row.
        const int start = key < seqK ? -zeroQ * kScale[key] : 0;
#else
        const int start = 0;
        const float both = scaleQ * kScale[first / BLOCK];
#endif
#pragma unroll // largest, sum and o are registers if e is known
        for (int e = 0; e < EACH; e++) {
            int dot = start;
#pragma unroll
            for (int w = 0; w < WORDS; w++) dot = __dp4a(qs[mine + e][w], ks[lane][w], dot);
            const int row = firstRow + mine + e;
            const bool there = key < seqK && !(causal && key > before + row);
            const float score = there ? dot * both : -INFINITY;

            // One step of the online softmax. A row without a key so far: -inf - -inf would be NaN.
            const float most = fmaxf(largest[e], largestOf(score));
            const float base = most == -INFINITY ? 0 : most;
            const float p = exp2f(score - base), rescale = exp2f(largest[e] - base);
            largest[e] = most;
            sum[e] = sum[e] * rescale + p;
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) o[e][c] *= rescale;
            for (int j = 0; j < KEYS; j++) {
                const float weight = __shfl_sync(EVERYONE, p, j);
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) o[e][c] += weight * vs[j][c * 32 + lane];
            }
        }
        __syncthreads(); // all are done with k and v
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int row = firstRow + mine + e;
        const float all = sumOf(sum[e]);
        const float inverse =
            all == 0 ? 0 : valueScale / all; // a query that sees no key gets zeros
        if (row >= seqQ) continue;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            out[(size_t)row * DIM + c * 32 + lane] = __float2half(o[e][c] * inverse);
    }
}
