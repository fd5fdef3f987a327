// Attention in one kernel: out = softmax(q * k^T / sqrt(dim)) * v, float32.
//
// Version 2. What is new: the block's warps, a query each, stage KEYS keys and values in shared
// memory together, and all use them. So device memory is read once for BR queries. A score is now
// one lane's: the 32 lanes have a key each, and no shuffles are needed to sum it up.
//
// The host defines BR, the queries of a block.

#define MOST 4  // of 128 dimensions, a lane has 4
#define KEYS 32 // of a tile: a lane each
#define DIM 128 // room for a row
#define EVERYONE 0xffffffffu

// Stages KEYS rows from row0 on, zeros behind the last. Neighbours read neighbours.
template <int PITCH>
__device__ void stage(float (*tile)[PITCH], const float *matrix, int row0, int rows, int dim) {
    for (int i = threadIdx.x; i < KEYS * dim; i += BR * 32) {
        const int line = i / dim, x = i % dim;
        tile[line][x] = row0 + line < rows ? matrix[(size_t)(row0 + line) * dim + x] : 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(BR * 32)
    flash(const float *q, const float *k, const float *v, float *out, int seqQ, int seqK, int dim,
          int causal, float factor) {
    __shared__ float qOf[BR][DIM];
    __shared__ float kTile[KEYS][DIM + 1]; // lanes read a column: 32 banks, for 129 is odd
    __shared__ float vTile[KEYS][DIM];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int blocks = (seqQ + BR - 1) / BR; // of one head
    const size_t head = blockIdx.x / blocks;
    const int query0 = blockIdx.x % blocks * BR, query = query0 + warp;
    q += head * seqQ * dim, out += head * seqQ * dim;
    k += head * seqK * dim, v += head * seqK * dim;

    // 1. The query, times log2(e) / sqrt(dim): 2^score is what exp would be. A warp behind the last
    //    query has zeros, and goes along to the barriers.
    float acc[MOST] = {};
    for (int x = lane; x < dim; x += 32)
        qOf[warp][x] = query < seqQ ? q[(size_t)query * dim + x] * factor : 0.0f;

    // Query i sees the keys up to i + lead. The block's last query sees the most.
    const int lead = causal ? seqK - seqQ : seqK;
    const int keys = min(seqK, query0 + BR + lead);
    float largest = -INFINITY, sum = 0.0f; // sum: this lane's share
    for (int key0 = 0; key0 < keys; key0 += KEYS) {
        // 2. Stage a tile of keys and values.
        stage(kTile, k, key0, seqK, dim);
        stage(vTile, v, key0, seqK, dim);
        __syncthreads(); // the tiles are complete, and this warp's query in the first round

        // 3. This lane's score.
        const int key = key0 + lane;
        float score = 0.0f;
        for (int x = 0; x < dim; x++) score += qOf[warp][x] * kTile[lane][x];
        if (key >= seqK || key > query + lead) score = -INFINITY;

        // 4. Online softmax, tile by tile: when a score is larger than all before, what was summed
        //    relative to the old maximum is rescaled by 2^(old - new).
        float newLargest = fmaxf(largest, score);
        for (int lanes = 16; lanes > 0; lanes /= 2)
            newLargest = fmaxf(newLargest, __shfl_xor_sync(EVERYONE, newLargest, lanes));
        // A row that has seen no key yet: any number but -infinity will do.
        const float base = newLargest == -INFINITY ? 0.0f : newLargest;
        const float rescale = exp2f(largest - base);
        const float weight = exp2f(score - base);
        largest = newLargest;
        sum = sum * rescale + weight;
        for (int i = 0; i < MOST; i++) acc[i] *= rescale;

        // 5. Add the weighted values: now a lane has numbers of a row, and each key's weight comes
        //    from the lane that has it.
        for (int j = 0; j < KEYS; j++) {
            const float w = __shfl_sync(EVERYONE, weight, j);
            for (int i = 0; i < MOST; i++) {
                const int x = lane + 32 * i;
                if (x < dim) acc[i] += w * vTile[j][x];
            }
        }
        __syncthreads(); // all are done with this tile before the next overwrites it
    }

    // 6. Divide by the sum, and write. A query that saw no key has gathered zeros.
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(EVERYONE, sum, lanes);
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int i = 0; i < MOST; i++) {
        const int x = lane + 32 * i;
        if (x < dim && query < seqQ) out[(size_t)query * dim + x] = acc[i] * inverse;
    }
}
