// Attention of a prompt's tokens in halves, on tensor cores, as bonus task b2's: a block has ROWS
// queries of one head, and each of its warps 32. It walks over the keys, 64 at a time, from the
// last to the first. Tiles arrive by cp.async while the warps compute: v's during the scores, the
// next k's during the softmax. Scores and output never leave the registers.
//
//   q [batch, heads, count, DIM]     k, v [batch, slots, kvHeads, DIM]
//   out [batch, count, heads * DIM]
//
// Query i of sequence b sees the slots 0 ... before[b] + i. What lies behind a sequence's end is
// not read.

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <early.h>
#include <stdint.h>
#include <tensorcore.h>

constexpr int WARPS = 4, TALL = 2, KEYS = 64; // TALL: tiles of 16 queries that a warp has
constexpr int ROWS = WARPS * TALL * 16, THREADS = WARPS * 32;
constexpr unsigned EVERYONE = 0xffffffff;

// Where a piece of 16 bytes of a line is in a tile. A line's pieces change places, by the line's
// last three bits: eight lines of one column of pieces, as load_matrix reads them, are then in
// different banks.
template <int DIM> __device__ int place(int line, int piece) {
    return line * DIM * 2 + (piece ^ line % 8) * 16;
}

// Asks for LINES lines of DIM numbers, `apart` from one another, from line `first` on; zeros for
// those behind the last one. A thread takes one piece of every STRIDE-th line; as STRIDE is a
// multiple of 8, it is at the same place in each.
template <int DIM, int LINES>
__device__ void fetch(unsigned char *tile, const __half *lines, int apart, int first, int len) {
    constexpr int PIECES = DIM / 8, STRIDE = THREADS / PIECES;
    const int line = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
    unsigned char *to = tile + place<DIM>(line, piece);
    const __half *from = lines + (size_t)(first + line) * apart + piece * 8;
#pragma unroll
    for (int i = 0; i < LINES; i += STRIDE) {
        if (first + line + i < len)
            __pipeline_memcpy_async(to + i * DIM * 2, from + i * apart, 16);
        else
            *(uint4 *)(to + i * DIM * 2) = make_uint4(0, 0, 0, 0);
    }
}

// Waits until all that this thread asked for has arrived.
__device__ void arrived() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

__device__ float power2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ uint32_t pack(float low, float high) {
    __half2 two = __floats2half2_rn(low, high);
    return *reinterpret_cast<uint32_t *>(&two);
}

// The largest, or the sum, of four lanes that share a row.
__device__ float largestOf(float x) {
    x = fmaxf(x, __shfl_xor_sync(EVERYONE, x, 1));
    return fmaxf(x, __shfl_xor_sync(EVERYONE, x, 2));
}
__device__ float sumOf(float x) {
    x += __shfl_xor_sync(EVERYONE, x, 1);
    return x + __shfl_xor_sync(EVERYONE, x, 2);
}

// Of a fragment [16 x 8] of sums, a lane holds the elements [lane / 4 + 8 * h][lane % 4 * 2 + c]
// as number 2 * h + c.
typedef float Scores[KEYS / 8][4];
template <int DIM> using Output = float[DIM / 8][4];

// What is known of the two rows of a tile that a lane has a part of.
struct Rows {
    float largest[2], sum[2]; // scores in units of scale; this lane's part of the sum
};

// One step of the online softmax: scores become probabilities relative to the largest so far, and
// what was summed before is rescaled to it.
template <int DIM> __device__ void softmax(Scores &s, Output<DIM> &o, Rows &rows, float scale) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float largest = rows.largest[h];
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
            largest = fmaxf(largest, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
        largest = largestOf(largest);
        // A row without a key so far: -inf - -inf would be NaN.
        const float base = largest == -INFINITY ? 0 : largest * scale;
        const float rescale = power2(rows.largest[h] * scale - base);
        float sum = 0;
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
            for (int c = 0; c < 2; c++) {
                float &x = s[j][2 * h + c];
                x = power2(fmaf(x, scale, -base));
                sum += x;
            }
        }
        rows.largest[h] = largest;
        rows.sum[h] = rows.sum[h] * rescale + sum;
#pragma unroll
        for (int j = 0; j < DIM / 8; j++) o[j][2 * h] *= rescale, o[j][2 * h + 1] *= rescale;
    }
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
template <int DIM>
__device__ __forceinline__ void attend(const __half *q, const __half *k, const __half *v,
                                       __half *out, const int *before, int count, int heads,
                                       int kvHeads, int slots, float scale) {
    extern __shared__ __align__(1024) unsigned char qs[]; // [ROWS][DIM], k's and v's [KEYS][DIM]
    unsigned char *ks = qs + ROWS * DIM * 2, *vs = ks + KEYS * DIM * 2;
    const int lane = threadIdx.x % 32, mine = threadIdx.x / 32 * TALL * 16;

    // The last rows see the most keys: they start first.
    const int sequence = blockIdx.x / heads, head = blockIdx.x % heads;
    const int firstRow = (gridDim.y - 1 - blockIdx.y) * ROWS;
    const int token = kvHeads * DIM;
    const size_t start = (size_t)sequence * slots * token + head / (heads / kvHeads) * DIM;
    q += (size_t)blockIdx.x * count * DIM, k += start, v += start;
    out += ((size_t)sequence * count * heads + head) * DIM;
    waitForInputs();
    // A graph may be launched once too often: never read beyond the cache.
    const int older = min(slots, max(0, before[sequence]));
    const int len = min(slots, older + count), seen = min(len, older + firstRow + ROWS);

    Output<DIM> o[TALL] = {};
    Rows rows[TALL];
#pragma unroll
    for (int t = 0; t < TALL; t++) rows[t] = {{-INFINITY, -INFINITY}, {0, 0}};

    // Where this lane's line of the first fragments is. The pieces of later columns are found by
    // flipping bits, those of later lines by adding: neither needs a register of its own.
    const int qAt = place<DIM>(mine + lane % 16, lane / 16);
    const int kAt = place<DIM>(lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const int vAt = place<DIM>(lane % 16, lane / 16);

    int key = (seen - 1) / KEYS * KEYS; // the first of the tile
    fetch<DIM, ROWS>(qs, q, DIM, firstRow, count);
    fetch<DIM, KEYS>(ks, k, token, key, len);
    for (; key >= 0; key -= KEYS) {
        arrived();
        __syncthreads(); // k has arrived, and every warp is done with v
        fetch<DIM, KEYS>(vs, v, token, key, len);

        // 1. Scores: each fragment of k serves all tiles of the warp.
        float s[TALL][KEYS / 8][4] = {};
#pragma unroll
        for (int i = 0; i < DIM / 16; i++) {
            unsigned a[TALL][4], b[4];
#pragma unroll
            for (int t = 0; t < TALL; t++)
                load_matrix(a[t], qs + (qAt ^ i * 32) + t * 16 * DIM * 2);
#pragma unroll
            for (int j = 0; j < KEYS / 16; j++) {
                load_matrix(b, ks + (kAt ^ i * 32) + j * 16 * DIM * 2);
#pragma unroll
                for (int t = 0; t < TALL; t++) {
                    mma_f16(s[t][2 * j], a[t], b[0], b[1]);
                    mma_f16(s[t][2 * j + 1], a[t], b[2], b[3]);
                }
            }
        }
        arrived();
        __syncthreads(); // v has arrived, and every warp is done with k
        if (key > 0) fetch<DIM, KEYS>(ks, k, token, key - KEYS, len);

        // 2. Softmax. Only tiles on the edge have keys that some row does not see.
        if (key + KEYS > older + firstRow + mine + 1) {
#pragma unroll
            for (int t = 0; t < TALL; t++) {
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        const int column = key + j * 8 + lane % 4 * 2 + i % 2;
                        const int row = firstRow + mine + t * 16 + lane / 4 + i / 2 * 8;
                        if (column > older + row) s[t][j][i] = -INFINITY;
                    }
                }
            }
        }
#pragma unroll
        for (int t = 0; t < TALL; t++) softmax<DIM>(s[t], o[t], rows[t], scale);

            // 3. Output: sums of one product are, rounded, what the next one takes.
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
            unsigned a[TALL][4], b[4];
#pragma unroll
            for (int t = 0; t < TALL; t++) {
                const float(&left)[4] = s[t][2 * i], (&right)[4] = s[t][2 * i + 1];
                a[t][0] = pack(left[0], left[1]), a[t][1] = pack(left[2], left[3]);
                a[t][2] = pack(right[0], right[1]), a[t][3] = pack(right[2], right[3]);
            }
#pragma unroll
            for (int j = 0; j < DIM / 16; j++) {
                load_matrix_transposed(b, vs + (vAt ^ j * 32) + i * 16 * DIM * 2);
#pragma unroll
                for (int t = 0; t < TALL; t++) {
                    mma_f16(o[t][2 * j], a[t], b[0], b[1]);
                    mma_f16(o[t][2 * j + 1], a[t], b[2], b[3]);
                }
            }
        }
    }

#pragma unroll
    for (int t = 0; t < TALL; t++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float inverse = 1 / sumOf(rows[t].sum[h]); // every query sees a key
            const int row = firstRow + mine + t * 16 + lane / 4 + h * 8;
            if (row >= count) continue;
            uint32_t *to = reinterpret_cast<uint32_t *>(out + (size_t)row * heads * DIM) + lane % 4;
#pragma unroll
            for (int j = 0; j < DIM / 8; j++)
                to[4 * j] = pack(o[t][j][2 * h] * inverse, o[t][j][2 * h + 1] * inverse);
        }
    }
}

#define ATTEND(NAME, DIM)                                                                          \
    extern "C" __global__ __launch_bounds__(THREADS, 2) void NAME(                                 \
        const __half *q, const __half *k, const __half *v, __half *out, const int *before,         \
        int count, int heads, int kvHeads, int slots, float scale) {                               \
        attend<DIM>(q, k, v, out, before, count, heads, kvHeads, slots, scale);                    \
    }
ATTEND(attend_64, 64)
ATTEND(attend_128, 128)
