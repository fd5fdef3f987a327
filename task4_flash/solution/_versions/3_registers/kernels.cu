// Attention in one kernel: out = softmax(q * k^T / sqrt(dim)) * v, float32.
//
// Version 3. What is new: a thread has a square of scores, ROWS x KEYS, and for its rows PARTS
// numbers of the output, all in registers. So a number that it reads from shared memory serves
// several products: 8 reads for 16 in the scores, 12 for 32 in the weighted sum.
//
// The block's threads form a square of SIDE x SIDE. The SIDE threads of one line are neighbours in
// a warp and share BR / SIDE rows: they exchange maxima by shuffles. What one thread computes and
// another needs, the probabilities, goes through shared memory.
//
// The host defines BR and BC, the queries and keys of a tile.

#define SIDE 16
#define THREADS (SIDE * SIDE)
#define ROWS (BR / SIDE)
#define KEYS (BC / SIDE)
#define DIM 128 // room for a row
#define PARTS (DIM / SIDE)
#define EVERYONE 0xffffffffu

// Where the tiles lie. Rows are one number longer than needed: threads that read the same column
// of neighbouring rows meet different banks.
struct Shared {
    float q[BR][DIM + 1], k[BC][DIM + 1], v[BC][DIM + 1];
    float p[BR][BC + 1]; // probabilities
};

// Stages LINES rows of length dim, from row0 on, times factor. What does not exist becomes zeros.
template <int LINES>
__device__ void stage(float (*tile)[DIM + 1], const float *matrix, int row0, int rows, int dim,
                      float factor) {
    for (int i = threadIdx.x; i < LINES * DIM; i += THREADS) {
        const int line = i / DIM, x = i % DIM;
        const bool inside = row0 + line < rows && x < dim;
        tile[line][x] = inside ? matrix[(size_t)(row0 + line) * dim + x] * factor : 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    flash(const float *q, const float *k, const float *v, float *out, int seqQ, int seqK, int dim,
          int causal, float factor) {
    extern __shared__ float bytes[];
    Shared &shared = *(Shared *)bytes;
    const int threadRow = threadIdx.x / SIDE, threadColumn = threadIdx.x % SIDE;
    const int blocks = (seqQ + BR - 1) / BR; // of one head
    const size_t head = blockIdx.x / blocks;
    const int query0 = blockIdx.x % blocks * BR;
    q += head * seqQ * dim, out += head * seqQ * dim;
    k += head * seqK * dim, v += head * seqK * dim;

    // 1. The queries, times log2(e) / sqrt(dim): 2^score is what exp would be.
    stage<BR>(shared.q, q, query0, seqQ, dim, factor);
    float largest[ROWS], sum[ROWS] = {}; // of a row; sum: this thread's share
    float acc[ROWS][PARTS] = {};
    for (int i = 0; i < ROWS; i++) largest[i] = -INFINITY;

    // Query i sees the keys up to i + lead. The block's last query sees the most.
    const int lead = causal ? seqK - seqQ : seqK;
    const int keys = min(seqK, query0 + BR + lead);
    for (int key0 = 0; key0 < keys; key0 += BC) {
        // 2. Stage a tile of keys and values.
        stage<BC>(shared.k, k, key0, seqK, dim, 1.0f);
        stage<BC>(shared.v, v, key0, seqK, dim, 1.0f);
        __syncthreads(); // the tiles are complete, and q's in the first round

        // 3. Scores. A thread's rows and keys lie SIDE apart.
        float score[ROWS][KEYS] = {};
#pragma unroll 8
        for (int x = 0; x < DIM; x++) {
            float fromQ[ROWS], fromK[KEYS];
            for (int i = 0; i < ROWS; i++) fromQ[i] = shared.q[threadRow + i * SIDE][x];
            for (int j = 0; j < KEYS; j++) fromK[j] = shared.k[threadColumn + j * SIDE][x];
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < KEYS; j++) score[i][j] += fromQ[i] * fromK[j];
        }

        // 4. Online softmax, tile by tile: when a score is larger than all before, what was summed
        //    relative to the old maximum is rescaled by 2^(old - new).
        for (int i = 0; i < ROWS; i++) {
            const int query = query0 + threadRow + i * SIDE;
            float newLargest = largest[i];
            for (int j = 0; j < KEYS; j++) {
                const int key = key0 + threadColumn + j * SIDE;
                if (key >= seqK || key > query + lead) score[i][j] = -INFINITY;
                newLargest = fmaxf(newLargest, score[i][j]);
            }
            // Shuffles over distances below SIDE stay among the threads that share a row.
            for (int lanes = SIDE / 2; lanes > 0; lanes /= 2)
                newLargest = fmaxf(newLargest, __shfl_xor_sync(EVERYONE, newLargest, lanes));
            // A row that has seen no key yet: any number but -infinity will do.
            const float base = newLargest == -INFINITY ? 0.0f : newLargest;
            const float rescale = exp2f(largest[i] - base);
            largest[i] = newLargest;
            sum[i] *= rescale;
            for (int part = 0; part < PARTS; part++) acc[i][part] *= rescale;
            for (int j = 0; j < KEYS; j++) {
                const float weight = exp2f(score[i][j] - base);
                sum[i] += weight;
                shared.p[threadRow + i * SIDE][threadColumn + j * SIDE] = weight;
            }
        }
        __syncwarp(); // a row of probabilities is written and read by one warp

        // 5. Add the weighted values.
#pragma unroll 4
        for (int key = 0; key < BC; key++) {
            float weight[ROWS], value[PARTS];
            for (int i = 0; i < ROWS; i++) weight[i] = shared.p[threadRow + i * SIDE][key];
            for (int j = 0; j < PARTS; j++) value[j] = shared.v[key][threadColumn + j * SIDE];
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < PARTS; j++) acc[i][j] += weight[i] * value[j];
        }
        __syncthreads(); // all are done with this tile before the next overwrites it
    }

    // 6. Divide by the sum, and write. A query that saw no key has gathered zeros.
    for (int i = 0; i < ROWS; i++) {
        const int query = query0 + threadRow + i * SIDE;
        for (int lanes = SIDE / 2; lanes > 0; lanes /= 2)
            sum[i] += __shfl_xor_sync(EVERYONE, sum[i], lanes);
        const float inverse = sum[i] > 0.0f ? 1.0f / sum[i] : 0.0f;
        for (int j = 0; j < PARTS; j++) {
            const int x = threadColumn + j * SIDE;
            if (query < seqQ && x < dim) out[(size_t)query * dim + x] = acc[i][j] * inverse;
        }
    }
}
