// The gradients of out = softmax(q * k^T / sqrt(DIM)) * v, without a matrix of scores in memory:
//
//     P  = exp(q * k^T * scale - lse)     the probabilities, computed again
//     dV = P^T * dOut                     sums over queries
//     dP = dOut * v^T
//     dS = P o (dP - D)                   D = rowsum(dOut o out), a number for each query
//     dQ = dS * k * scale                 sums over keys
//     dK = dS^T * q * scale               sums over queries
//
// A sum stays with one block from its first term to its last, always in the same order: so there
// are two kernels, each of which computes P and dS for itself, and no atomics. A thread has a patch
// of each product in registers: what it reads of shared memory serves several numbers. For each
// head, q, out, dOut and dq are [seqQ, DIM], lse is [seqQ], and k, v, dk and dv are [seqK, DIM],
// one head after another in memory. group query heads in a row share a key head.

const int TILE = 32;         // queries, and keys, that a block looks at at a time
const int THREADS = 128;     // of a block
const int STRIDE = DIM + 4;  // of a row in shared memory: 8 rows below each other are in 32 banks
const int PAIRS = TILE + 16; // of a row of P or dS: two rows of 16 numbers are in 32 banks
const int LANES = DIM / 4;   // threads that copy a row, 4 numbers each
const int WIDE = DIM / 64;   // times 4 numbers of a row that a thread owns of a [TILE, DIM] sum

// Tiles is what a block has in shared memory. Rows behind the last query or key are 0.
struct Tiles {
    float q[TILE][STRIDE], dOut[TILE][STRIDE], k[TILE][STRIDE], v[TILE][STRIDE];
    float p[TILE][PAIRS], dS[TILE][PAIRS]; // by query, then key
    float lse[TILE], d[TILE];
};

__device__ float4 &four(float *at) {
    return *reinterpret_cast<float4 *>(at);
}

__device__ float4 four(const float *at, bool is) {
    return is ? *reinterpret_cast<const float4 *>(at) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

__device__ float dot(float4 a, float4 b, float sum) {
    return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__device__ void add(float4 &sum, float a, float4 b) {
    sum.x += a * b.x;
    sum.y += a * b.y;
    sum.z += a * b.z;
    sum.w += a * b.w;
}

// load copies rows first, first + 1, ... of a head's [rows, DIM] to a tile.
__device__ void load(float (*to)[STRIDE], const float *from, int first, int rows) {
    const int x = threadIdx.x % LANES * 4;
    for (int r = threadIdx.x / LANES; r < TILE; r += THREADS / LANES)
        four(&to[r][x]) = four(from + (size_t)(first + r) * DIM + x, first + r < rows);
}

// loadQueries brings what belongs to queries: their rows, lse and D, whose terms the threads that
// copy a row add up.
__device__ void loadQueries(Tiles &t, const float *q, const float *out, const float *lse,
                            const float *dOut, int first, int seqQ) {
    load(t.q, q, first, seqQ);
    const int x = threadIdx.x % LANES * 4;
    for (int r = threadIdx.x / LANES; r < TILE; r += THREADS / LANES) {
        const bool is = first + r < seqQ;
        const size_t at = (size_t)(first + r) * DIM + x;
        const float4 g = four(dOut + at, is);
        four(&t.dOut[r][x]) = g;
        float sum = dot(g, four(out + at, is), 0.0f);
        for (int apart = LANES / 2; apart > 0; apart /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, apart);
        if (x == 0) {
            t.d[r] = sum;
            t.lse[r] = is ? lse[first + r] : 0.0f;
        }
    }
}

// pairs computes P and dS of a tile's queries and keys. A thread has 4 queries, 8 apart, and 2
// keys, 16 apart. Pairs that do not count are 0: their lse may be -Inf, and is not looked at.
__device__ void pairs(Tiles &t, int query, int key, int seqQ, int seqK, int causal, float scale) {
    const int i0 = threadIdx.x / 16, j0 = threadIdx.x % 16;
    float s[4][2] = {}, dP[4][2] = {};
#pragma unroll 4
    for (int x = 0; x < DIM; x += 4) {
        float4 k[2], v[2];
        for (int m = 0; m < 2; m++) {
            k[m] = four(&t.k[j0 + 16 * m][x]);
            v[m] = four(&t.v[j0 + 16 * m][x]);
        }
        for (int n = 0; n < 4; n++) {
            const float4 q = four(&t.q[i0 + 8 * n][x]), g = four(&t.dOut[i0 + 8 * n][x]);
            for (int m = 0; m < 2; m++) {
                s[n][m] = dot(q, k[m], s[n][m]);
                dP[n][m] = dot(g, v[m], dP[n][m]);
            }
        }
    }
    for (int n = 0; n < 4; n++) {
        const int i = i0 + 8 * n;
        for (int m = 0; m < 2; m++) {
            const int j = j0 + 16 * m;
            const bool sees = query + i < seqQ && key + j < seqK &&
                              (!causal || key + j <= query + i + seqK - seqQ);
            const float p = sees ? expf(s[n][m] * scale - t.lse[i]) : 0.0f;
            t.p[i][j] = p;
            t.dS[i][j] = sees ? p * (dP[n][m] - t.d[i]) : 0.0f;
        }
    }
}

// Of a sum [TILE, DIM] a thread owns rows r0 ... r0 + 3, and of each the columns x0 ... x0 + 3, and
// so on 64 further.
struct Sum {
    float4 of[4][WIDE];
};

__device__ int firstRow() {
    return threadIdx.x / 16 * 4;
}
__device__ int firstColumn() {
    return threadIdx.x % 16 * 4;
}

// addRow adds a[r] times a row of a tile to row r of the sum.
__device__ void addRow(Sum &sum, float4 a, float *row) {
    for (int w = 0; w < WIDE; w++) {
        const float4 b = four(row + firstColumn() + 64 * w);
        add(sum.of[0][w], a.x, b);
        add(sum.of[1][w], a.y, b);
        add(sum.of[2][w], a.z, b);
        add(sum.of[3][w], a.w, b);
    }
}

// write copies a thread's numbers of a sum to rows first, first + 1, ... of a head.
__device__ void write(float *to, const Sum &sum, float factor, int first, int rows) {
    for (int n = 0; n < 4; n++) {
        const int r = first + firstRow() + n;
        for (int w = 0; w < WIDE && r < rows; w++) {
            float4 y = sum.of[n][w];
            y.x *= factor, y.y *= factor, y.z *= factor, y.w *= factor;
            four(to + (size_t)r * DIM + firstColumn() + 64 * w) = y;
        }
    }
}

// keys: a block owns dk and dv of TILE keys, blockIdx.x, of a key head, blockIdx.y. It goes through
// the queries of all heads that read this one.
extern "C" __global__ void __launch_bounds__(THREADS)
    keys(const float *q, const float *k, const float *v, const float *out, const float *lse,
         const float *dOut, float *dk, float *dv, int seqQ, int seqK, int group, int causal,
         float scale) {
    extern __shared__ float4 memory[];
    Tiles &t = *reinterpret_cast<Tiles *>(memory);
    const int key = blockIdx.x * TILE;
    const size_t keyHead = (size_t)blockIdx.y * seqK * DIM;
    load(t.k, k + keyHead, key, seqK);
    load(t.v, v + keyHead, key, seqK);

    // The first query that sees the first key; tiles before it have nothing to add.
    const int from = causal ? max(key - (seqK - seqQ), 0) / TILE * TILE : 0;
    Sum sumK = {}, sumV = {};
    for (int head = blockIdx.y * group; head < (blockIdx.y + 1) * group; head++) {
        const size_t row = (size_t)head * seqQ;
        for (int query = from; query < seqQ; query += TILE) {
            loadQueries(t, q + row * DIM, out + row * DIM, lse + row, dOut + row * DIM, query,
                        seqQ);
            __syncthreads(); // the tiles are there
            pairs(t, query, key, seqQ, seqK, causal, scale);
            __syncthreads(); // P and dS are there
#pragma unroll 4
            for (int i = 0; i < TILE; i++) { // a query's term: its P, and its dS, of 4 keys
                addRow(sumK, four(&t.dS[i][firstRow()]), t.q[i]);
                addRow(sumV, four(&t.p[i][firstRow()]), t.dOut[i]);
            }
            __syncthreads(); // everybody has read the tiles: the next may come
        }
    }
    write(dk + keyHead, sumK, scale, key, seqK);
    write(dv + keyHead, sumV, 1.0f, key, seqK);
}

// queries: a block owns dq of TILE queries, blockIdx.x, of a query head, blockIdx.y. It goes
// through the keys that its last query sees.
extern "C" __global__ void __launch_bounds__(THREADS)
    queries(const float *q, const float *k, const float *v, const float *out, const float *lse,
            const float *dOut, float *dq, int seqQ, int seqK, int group, int causal, float scale) {
    extern __shared__ float4 memory[];
    Tiles &t = *reinterpret_cast<Tiles *>(memory);
    const int query = blockIdx.x * TILE;
    const size_t row = (size_t)blockIdx.y * seqQ,
                 keyHead = (size_t)(blockIdx.y / group) * seqK * DIM;
    loadQueries(t, q + row * DIM, out + row * DIM, lse + row, dOut + row * DIM, query, seqQ);

    const int end = causal ? min(seqK, query + TILE + seqK - seqQ) : seqK;
    Sum sum = {};
    for (int key = 0; key < end; key += TILE) {
        load(t.k, k + keyHead, key, seqK);
        load(t.v, v + keyHead, key, seqK);
        __syncthreads(); // the tiles are there
        pairs(t, query, key, seqQ, seqK, causal, scale);
        __syncthreads(); // dS is there
#pragma unroll 2
        for (int j = 0; j < TILE; j += 4) { // 4 keys' terms: their dS of 4 queries
            float4 of[4];
            for (int n = 0; n < 4; n++) of[n] = four(&t.dS[firstRow() + n][j]);
            addRow(sum, make_float4(of[0].x, of[1].x, of[2].x, of[3].x), t.k[j]);
            addRow(sum, make_float4(of[0].y, of[1].y, of[2].y, of[3].y), t.k[j + 1]);
            addRow(sum, make_float4(of[0].z, of[1].z, of[2].z, of[3].z), t.k[j + 2]);
            addRow(sum, make_float4(of[0].w, of[1].w, of[2].w, of[3].w), t.k[j + 3]);
        }
        __syncthreads(); // everybody has read the tiles: the next may come
    }
    write(dq + row * DIM, sum, scale, query, seqQ);
}
