// Attention with the rotation inside: out = softmax(rot(q) * rot(k)^T / sqrt(dim)) * v, float32.
//
// Version 2: task 4's tiles in shared memory and squares in registers, with numbers turned on the
// way from device memory to the tile ("stage"). Query i of a sequence has position start + i, key j
// position j; at position p the pair j of a row is turned by the angle p * base^(-2 j / dim).
//
// A block has BR queries of one head, and walks over that head's keys BC at a time. The block's
// threads form a square of SIDE x SIDE. The SIDE threads of one line are neighbours in a warp and
// share BR / SIDE rows. Each thread computes ROWS x KEYS scores of a tile, and for its rows PARTS
// float4s of the output.
//
// The host defines BR, BC and DIM, 64 or 128: the columns of a tile.

#define SIDE 16
#define THREADS (SIDE * SIDE)
#define ROWS (BR / SIDE)
#define KEYS (BC / SIDE)
static_assert(BR % SIDE == 0 && BC % SIDE == 0, "BR and BC are multiples of 16");

// Where the tiles lie in shared memory, in floats. Rows are padded by one float4,
// so that eight threads that read float4s of eight rows meet eight different banks.
struct Tiles {
    static constexpr int pitch = DIM + 4; // of a row of q, k or v
    static constexpr int pPitch = BC + 4; // of a row of probabilities
    static constexpr int kSize = BC * pitch > BR *pPitch ? BC *pitch : BR *pPitch;
    static constexpr int q = 0;
    static constexpr int k = q + BR * pitch;
    static constexpr int p = k; // k is no longer needed when there are probabilities
    static constexpr int v = k + kSize;
};

// How rows are turned. turns has for each pair its turns a step of the position, as a sum of two
// floats: one has too few bits for position 100,000.
struct Rotation {
    const float2 *turns;
    int neighbours, half;

    // Whole turns do not count, so the product's fraction must be good: fmaf knows what rounding
    // took from it.
    __device__ void turn(float &a, float &b, int pair, float position) const {
        const float2 each = turns[pair];
        const float whole = position * each.x;
        const float lost = fmaf(position, each.x, -whole) + position * each.y;
        float sine, cosine;
        sincospif(2.0f * (whole - rintf(whole) + lost), &sine, &cosine);
        const float x = a * cosine - b * sine;
        b = b * cosine + a * sine, a = x;
    }
};

__device__ float4 times(float4 x, float by) {
    return make_float4(x.x * by, x.y * by, x.z * by, x.w * by);
}

// Stages the rows from row0 on, times factor: columns x ... x + 3, and the same of the row's second
// half. Rows and columns that do not exist become zeros. If turned, the first row has the position.
__device__ void stage(float *tile, int lines, const float *matrix, int row0, int rows, int dim,
                      float factor, const Rotation &by, bool turned, int position) {
    for (int i = threadIdx.x; i < lines * (DIM / 8); i += THREADS) {
        const int line = i / (DIM / 8), x = i % (DIM / 8) * 4, half = by.half;
        const float *from = matrix + (size_t)(row0 + line) * dim + x;
        float4 a = make_float4(0.0f, 0.0f, 0.0f, 0.0f), b = a;
        if (row0 + line < rows && x < half) {
            a = times(*(const float4 *)from, factor),
            b = times(*(const float4 *)(from + half), factor);
            const float p = position + line;
            if (turned && by.neighbours) {
                by.turn(a.x, a.y, x / 2, p), by.turn(a.z, a.w, x / 2 + 1, p);
                by.turn(b.x, b.y, (half + x) / 2, p), by.turn(b.z, b.w, (half + x) / 2 + 1, p);
            } else if (turned) {
                by.turn(a.x, b.x, x, p), by.turn(a.y, b.y, x + 1, p);
                by.turn(a.z, b.z, x + 2, p), by.turn(a.w, b.w, x + 3, p);
            }
        }
        float *to = tile + line * Tiles::pitch + x; // a narrower head leaves zeros behind each half
        *(float4 *)to = a, *(float4 *)(to + DIM / 2) = b;
    }
}

__device__ float dot(float sum, float4 a, float4 b) {
    return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__device__ void add(float4 &sum, float p, float4 v) {
    sum.x += p * v.x, sum.y += p * v.y, sum.z += p * v.z, sum.w += p * v.w;
}

__device__ void scale(float4 &sum, float by) {
    sum.x *= by, sum.y *= by, sum.z *= by, sum.w *= by;
}

// Shuffles over distances below SIDE stay among the threads that share a row.
__device__ float rowMax(float value) {
    for (int lanes = SIDE / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    return value;
}

__device__ float rowSum(float value) {
    for (int lanes = SIDE / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    rope(const float *q, const float *k, const float *v, const int *start, float *out, int heads,
         int seqQ, int seqK, int dim, int causal, int neighbours, double log2Base, float factor) {
    extern __shared__ __align__(16) float shared[];
    __shared__ float2 turns[DIM / 2];
    using T = Tiles;
    constexpr int PARTS = DIM / (4 * SIDE); // float4s of a row that a thread sums up
    const int threadRow = threadIdx.x / SIDE;
    const int threadColumn = threadIdx.x % SIDE;

    const int blocks = (seqQ + BR - 1) / BR; // of one head
    const size_t head = blockIdx.x / blocks;
    // The last queries first: with the causal mask they have the most keys, and a
    // block that starts late should not be a long one.
    const int query0 = (blocks - 1 - blockIdx.x % blocks) * BR;
    q += head * seqQ * dim, out += head * seqQ * dim;
    k += head * seqK * dim, v += head * seqK * dim;
    const int from = start[head / heads]; // the position of query 0

    // 1. Each pair's turns a step. In double, but only once a block.
    const Rotation by = {turns, neighbours, dim / 2};
    for (int j = threadIdx.x; j < dim / 2; j += THREADS) {
        const double each = exp2(-2.0 * j / dim * log2Base) * 0.15915494309189535; // 1 / (2 pi)
        turns[j].x = (float)each, turns[j].y = (float)(each - turns[j].x);
    }
    __syncthreads(); // turns is complete

    // 2. Stage the queries, once. factor is log2(e) / sqrt(dim): the scores come out
    //    such that 2^score is what exp would be, and exp2f is the cheaper one.
    stage(shared + T::q, BR, q, query0, seqQ, dim, factor, by, true, from + query0);

    float largest[ROWS]; // of the scores so far
    float sum[ROWS];     // of 2^(score - largest), this thread's share
    float4 acc[ROWS][PARTS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        largest[i] = -INFINITY;
        sum[i] = 0.0f;
#pragma unroll
        for (int part = 0; part < PARTS; part++) acc[i][part] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }

    // With the mask query i sees the keys up to i + lead, whose positions are not after its own.
    const int lead = causal ? from : seqK;
    const int keys = min(seqK, query0 + BR + lead);

    for (int key0 = 0; key0 < keys; key0 += BC) {
        // 3. Stage a tile of keys, turned, and of values.
        stage(shared + T::k, BC, k, key0, seqK, dim, 1.0f, by, true, key0);
        stage(shared + T::v, BC, v, key0, seqK, dim, 1.0f, by, false, 0);
        __syncthreads(); // the tiles are complete, and q's in the first round

        // 4. Scores. A thread's rows and keys lie SIDE apart.
        float score[ROWS][KEYS] = {};
#pragma unroll
        for (int x = 0; x < DIM; x += 4) {
            float4 fromQ[ROWS], fromK[KEYS];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                fromQ[i] = *(float4 *)(shared + T::q + (threadRow + i * SIDE) * T::pitch + x);
#pragma unroll
            for (int j = 0; j < KEYS; j++)
                fromK[j] = *(float4 *)(shared + T::k + (threadColumn + j * SIDE) * T::pitch + x);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int j = 0; j < KEYS; j++) score[i][j] = dot(score[i][j], fromQ[i], fromK[j]);
        }
        __syncthreads(); // all have read k before probabilities take its place

        // 5. Mask what lies beyond the last key, or after the query. Most tiles
        //    have neither.
        if (key0 + BC > seqK || key0 + BC - 1 > query0 + lead) {
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int j = 0; j < KEYS; j++) {
                    const int query = query0 + threadRow + i * SIDE;
                    const int key = key0 + threadColumn + j * SIDE;
                    if (key >= seqK || key > query + lead) score[i][j] = -INFINITY;
                }
        }

        // 6. Online softmax: a new maximum rescales what was summed relative to
        //    the old one, by 2^(old - new).
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            float newLargest = largest[i];
#pragma unroll
            for (int j = 0; j < KEYS; j++) newLargest = fmaxf(newLargest, score[i][j]);
            newLargest = rowMax(newLargest);
            // A row that has seen no key yet: any number but -infinity will do.
            const float base = newLargest == -INFINITY ? 0.0f : newLargest;
            const float rescale = exp2f(largest[i] - base);
            largest[i] = newLargest;
            sum[i] *= rescale;
#pragma unroll
            for (int part = 0; part < PARTS; part++) scale(acc[i][part], rescale);
            float *p = shared + T::p + (threadRow + i * SIDE) * T::pPitch;
#pragma unroll
            for (int j = 0; j < KEYS; j++) {
                const float weight = exp2f(score[i][j] - base);
                sum[i] += weight;
                p[threadColumn + j * SIDE] = weight;
            }
        }
        __syncwarp(); // a row of probabilities is written and read by one warp

        // 7. Add the weighted values, four keys at a time.
#pragma unroll 4
        for (int key = 0; key < BC; key += 4) {
            float4 weight[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                weight[i] = *(float4 *)(shared + T::p + (threadRow + i * SIDE) * T::pPitch + key);
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                const float *value =
                    shared + T::v + key * T::pitch + (threadColumn + part * SIDE) * 4;
                const float4 v0 = *(float4 *)(value);
                const float4 v1 = *(float4 *)(value + T::pitch);
                const float4 v2 = *(float4 *)(value + 2 * T::pitch);
                const float4 v3 = *(float4 *)(value + 3 * T::pitch);
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    add(acc[i][part], weight[i].x, v0);
                    add(acc[i][part], weight[i].y, v1);
                    add(acc[i][part], weight[i].z, v2);
                    add(acc[i][part], weight[i].w, v3);
                }
            }
        }
        __syncthreads(); // all are done with this tile before the next overwrites it
    }

    // 8. Divide by the whole row's sum, and write. The second half of a tile's columns is the
    //    second half of a row. Key 0 is never hidden, so there is a sum.
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float inverse = 1.0f / rowSum(sum[i]);
        const int query = query0 + threadRow + i * SIDE;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const int column = (threadColumn + part * SIDE) * 4, x = column % (DIM / 2);
            scale(acc[i][part], inverse);
            if (query < seqQ && x < dim / 2)
                *(float4 *)(out + (size_t)query * dim + column / (DIM / 2) * (dim / 2) + x) =
                    acc[i][part];
        }
    }
}
