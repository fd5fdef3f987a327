// The gradients of attention in halves on tensor cores, by the instructions that every GPU from
// Ampere on has. As kernels.cu, in two passes, each of which computes P and dS again:
//
//     keys      P^T  = exp(k * q^T * scale - lse)    dV += P^T * dOut
//               dS^T = P^T o (v * dOut^T - D)        dK += dS^T * q * scale
//     queries   the same, not transposed             dQ += dS * k * scale
//
// A block owns the sums of OWN rows, keys or queries, each warp those of 16, whose own inputs stay
// in registers as fragments: they are the left side of the first two products. Rows of the other
// side arrive in tiles of OWN by cp.async, one tile ahead. P and dS are rounded to halves and are
// the left side of the products that follow, in the registers where they were made. All sums are
// float32, and each has one owner: two calls write the same bits.
//
// The host defines DIM (64 or 128), and BRAIN for bfloat16.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <tensorcore.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
#else
typedef __half Half;
#endif

constexpr int WARPS = 4, OWN = WARPS * 16, THREADS = WARPS * 32;
constexpr int PIECES = DIM / 8;     // of a row: 16 bytes each
constexpr int TILE = OWN * DIM * 2; // bytes
constexpr int STAGE = 3 * TILE;     // q, dOut and out of a tile of queries, or k and v of keys
constexpr int NUMBERS = 2 * STAGE;  // behind the tiles: lse of two stages, and D
constexpr float LOG2E = 1.44269504f;
constexpr unsigned EVERYONE = 0xffffffff;
static_assert(DIM == 64 || DIM == 128, "the head's dimension is 64 or 128");

typedef unsigned Left[4];      // a fragment [16 x 16], the left side of a product
typedef Left Own[DIM / 16];    // 16 rows of an input
typedef float Square[2][4];    // a product [16 x 16]
typedef float Sum[DIM / 8][4]; // of 16 rows of a gradient

// A row's pieces change places, by the row's last three bits: eight rows of one column of pieces,
// as ldmatrix reads them, are then in different banks.
__device__ int place(int row, int piece) {
    return (row * PIECES + (piece ^ row % 8)) * 16;
}

// Asks for OWN rows of a head's [len, DIM], from row first on; rows behind the last are zeros.
__device__ void fetch(char *tile, const Half *head, int first, int len) {
    for (int i = threadIdx.x; i < OWN * PIECES; i += THREADS) {
        const int row = i / PIECES, piece = i % PIECES;
        const bool there = first + row < len;
        const Half *from = there ? head + (size_t)(first + row) * DIM + piece * 8 : head;
        __pipeline_memcpy_async(tile + place(row, piece), from, 16, there ? 0 : 16);
    }
}

// Asks for a number of each of these rows.
__device__ void fetchNumbers(float *to, const float *head, int first, int len) {
    const int row = threadIdx.x;
    if (row >= OWN) return;
    const bool there = first + row < len;
    __pipeline_memcpy_async(to + row, there ? head + first + row : head, 4, there ? 0 : 4);
}

// Waits until all that this thread asked for has arrived.
__device__ void arrived() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

// d [16 x 8] += a [16 x 16] * b [16 x 8].
__device__ void multiply(float (&d)[4], const Left &a, unsigned b0, unsigned b1) {
#ifdef BRAIN
    mma_bf16(d, a, b0, b1);
#else
    mma_f16(d, a, b0, b1);
#endif
}

// Two numbers rounded, in one register.
__device__ unsigned pack(float low, float high) {
#ifdef BRAIN
    __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
#else
    __half2 two = __floats2half2_rn(low, high);
#endif
    return *reinterpret_cast<unsigned *>(&two);
}

__device__ int lane() {
    return threadIdx.x % 32;
}
__device__ int warpRow() {
    return threadIdx.x / 32 * 16;
} // the first of a warp's rows

// own reads this warp's rows of a tile.
__device__ void own(Own &rows, const char *tile) {
#pragma unroll
    for (int x = 0; x < DIM / 16; x++)
        load_matrix(rows[x], tile + place(warpRow() + lane() % 16, 2 * x + lane() / 16));
}

// between is the products of this warp's rows with 16 rows of a tile, from row first on.
__device__ void between(Square &to, const Own &rows, const char *tile, int first) {
    const int row = first + lane() % 8 + lane() / 16 * 8;
#pragma unroll
    for (int x = 0; x < DIM / 16; x++) {
        Left b; // two fragments [16 x 8], for 8 rows each
        load_matrix(b, tile + place(row, 2 * x + lane() / 8 % 2));
        multiply(to[0], rows[x], b[0], b[1]);
        multiply(to[1], rows[x], b[2], b[3]);
    }
}

// add adds a product of a square with 16 rows of a tile to a sum.
__device__ void add(Sum &sum, const Square &s, const char *tile, int first) {
    const Left a = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]),
                    pack(s[1][2], s[1][3])};
#pragma unroll
    for (int x = 0; x < DIM / 16; x++) {
        Left b;
        load_matrix_transposed(b, tile + place(first + lane() % 16, 2 * x + lane() / 16));
        multiply(sum[2 * x], a, b[0], b[1]);
        multiply(sum[2 * x + 1], a, b[2], b[3]);
    }
}

// sumD makes D of dOut and out of a tile, the numbers of each row by PIECES lanes.
__device__ void sumD(float *d, const char *dOut, const char *out) {
    for (int i = threadIdx.x; i < OWN * PIECES; i += THREADS) {
        const int row = i / PIECES, piece = i % PIECES;
        const Half *a = reinterpret_cast<const Half *>(dOut + place(row, piece));
        const Half *b = reinterpret_cast<const Half *>(out + place(row, piece));
        float sum = 0.0f;
        for (int x = 0; x < 8; x++) sum += (float)a[x] * (float)b[x];
        for (int apart = PIECES / 2; apart > 0; apart /= 2)
            sum += __shfl_xor_sync(EVERYONE, sum, apart);
        if (piece == 0) d[row] = sum;
    }
}

// Of a product or a sum a lane holds [lane / 4 + 8 * h][lane % 4 * 2 + c] as number 2 * h + c.
__device__ int laneRow(int h) {
    return lane() / 4 + 8 * h;
}
__device__ int laneColumn(int c) {
    return lane() % 4 * 2 + c;
}

// Seen says which pairs count, of tiles that begin at a query and a key.
struct Seen {
    int query, key, seqQ, seqK, causal;

    __device__ bool operator()(int i, int j) const {
        return query + i < seqQ && key + j < seqK &&
               (!causal || key + j <= query + i + seqK - seqQ);
    }
};

// pairs makes P of scores, and dS of dP. This warp's rows are keys or queries, as BY_KEY says; the
// columns are the others, from first on. Pairs that do not count are 0: their lse may be -Inf.
template <bool BY_KEY>
__device__ void pairs(Square &p, Square &dS, int first, const Seen &sees, const float *lse,
                      const float *d, float scale) {
    const bool all = sees(0, OWN - 1) && sees(OWN - 1, 0);
#pragma unroll
    for (int e = 0; e < 8; e++) {
        const int row = warpRow() + laneRow(e % 4 / 2),
                  column = first + e / 4 * 8 + laneColumn(e % 2);
        const int i = BY_KEY ? column : row, j = BY_KEY ? row : column;
        float &s = p[e / 4][e % 4], &g = dS[e / 4][e % 4];
        const bool counts = all || sees(i, j);
        s = counts ? exp2f(s * scale - lse[i] * LOG2E) : 0.0f;
        g = counts ? s * (g - d[i]) : 0.0f;
    }
}

// write writes this warp's rows of a sum, rounded, to rows first, first + 1, ... of a head.
__device__ void write(Half *head, const Sum &sum, float factor, int first, int rows) {
    for (int h = 0; h < 2; h++) {
        const int row = first + warpRow() + laneRow(h);
        if (row >= rows) continue;
        for (int j = 0; j < DIM / 8; j++)
            *reinterpret_cast<unsigned *>(head + (size_t)row * DIM + 8 * j + laneColumn(0)) =
                pack(sum[j][2 * h] * factor, sum[j][2 * h + 1] * factor);
    }
}

// keys: a block owns dk and dv of OWN keys, blockIdx.x, of a key head, blockIdx.y. It goes through
// the queries of all heads that read this one. scale has a factor of log2(e).
extern "C" __global__ void __launch_bounds__(THREADS)
    keys(const Half *q, const Half *k, const Half *v, const Half *out, const float *lse,
         const Half *dOut, Half *dk, Half *dv, int seqQ, int seqK, int group, int causal,
         float scale) {
    extern __shared__ uint4 memory[];
    char *tiles = reinterpret_cast<char *>(memory);
    float *d = reinterpret_cast<float *>(tiles + NUMBERS) + 2 * OWN;
    const int key = blockIdx.x * OWN, ahead = seqK - seqQ;
    const size_t keyHead = (size_t)blockIdx.y * seqK * DIM;

    // This warp's keys and values, by way of the first tiles.
    fetch(tiles, k + keyHead, key, seqK);
    fetch(tiles + TILE, v + keyHead, key, seqK);
    arrived();
    __syncthreads(); // k and v are there
    Own ownK, ownV;
    own(ownK, tiles);
    own(ownV, tiles + TILE);
    __syncthreads(); // everybody has read them: the tiles are free

    // The first tile with a query that sees the first key, and how many there are in each head.
    const int from = causal ? max(key - ahead, 0) / OWN * OWN : 0;
    const int each = max((seqQ - from + OWN - 1) / OWN, 0);
    auto ask = [&](int n) { // tile n of all heads
        const size_t head = (size_t)blockIdx.y * group + n / each, row = head * seqQ;
        const int query = from + n % each * OWN;
        char *to = tiles + n % 2 * STAGE;
        fetch(to, q + row * DIM, query, seqQ);
        fetch(to + TILE, dOut + row * DIM, query, seqQ);
        fetch(to + 2 * TILE, out + row * DIM, query, seqQ);
        fetchNumbers(d - 2 * OWN + n % 2 * OWN, lse + row, query, seqQ);
    };
    Sum sumK = {}, sumV = {};
    if (each > 0) ask(0);
    for (int n = 0; n < group * each; n++) {
        char *stage = tiles + n % 2 * STAGE;
        const float *lses = d - 2 * OWN + n % 2 * OWN;
        arrived();
        __syncthreads(); // the tile is there, and the other one free
        if (n + 1 < group * each) ask(n + 1);
        sumD(d, stage + TILE, stage + 2 * TILE);
        __syncthreads(); // D is there
        const int query = from + n % each * OWN;
        const Seen sees = {query, key, seqQ, seqK, causal};
#pragma unroll 1
        for (int first = 0; first < OWN; first += 16) {
            Square p = {}, dS = {}; // by key, then query
            between(p, ownK, stage, first);
            between(dS, ownV, stage + TILE, first);
            pairs<true>(p, dS, first, sees, lses, d, scale);
            add(sumV, p, stage + TILE, first);
            add(sumK, dS, stage, first);
        }
    }
    write(dk + keyHead, sumK, scale / LOG2E, key, seqK);
    write(dv + keyHead, sumV, 1.0f, key, seqK);
}

// queries: a block owns dq of OWN queries of a query head, blockIdx.y; those that see the most keys
// begin first. It goes through the keys that its last query sees.
extern "C" __global__ void __launch_bounds__(THREADS)
    queries(const Half *q, const Half *k, const Half *v, const Half *out, const float *lse,
            const Half *dOut, Half *dq, int seqQ, int seqK, int group, int causal, float scale) {
    extern __shared__ uint4 memory[];
    char *tiles = reinterpret_cast<char *>(memory);
    float *lses = reinterpret_cast<float *>(tiles + NUMBERS), *d = lses + 2 * OWN;
    const int query = (gridDim.x - 1 - blockIdx.x) * OWN, ahead = seqK - seqQ;
    const size_t row = (size_t)blockIdx.y * seqQ,
                 keyHead = (size_t)(blockIdx.y / group) * seqK * DIM;

    // This warp's queries and what belongs to them, by way of the first tiles.
    fetch(tiles, q + row * DIM, query, seqQ);
    fetch(tiles + TILE, dOut + row * DIM, query, seqQ);
    fetch(tiles + 2 * TILE, out + row * DIM, query, seqQ);
    fetchNumbers(lses, lse + row, query, seqQ);
    arrived();
    __syncthreads(); // they are there
    Own ownQ, ownG;
    own(ownQ, tiles);
    own(ownG, tiles + TILE);
    sumD(d, tiles + TILE, tiles + 2 * TILE);
    __syncthreads(); // D is there, and the tiles are free

    const int end = causal ? min(seqK, query + OWN + ahead) : seqK;
    auto ask = [&](int key) {
        char *to = tiles + key / OWN % 2 * STAGE;
        fetch(to, k + keyHead, key, seqK);
        fetch(to + TILE, v + keyHead, key, seqK);
    };
    Sum sum = {};
    if (end > 0) ask(0);
    for (int key = 0; key < end; key += OWN) {
        char *stage = tiles + key / OWN % 2 * STAGE;
        arrived();
        __syncthreads(); // the tile is there, and the other one free
        if (key + OWN < end) ask(key + OWN);
        const Seen sees = {query, key, seqQ, seqK, causal};
#pragma unroll 1
        for (int first = 0; first < OWN; first += 16) {
            Square p = {}, dS = {}; // by query, then key
            between(p, ownQ, stage, first);
            between(dS, ownG, stage + TILE, first);
            pairs<false>(p, dS, first, sees, lses, d, scale);
            add(sum, dS, stage, first);
        }
    }
    write(dq + row * DIM, sum, scale / LOG2E, query, seqQ);
}
