// Attention whose scores are products of codes: out = softmax(q * k^T / sqrt(dim)) * v.
//
//   q codes [batch * heads, seqQ, DIM]     k codes, v [batch * heads / group, seqK, DIM]
//
// It is the kernel of task b2 with two changes. The scores come from the integer tensor cores: 32
// numbers of 8 bits in an instruction, where there were 16 halves, so k takes half the memory, half
// the reads and half the products. And a scale takes the sums, which are exact, to the softmax. P
// is rounded to halves, and so is multiplied with v in halves. Loops over fragments have constant
// bounds: the compiler unrolls them, and fragments stay in registers.
//
// The host defines DIM (64 or 128), and TENSOR where scale and zero are the whole tensor's and v
// is codes, too. Without, each 64 rows of q and of k have a scale, and v is halves.

#include <cuda_fp16.h>
#include <stdint.h>
#include <tensorcore.h>

#ifdef TENSOR
typedef int8_t Value;
typedef int PerKeys; // the sum of each key's codes
#else
typedef __half Value;
typedef float PerKeys; // the scale of each block of keys
#endif

constexpr int WARPS = 4, TALL = 2, KEYS = 64; // TALL: tiles of 16 queries that a warp has
constexpr int ROWS = WARPS * TALL * 16, THREADS = WARPS * 32;
constexpr int BLOCK = 64; // rows that share a scale: KEYS, and the queries of two warps
constexpr unsigned EVERYONE = 0xffffffff;
static_assert(DIM == 64 || DIM == 128, "the head's dimension is 64 or 128");
static_assert(KEYS == BLOCK, "a tile of keys has one scale");

// 1.5 * 2^23, as bits. Floats of this size are whole numbers, one apart: added to these bits as an
// integer, a sum of products gives the float 1.5 * 2^23 + sum. So sums begin here, and the
// conversion to float is one subtraction. It is exact to 2^22, and 2 * 128 * 128 * 128 is no more.
constexpr int WHOLE = 0x4b400000;

// Shared memory by its own addresses, which the instructions below take.
__device__ uint32_t at(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

// Where a piece of 16 bytes of a tile's row lies. Rows have BYTES. Pieces change places within 128
// bytes, those of all banks, so that eight rows of one column of pieces are in different banks.
template <int BYTES> __device__ uint32_t place(uint32_t tile, int row, int piece) {
    constexpr int PIECES = BYTES / 16, LINE = PIECES < 8 ? 8 / PIECES : 1; // rows in 128 bytes
    return tile + (row * PIECES + (piece ^ row / LINE % (PIECES < 8 ? PIECES : 8))) * 16;
}

// Copies a piece while the thread continues, or writes zeros for one that lies outside.
__device__ void copy(uint32_t to, const void *from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(there ? 16 : 0)
                 : "memory");
}

// Waits until all that this thread asked for has arrived.
__device__ void arrived() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// Asks for LINES rows of BYTES of a matrix of len rows, from row first on. A thread takes one piece
// of every STRIDE-th row; as STRIDE is a multiple of 8, it is at the same place in each.
template <int BYTES, int LINES>
__device__ void fetch(uint32_t tile, const void *matrix, int first, int len) {
    constexpr int PIECES = BYTES / 16, STRIDE = THREADS / PIECES;
    const int row = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
    const uint32_t to = place<BYTES>(tile, row, piece);
    const char *from = (const char *)matrix + (size_t)(first + row) * BYTES + piece * 16;
    if (first + LINES <= len) {
        for (int i = 0; i < LINES; i += STRIDE) copy(to + i * BYTES, from + i * BYTES, true);
    } else {
        for (int i = 0; i < LINES; i += STRIDE) {
            const bool there = first + row + i < len;
            copy(to + i * BYTES, there ? from + i * BYTES : matrix, there);
        }
    }
}

// Two numbers rounded, in one register.
__device__ uint32_t pack(float low, float high) {
    const __half2 two = __floats2half2_rn(low, high);
    return *reinterpret_cast<const uint32_t *>(&two);
}

#ifdef TENSOR
// The same of values in codes, which become halves on the way: code - zero is exact there.
template <int LINES>
__device__ void widen(uint32_t tile, const int8_t *matrix, int first, int len, int zero) {
    constexpr int PIECES = DIM / 8;
    for (int i = threadIdx.x; i < LINES * PIECES; i += THREADS) {
        const int row = i / PIECES, piece = i % PIECES;
        uint32_t x[4] = {};
        if (first + row < len) {
            const int8_t *code = matrix + (size_t)(first + row) * DIM + piece * 8;
            const uint2 eight = *reinterpret_cast<const uint2 *>(code);
            code = reinterpret_cast<const int8_t *>(&eight);
            for (int e = 0; e < 4; e++) x[e] = pack(code[2 * e] - zero, code[2 * e + 1] - zero);
        }
        const uint32_t to = place<2 * DIM>(tile, row, piece);
        asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(x[0]), "r"(x[1]),
                     "r"(x[2]), "r"(x[3])
                     : "memory");
    }
}
#endif

// Four fragments of 8 rows of 16 bytes: lanes 0 to 7 say where the first one's rows are, and so on.
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

// d [16 x 8] += a [16 x 32] * b [32 x 8] of codes. A register holds four, where it held two halves.
__device__ void multiply(int (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ float power2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
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
    float largest[2] = {-INFINITY, -INFINITY}; // powers of two, scaled
    float sum[2] = {};                         // of the weights: this lane's part
};

// One step of the online softmax: whole scores become probabilities relative to the largest so far,
// and what was summed before is rescaled to it. The scale is this tile's: the next has another.
__device__ void softmax(Scores &s, Output &o, Rows &rows, float scale) {
    for (int h = 0; h < 2; h++) {
        float largest = -INFINITY;
        for (int j = 0; j < KEYS / 8; j++)
            largest = fmaxf(largest, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
        largest = fmaxf(rows.largest[h], largestOf(largest) * scale);
        // A row without a key so far: -inf - -inf would be NaN.
        const float base = largest == -INFINITY ? 0 : largest;
        const float rescale = power2(rows.largest[h] - base);
        float sum = 0;
        for (int i = 0; i < KEYS / 4; i++) {
            float &x = s[i / 2][2 * h + i % 2];
            x = power2(fmaf(x, scale, -base));
            sum += x;
        }
        rows.largest[h] = largest;
        rows.sum[h] = rows.sum[h] * rescale + sum;
        for (int j = 0; j < DIM / 8; j++) o[j][2 * h] *= rescale, o[j][2 * h + 1] *= rescale;
    }
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two. With TENSOR, qScale is scale
// and zero of q, k and v, one after another, and kScale the sum of each key's codes.
extern "C" __global__ __launch_bounds__(THREADS, 2) void attention(
    const int8_t *q, const int8_t *k, const Value *v, __half *out, const float *qScale,
    const PerKeys *kScale, int seqQ, int seqK, int group, int causal, float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    const uint32_t qs = at(memory), ks = qs + ROWS * DIM, vs = ks + KEYS * DIM;
    const int lane = threadIdx.x % 32, mine = threadIdx.x / 32 * TALL * 16;

    // Of a masked head the last rows see the most keys: they start first.
    const int head = blockIdx.y, tile = causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const int firstRow = tile * ROWS, before = seqK - seqQ; // keys older than the first query
    q += (size_t)head * seqQ * DIM, out += (size_t)head * seqQ * DIM;
    k += (size_t)(head / group) * seqK * DIM, v += (size_t)(head / group) * seqK * DIM;
    // By the last row; a block that sees nothing walks over one tile, all of it masked.
    const int seen = causal ? max(min(seqK, before + firstRow + ROWS), 0) : seqK;
    const int allSeen = causal ? min(seqK, before + firstRow + mine + 1) : seqK; // by every row

#ifdef TENSOR
    const float both = scale * qScale[0] * qScale[2], valueScale = qScale[4];
    const int zeroQ = (int)qScale[1], zeroV = (int)qScale[5];
    kScale += (size_t)(head / group) * seqK;
#else
    const int blocks = (seqQ + BLOCK - 1) / BLOCK, block = (firstRow + mine) / BLOCK;
    const float scaleQ = scale * qScale[head * blocks + min(block, blocks - 1)], valueScale = 1;
    kScale += (head / group) * ((seqK + BLOCK - 1) / BLOCK);
#endif

    float o[TALL][DIM / 8][4] = {};
    Rows rows[TALL];

    // Where this lane's row of the first fragments is. The pieces of later columns are found by
    // flipping bits, those of later rows by adding: neither needs a register of its own.
    const uint32_t qRow = place<DIM>(qs, mine + lane % 16, lane / 16);
    const uint32_t kRow = place<DIM>(ks, lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const uint32_t vRow = place<2 * DIM>(vs, lane % 16, lane / 16);

    int key = (seen - 1) / KEYS * KEYS; // the first of the tile
    fetch<DIM, ROWS>(qs, q, firstRow, seqQ);
    fetch<DIM, KEYS>(ks, k, key, seqK);
    for (; key >= 0; key -= KEYS) {
        arrived();
        __syncthreads(); // k has arrived, and every warp is done with v
#ifdef TENSOR
        widen<KEYS>(vs, v, key, seqK, zeroV);
#else
        fetch<2 * DIM, KEYS>(vs, v, key, seqK);
        const float both = scaleQ * kScale[key / BLOCK];
#endif

        // 1. Scores: each fragment of k serves all tiles of the warp.
        int sums[TALL][KEYS / 8][4];
        Scores s[TALL];
        for (int i = 0; i < KEYS / 4; i++) {
            int start = WHOLE;
#ifdef TENSOR
            // (q - zeroQ) * k: what is left of the zeros, for those of k move all of a row.
            const int column = key + i / 2 * 8 + lane % 4 * 2 + i % 2;
            if (column < seqK) start -= zeroQ * kScale[column];
#endif
            for (int t = 0; t < TALL; t++)
                sums[t][i / 2][i % 2] = sums[t][i / 2][i % 2 + 2] = start;
        }
        for (int i = 0; i < DIM / 32; i++) {
            uint32_t a[TALL][4], b[4];
            for (int t = 0; t < TALL; t++) read(a[t], (qRow ^ i * 32) + t * 16 * DIM);
            for (int j = 0; j < KEYS / 16; j++) {
                read(b, (kRow ^ i * 32) + j * 16 * DIM);
                for (int t = 0; t < TALL; t++) {
                    multiply(sums[t][2 * j], a[t], b[0], b[1]);
                    multiply(sums[t][2 * j + 1], a[t], b[2], b[3]);
                }
            }
        }
        arrived();
        __syncthreads(); // v has arrived, and every warp is done with k
        if (key > 0) fetch<DIM, KEYS>(ks, k, key - KEYS, seqK);

        // 2. Softmax. Only tiles on the edge have keys that some row does not see.
        for (int t = 0; t < TALL; t++)
            for (int i = 0; i < KEYS / 2; i++)
                s[t][i / 4][i % 4] = __int_as_float(sums[t][i / 4][i % 4]) - __int_as_float(WHOLE);
        if (key + KEYS > allSeen)
            for (int t = 0; t < TALL; t++)
                for (int i = 0; i < KEYS / 2; i++) {
                    const int column = key + i / 4 * 8 + lane % 4 * 2 + i % 2;
                    const int row = firstRow + mine + t * 16 + lane / 4 + i / 2 % 2 * 8;
                    if (column >= seqK || (causal && column > before + row))
                        s[t][i / 4][i % 4] = -INFINITY;
                }
        for (int t = 0; t < TALL; t++) softmax(s[t], o[t], rows[t], both);

        // 3. Output: sums of one product are, rounded, what the next one takes.
        for (int i = 0; i < KEYS / 16; i++) {
            uint32_t a[TALL][4], b[4];
            for (int t = 0; t < TALL; t++) {
                const float(&left)[4] = s[t][2 * i], (&right)[4] = s[t][2 * i + 1];
                a[t][0] = pack(left[0], left[1]), a[t][1] = pack(left[2], left[3]);
                a[t][2] = pack(right[0], right[1]), a[t][3] = pack(right[2], right[3]);
            }
            for (int j = 0; j < DIM / 16; j++) {
                readTransposed(b, (vRow ^ j * 32) + i * 16 * DIM * 2);
                for (int t = 0; t < TALL; t++) {
                    mma_f16(o[t][2 * j], a[t], b[0], b[1]);
                    mma_f16(o[t][2 * j + 1], a[t], b[2], b[3]);
                }
            }
        }
    }

    for (int t = 0; t < TALL; t++)
        for (int h = 0; h < 2; h++) {
            const float sum = sumOf(rows[t].sum[h]);
            // A query that sees no key gets zeros.
            const float inverse = sum == 0 ? 0 : valueScale / sum;
            const int row = firstRow + mine + t * 16 + lane / 4 + h * 8;
            if (row >= seqQ) continue;
            uint32_t *to = reinterpret_cast<uint32_t *>(out + (size_t)row * DIM) + lane % 4;
            for (int j = 0; j < DIM / 8; j++)
                to[4 * j] = pack(o[t][j][2 * h] * inverse, o[t][j][2 * h + 1] * inverse);
        }
}
