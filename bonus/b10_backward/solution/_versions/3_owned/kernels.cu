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
// are two kernels, each of which computes P and dS for itself, and no atomics. For each head, q,
// out, dOut and dq are [seqQ, DIM], lse is [seqQ], and k, v, dk and dv are [seqK, DIM], one head
// after another in memory. group query heads in a row share a key head.

const int TILE = 32;        // queries, and keys, that a block looks at at a time
const int THREADS = 256;    // of a block: 8 for each row of a tile
const int STRIDE = DIM + 1; // of a row in shared memory: 32 rows below each other are in 32 banks
const int OWN =
    TILE * DIM / THREADS; // numbers of a [TILE, DIM] sum that a thread owns: all in one column

// Tiles is what a block has in shared memory. Rows behind the last query or key are 0.
struct Tiles {
    float q[TILE][STRIDE], dOut[TILE][STRIDE], k[TILE][STRIDE], v[TILE][STRIDE];
    float p[TILE][TILE + 1], dS[TILE][TILE + 1]; // by query, then key
    float lse[TILE], d[TILE];
};

// load copies rows first, first + 1, ... of a head's [rows, DIM] to a tile.
__device__ void load(float (*to)[STRIDE], const float *from, int first, int rows) {
    for (int at = threadIdx.x; at < TILE * DIM; at += THREADS) {
        const int r = at / DIM, x = at % DIM;
        to[r][x] = first + r < rows ? from[(size_t)(first + r) * DIM + x] : 0.0f;
    }
}

// loadQueries brings what belongs to queries: their rows, lse and D. A warp takes a row at a time,
// lane by lane, and adds up its part of D.
__device__ void loadQueries(Tiles &t, const float *q, const float *out, const float *lse,
                            const float *dOut, int first, int seqQ) {
    load(t.q, q, first, seqQ);
    for (int r = threadIdx.x / 32; r < TILE; r += THREADS / 32) {
        const int lane = threadIdx.x % 32;
        float sum = 0.0f;
        for (int x = lane; x < DIM; x += 32) {
            const size_t at = (size_t)(first + r) * DIM + x;
            const float g = first + r < seqQ ? dOut[at] : 0.0f;
            t.dOut[r][x] = g;
            if (first + r < seqQ) sum += g * out[at];
        }
        for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffff, sum, apart);
        if (lane == 0) {
            t.d[r] = sum;
            t.lse[r] = first + r < seqQ ? lse[first + r] : 0.0f;
        }
    }
}

// pairs computes P and dS of a tile's queries and keys. A thread has one key, and every eighth
// query. Pairs that do not count are 0: their lse may be -Inf, and is not looked at.
__device__ void pairs(Tiles &t, int query, int key, int seqQ, int seqK, int causal, float scale) {
    const int each = THREADS / TILE, j = threadIdx.x % TILE, i0 = threadIdx.x / TILE;
    float s[TILE / each] = {}, dP[TILE / each] = {};
    for (int x = 0; x < DIM; x++) {
        const float k = t.k[j][x], v = t.v[j][x];
        for (int n = 0; n < TILE / each; n++) {
            s[n] += t.q[i0 + n * each][x] * k;
            dP[n] += t.dOut[i0 + n * each][x] * v;
        }
    }
    for (int n = 0; n < TILE / each; n++) {
        const int i = i0 + n * each;
        const bool sees =
            query + i < seqQ && key + j < seqK && (!causal || key + j <= query + i + seqK - seqQ);
        const float p = sees ? expf(s[n] * scale - t.lse[i]) : 0.0f;
        t.p[i][j] = p;
        t.dS[i][j] = sees ? p * (dP[n] - t.d[i]) : 0.0f;
    }
}

// write copies a thread's numbers of a sum to rows first, first + 1, ... of a head.
__device__ void write(float *to, const float *sum, float factor, int first, int rows) {
    for (int n = 0; n < OWN; n++) {
        const int r = (threadIdx.x + n * THREADS) / DIM, x = threadIdx.x % DIM;
        if (first + r < rows) to[(size_t)(first + r) * DIM + x] = sum[n] * factor;
    }
}

// keys: a block owns dk and dv of TILE keys, blockIdx.x, of a key head, blockIdx.y. It goes through
// the queries of all heads that read this one.
extern "C" __global__ void keys(const float *q, const float *k, const float *v, const float *out,
                                const float *lse, const float *dOut, float *dk, float *dv, int seqQ,
                                int seqK, int group, int causal, float scale) {
    extern __shared__ float memory[];
    Tiles &t = *reinterpret_cast<Tiles *>(memory);
    const int key = blockIdx.x * TILE;
    const size_t keyHead = (size_t)blockIdx.y * seqK * DIM;
    load(t.k, k + keyHead, key, seqK);
    load(t.v, v + keyHead, key, seqK);

    // The first query that sees the first key; tiles before it have nothing to add.
    const int from = causal ? max(key - (seqK - seqQ), 0) / TILE * TILE : 0;
    float sumK[OWN] = {}, sumV[OWN] = {};
    for (int head = blockIdx.y * group; head < (blockIdx.y + 1) * group; head++) {
        const size_t row = (size_t)head * seqQ;
        for (int query = from; query < seqQ; query += TILE) {
            loadQueries(t, q + row * DIM, out + row * DIM, lse + row, dOut + row * DIM, query,
                        seqQ);
            __syncthreads(); // the tiles are there
            pairs(t, query, key, seqQ, seqK, causal, scale);
            __syncthreads(); // P and dS are there
            for (int i = 0; i < TILE; i++) {
                const int x = threadIdx.x % DIM;
                const float one = t.q[i][x], g = t.dOut[i][x];
                for (int n = 0; n < OWN; n++) {
                    const int j = (threadIdx.x + n * THREADS) / DIM;
                    sumK[n] += t.dS[i][j] * one;
                    sumV[n] += t.p[i][j] * g;
                }
            }
            __syncthreads(); // everybody has read the tiles: the next may come
        }
    }
    write(dk + keyHead, sumK, scale, key, seqK);
    write(dv + keyHead, sumV, 1.0f, key, seqK);
}

// queries: a block owns dq of TILE queries, blockIdx.x, of a query head, blockIdx.y. It goes
// through the keys that its last query sees.
extern "C" __global__ void queries(const float *q, const float *k, const float *v, const float *out,
                                   const float *lse, const float *dOut, float *dq, int seqQ,
                                   int seqK, int group, int causal, float scale) {
    extern __shared__ float memory[];
    Tiles &t = *reinterpret_cast<Tiles *>(memory);
    const int query = blockIdx.x * TILE;
    const size_t row = (size_t)blockIdx.y * seqQ,
                 keyHead = (size_t)(blockIdx.y / group) * seqK * DIM;
    loadQueries(t, q + row * DIM, out + row * DIM, lse + row, dOut + row * DIM, query, seqQ);

    const int end = causal ? min(seqK, query + TILE + seqK - seqQ) : seqK;
    float sum[OWN] = {};
    for (int key = 0; key < end; key += TILE) {
        load(t.k, k + keyHead, key, seqK);
        load(t.v, v + keyHead, key, seqK);
        __syncthreads(); // the tiles are there
        pairs(t, query, key, seqQ, seqK, causal, scale);
        __syncthreads(); // dS is there
        for (int j = 0; j < TILE; j++) {
            const float one = t.k[j][threadIdx.x % DIM];
            for (int n = 0; n < OWN; n++)
                sum[n] += t.dS[(threadIdx.x + n * THREADS) / DIM][j] * one;
        }
        __syncthreads(); // everybody has read the tiles: the next may come
    }
    write(dq + row * DIM, sum, scale, query, seqQ);
}
