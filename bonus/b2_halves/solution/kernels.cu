// Attention in halves on tensor cores, by the instructions that every GPU from Ampere on has:
// out = softmax(q * k^T / sqrt(dim)) * v, sums in float32.
//
//   q, out [batch * heads, seqQ, DIM]      k, v [batch * heads / group, seqK, DIM]
//
// A block has ROWS queries of one head, each warp 32 of them, and walks over the head's keys, 64
// at a time, from the last to the first. Tiles arrive by cp.async while the warps compute: v's
// during the scores, the next k's during the softmax. ldmatrix reads them as fragments, and
// mma.sync multiplies those. Scores and output never leave the registers.
//
// The host defines DIM (64 or 128), and BRAIN for bfloat16.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
#define TYPE "bf16"
#else
typedef __half Half;
#define TYPE "f16"
#endif

constexpr int WARPS = 4, TALL = 2, KEYS = 64; // TALL: tiles of 16 queries that a warp has
constexpr int ROWS = WARPS * TALL * 16, THREADS = WARPS * 32;
constexpr int PIECES = DIM / 8; // of a row: 16 bytes each, what one thread copies at a time
constexpr unsigned EVERYONE = 0xffffffff;
static_assert(DIM == 64 || DIM == 128, "the head's dimension is 64 or 128");

// Shared memory by its own addresses, which the instructions below take.
__device__ uint32_t at(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

// Rows of a tile lie one behind the other. Row r's pieces change places, by r's last three bits:
// eight rows of one column of pieces, as ldmatrix reads them, are then in different banks.
__device__ uint32_t place(uint32_t tile, int row, int piece) {
    return tile + (row * PIECES + (piece ^ row % 8)) * 16;
}

// Copies a piece while the thread continues, or writes zeros for one that lies outside.
__device__ void copy(uint32_t to, const Half *from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(there ? 16 : 0)
                 : "memory");
}

// Waits until all that this thread asked for has arrived.
__device__ void arrived() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// Asks for LINES rows of a matrix [len, DIM], from row first on. A thread takes one piece of every
// STRIDE-th row; as STRIDE is a multiple of 8, it is at the same place in each.
template <int LINES> __device__ void fetch(uint32_t tile, const Half *matrix, int first, int len) {
    constexpr int STRIDE = THREADS / PIECES;
    const int row = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
    const uint32_t to = place(tile, row, piece);
    const Half *from = matrix + (size_t)(first + row) * DIM + piece * 8;
    if (first + LINES <= len) {
#pragma unroll
        for (int i = 0; i < LINES; i += STRIDE)
            copy(to + i * DIM * 2, from + (size_t)i * DIM, true);
    } else {
        for (int i = 0; i < LINES; i += STRIDE) {
            const bool there = first + row + i < len;
            copy(to + i * DIM * 2, there ? from + (size_t)i * DIM : matrix, there);
        }
    }
}

// Four fragments [8 x 8]: lanes 0 to 7 say where the first one's rows are, and so on.
__device__ void read(uint32_t (&f)[4], uint32_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(row)
                 : "memory");
}
__device__ void readTransposed(uint32_t (&f)[4], uint32_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(row)
                 : "memory");
}

// d [16 x 8] += a [16 x 16] * b [16 x 8].
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ float power2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Two numbers rounded, in one register.
__device__ uint32_t pack(float low, float high) {
#ifdef BRAIN
    __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
#else
    __half2 two = __floats2half2_rn(low, high);
#endif
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
typedef float Output[DIM / 8][4];

// What is known of the two rows of a tile that a lane has a part of.
struct Rows {
    float largest[2], sum[2]; // scores in units of scale; this lane's part of the sum
};

// One step of the online softmax: scores become probabilities relative to the largest so far, and
// what was summed before is rescaled to it.
__device__ void softmax(Scores &s, Output &o, Rows &rows, float scale) {
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
extern "C" __global__ __launch_bounds__(THREADS, 2) void attention(const Half *q, const Half *k,
                                                                   const Half *v, Half *out,
                                                                   int seqQ, int seqK, int group,
                                                                   int causal, float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const uint32_t qs = at(memory), ks = qs + ROWS * DIM * 2, vs = ks + KEYS * DIM * 2;
    const int lane = threadIdx.x % 32, mine = threadIdx.x / 32 * TALL * 16;

    // Of a masked head the last rows see the most keys: they start first.
    const int head = blockIdx.y, tile = causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const int firstRow = tile * ROWS, before = seqK - seqQ; // keys older than the first query
    q += (size_t)head * seqQ * DIM, out += (size_t)head * seqQ * DIM;
    k += (size_t)(head / group) * seqK * DIM, v += (size_t)(head / group) * seqK * DIM;
    // By the last row; a block that sees nothing walks over one tile, all of it masked.
    const int seen = causal ? max(min(seqK, before + firstRow + ROWS), 0) : seqK;
    const int allSeen = causal ? min(seqK, before + firstRow + mine + 1) : seqK; // by every row

    float o[TALL][DIM / 8][4] = {};
    Rows rows[TALL];
#pragma unroll
    for (int t = 0; t < TALL; t++) rows[t] = {{-INFINITY, -INFINITY}, {0, 0}};

    // Where this lane's row of the first fragments is. The pieces of later columns are found by
    // flipping bits, those of later rows by adding: neither needs a register of its own.
    const uint32_t qRow = place(qs, mine + lane % 16, lane / 16);
    const uint32_t kRow = place(ks, lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const uint32_t vRow = place(vs, lane % 16, lane / 16);

    int key = (seen - 1) / KEYS * KEYS; // the first of the tile
    fetch<ROWS>(qs, q, firstRow, seqQ);
    fetch<KEYS>(ks, k, key, seqK);
    for (; key >= 0; key -= KEYS) {
        arrived();
        __syncthreads(); // k has arrived, and every warp is done with v
        fetch<KEYS>(vs, v, key, seqK);

        // 1. Scores: each fragment of k serves all tiles of the warp.
        float s[TALL][KEYS / 8][4] = {};
#pragma unroll
        for (int i = 0; i < DIM / 16; i++) {
            uint32_t a[TALL][4], b[4];
#pragma unroll
            for (int t = 0; t < TALL; t++) read(a[t], (qRow ^ i * 32) + t * 16 * DIM * 2);
#pragma unroll
            for (int j = 0; j < KEYS / 16; j++) {
                read(b, (kRow ^ i * 32) + j * 16 * DIM * 2);
#pragma unroll
                for (int t = 0; t < TALL; t++) {
                    multiply(s[t][2 * j], a[t], b[0], b[1]);
                    multiply(s[t][2 * j + 1], a[t], b[2], b[3]);
                }
            }
        }
        arrived();
        __syncthreads(); // v has arrived, and every warp is done with k
        if (key > 0) fetch<KEYS>(ks, k, key - KEYS, seqK);

        // 2. Softmax. Only tiles on the edge have keys that some row does not see.
        if (key + KEYS > allSeen) {
#pragma unroll
            for (int t = 0; t < TALL; t++) {
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        const int column = key + j * 8 + lane % 4 * 2 + i % 2;
                        const int row = firstRow + mine + t * 16 + lane / 4 + i / 2 * 8;
                        if (column >= seqK || (causal && column > before + row))
                            s[t][j][i] = -INFINITY;
                    }
                }
            }
        }
#pragma unroll
        for (int t = 0; t < TALL; t++) softmax(s[t], o[t], rows[t], scale);

            // 3. Output: sums of one product are, rounded, what the next one takes.
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
            uint32_t a[TALL][4], b[4];
#pragma unroll
            for (int t = 0; t < TALL; t++) {
                const float(&left)[4] = s[t][2 * i], (&right)[4] = s[t][2 * i + 1];
                a[t][0] = pack(left[0], left[1]), a[t][1] = pack(left[2], left[3]);
                a[t][2] = pack(right[0], right[1]), a[t][3] = pack(right[2], right[3]);
            }
#pragma unroll
            for (int j = 0; j < DIM / 16; j++) {
                readTransposed(b, (vRow ^ j * 32) + i * 16 * DIM * 2);
#pragma unroll
                for (int t = 0; t < TALL; t++) {
                    multiply(o[t][2 * j], a[t], b[0], b[1]);
                    multiply(o[t][2 * j + 1], a[t], b[2], b[3]);
                }
            }
        }
    }

#pragma unroll
    for (int t = 0; t < TALL; t++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float sum = sumOf(rows[t].sum[h]);
            const float inverse = sum == 0 ? 0 : 1 / sum; // a query that sees no key gets zeros
            const int row = firstRow + mine + t * 16 + lane / 4 + h * 8;
            if (row >= seqQ) continue;
            uint32_t *to = reinterpret_cast<uint32_t *>(out + (size_t)row * DIM) + lane % 4;
#pragma unroll
            for (int j = 0; j < DIM / 8; j++)
                to[4 * j] = pack(o[t][j][2 * h] * inverse, o[t][j][2 * h + 1] * inverse);
        }
    }
}
