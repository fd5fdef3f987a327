// Attention in halves on tensor cores, by nvcuda::wmma, which CUDA C++ has for them:
// out = softmax(q * k^T / sqrt(DIM)) * v, sums in float32.
//
//   q, out [batch * heads, seqQ, DIM]      k, v [batch * heads / group, seqK, DIM]
//
// A block has ROWS queries of one head, each warp 16 of them: a wmma tile is 16 x 16, and the rows
// of a softmax then belong to one warp, which needs no barrier to work on them. Keys and values
// arrive by cp.async, KEYS at a time, in two buffers: while the warps compute on one, the next
// tile is on its way to the other.
//
// Which lane holds which element of a wmma fragment is not told. So scores go through shared
// memory, and so does the output, for a lane has to know whose row it rescales. This is what
// the next version saves.
//
// The host defines DIM (64 or 128), and BRAIN for bfloat16.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <mma.h>

using namespace nvcuda;

#ifdef BRAIN
typedef __nv_bfloat16 Half;
typedef __nv_bfloat162 Pair;
__device__ Pair narrow(float x, float y) {
    return __floats2bfloat162_rn(x, y);
}
#else
typedef __half Half;
typedef __half2 Pair;
__device__ Pair narrow(float x, float y) {
    return __floats2half2_rn(x, y);
}
#endif

constexpr int WARPS = 4, THREADS = WARPS * 32, ROWS = WARPS * 16, KEYS = 32;
// Rows are 16 bytes longer than they need be: neighbours begin in other banks.
constexpr int WIDE = DIM + 8, SCORES = KEYS + 4, HALVES = KEYS + 8, SUMS = DIM + 4;
constexpr unsigned EVERYONE = 0xffffffff;

// Shared memory; each warp has its own rows of the last three.
struct Tiles {
    Half k[2][KEYS][WIDE], v[2][KEYS][WIDE];
    float scores[ROWS][SCORES];
    Half p[ROWS][HALVES];
    float out[ROWS][SUMS];
};

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, Half, wmma::row_major> Left;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, Half, wmma::col_major> Transposed;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, Half, wmma::row_major> Right;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sums;

// Asks for a tile of a matrix [len, DIM] from row first on, 16 bytes a thread. Behind the end there
// are zeros, so that no product meets what nobody wrote.
template <int LINES>
__device__ void fetch(Half (*to)[WIDE], const Half *matrix, int first, int len) {
    for (int i = threadIdx.x; i < LINES * DIM / 8; i += THREADS) {
        const int row = i / (DIM / 8), column = i % (DIM / 8) * 8;
        const bool there = first + row < len;
        const Half *from = there ? matrix + (size_t)(first + row) * DIM + column : matrix;
        __pipeline_memcpy_async(&to[row][column], from, 16, there ? 0 : 16);
    }
}

extern "C" __global__ __launch_bounds__(THREADS) void attention(const Half *q, const Half *k,
                                                                const Half *v, Half *out, int seqQ,
                                                                int seqK, int group, int causal,
                                                                float scale) {
    extern __shared__ __align__(128) unsigned char memory[];
    Tiles &tiles = *reinterpret_cast<Tiles *>(memory);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, mine = warp * 16;
    const int head = blockIdx.y, firstRow = blockIdx.x * ROWS, before = seqK - seqQ;
    q += (size_t)head * seqQ * DIM, out += (size_t)head * seqQ * DIM;
    k += (size_t)(head / group) * seqK * DIM, v += (size_t)(head / group) * seqK * DIM;
    const int seen = causal ? min(seqK, before + firstRow + ROWS) : seqK; // by the last row

    // 1. This warp's queries, as fragments that stay in registers. They pass through a buffer that
    // keys will have later.
    Half(*staged)[WIDE] = tiles.k[0]; // 2 * KEYS rows, one buffer behind the other
    static_assert(2 * KEYS == ROWS, "the queries fill both buffers of keys");
    fetch<ROWS>(staged, q, firstRow, seqQ);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads(); // all queries are there
    Left queries[DIM / 16];
    for (int x = 0; x < DIM / 16; x++)
        wmma::load_matrix_sync(queries[x], &staged[mine][x * 16], WIDE);
    for (int i = lane; i < 16 * DIM; i += 32) tiles.out[mine + i / DIM][i % DIM] = 0;
    __syncthreads(); // all are done with the buffer

    // Two lanes share a row: each has half of its keys, and half of its output.
    const int row = mine + lane / 2, part = lane % 2;
    float largest = -INFINITY, sum = 0;

    if (seen > 0) {
        fetch<KEYS>(tiles.k[0], k, 0, seqK);
        fetch<KEYS>(tiles.v[0], v, 0, seqK);
    }
    __pipeline_commit();
    for (int key = 0, buffer = 0; key < seen; key += KEYS, buffer ^= 1) {
        if (key + KEYS < seen) { // the next tile is on its way while this one is computed
            fetch<KEYS>(tiles.k[buffer ^ 1], k, key + KEYS, seqK);
            fetch<KEYS>(tiles.v[buffer ^ 1], v, key + KEYS, seqK);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1); // all but the one just asked for
        __syncthreads();          // what the others asked for is there, too

        // 2. Scores [16, KEYS].
        for (int j = 0; j < KEYS; j += 16) {
            Sums s;
            wmma::fill_fragment(s, 0.0f);
            for (int x = 0; x < DIM / 16; x++) {
                Transposed b;
                wmma::load_matrix_sync(b, &tiles.k[buffer][j][x * 16], WIDE);
                wmma::mma_sync(s, queries[x], b, s);
            }
            wmma::store_matrix_sync(&tiles.scores[mine][j], s, SCORES, wmma::mem_row_major);
        }
        __syncwarp(); // the warp's scores are there

        // 3. Softmax: relative to the largest score so far, so what was summed is rescaled.
        float *scores = &tiles.scores[row][part * (KEYS / 2)];
        float most = largest;
        for (int j = 0; j < KEYS / 2; j++) {
            const int column = key + part * (KEYS / 2) + j;
            const bool sees = column < seqK && (!causal || column <= before + firstRow + row);
            scores[j] = sees ? scores[j] : -INFINITY;
            most = fmaxf(most, scores[j]);
        }
        most = fmaxf(most, __shfl_xor_sync(EVERYONE, most, 1));
        // A row without a key so far: -inf - -inf would be NaN.
        const float base = most == -INFINITY ? 0 : most * scale;
        const float rescale = exp2f(largest * scale - base);
        largest = most;
        sum *= rescale;
        for (int j = 0; j < KEYS / 2; j += 2) {
            const float x = exp2f(fmaf(scores[j], scale, -base));
            const float y = exp2f(fmaf(scores[j + 1], scale, -base));
            sum += x + y; // before they are rounded
            *reinterpret_cast<Pair *>(&tiles.p[row][part * (KEYS / 2) + j]) = narrow(x, y);
        }
        for (int x = 0; x < DIM / 2; x++) tiles.out[row][part * (DIM / 2) + x] *= rescale;
        __syncwarp(); // the warp's probabilities are there, and its output is rescaled

        // 4. Output [16, DIM] += p * v.
        for (int x = 0; x < DIM; x += 16) {
            Sums o;
            wmma::load_matrix_sync(o, &tiles.out[mine][x], SUMS, wmma::mem_row_major);
            for (int j = 0; j < KEYS; j += 16) {
                Left a;
                Right b;
                wmma::load_matrix_sync(a, &tiles.p[mine][j], HALVES);
                wmma::load_matrix_sync(b, &tiles.v[buffer][j][x], WIDE);
                wmma::mma_sync(o, a, b, o);
            }
            wmma::store_matrix_sync(&tiles.out[mine][x], o, SUMS, wmma::mem_row_major);
        }
        __syncthreads(); // all are done with this buffer: the next round fills it again
    }

    // 5. Each lane divides its half of a row. Then the warp writes its rows, neighbours by
    // neighbours.
    sum += __shfl_xor_sync(EVERYONE, sum, 1);
    const float inverse = sum == 0 ? 0 : 1 / sum; // a query that sees no key gets zeros
    for (int x = 0; x < DIM / 2; x++) tiles.out[row][part * (DIM / 2) + x] *= inverse;
    __syncwarp(); // the warp's rows are divided
    for (int i = lane; i < 16 * DIM / 2; i += 32) {
        const int line = mine + i / (DIM / 2), x = i % (DIM / 2) * 2;
        if (firstRow + line < seqQ)
            *reinterpret_cast<Pair *>(out + (size_t)(firstRow + line) * DIM + x) =
                narrow(tiles.out[line][x], tiles.out[line][x + 1]);
    }
}
