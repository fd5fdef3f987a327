// Attention in one kernel: out = softmax(q * k^T / sqrt(dim)) * v, float32.
//
// Version 4. What is new: shared memory is read four numbers at a time, by a quarter of the
// instructions; so is device memory, where rows allow it. Heads of up to 64 have a kernel of their
// own.
//
// A block has BR queries of one head, and walks over that head's keys in tiles of
// BC. Scores live in registers and shared memory only: an online softmax keeps,
// for each row, the largest score so far, the sum of the exponentials relative to
// it, and the output accumulated relative to it. All three are corrected when a
// tile brings a larger score.
//
// The block's threads form a square of SIDE x SIDE. The SIDE threads of one line
// are neighbours in a warp and share BR / SIDE rows: they exchange maxima by
// shuffles. Each thread computes ROWS x KEYS scores of a tile, and for its rows
// PARTS float4s of the output.
//
// The host defines BR and BC. It computes the shared memory just as Tiles does.

#define SIDE 16
#define THREADS (SIDE * SIDE)
#define ROWS (BR / SIDE)
#define KEYS (BC / SIDE)
static_assert(BR % SIDE == 0 && BC % SIDE == 0, "BR and BC are multiples of 16");

// Where the tiles lie in shared memory, in floats. Rows are padded by one float4,
// so that eight threads that read float4s of eight rows meet eight different banks.
template <int DIM> struct Tiles {
    static constexpr int pitch = DIM + 4; // of a row of q, k or v
    static constexpr int pPitch = BC + 4; // of a row of probabilities
    static constexpr int kSize = BC * pitch > BR *pPitch ? BC *pitch : BR *pPitch;
    static constexpr int q = 0;
    static constexpr int k = q + BR * pitch;
    static constexpr int p = k; // k is no longer needed when there are probabilities
    static constexpr int v = k + kSize;
};

// Stages rows of length dim, from row0 on, times factor. Rows and columns that do
// not exist become zeros. wide says that rows start at multiples of 16 bytes.
template <int DIM>
__device__ void stage(float *tile, int lines, const float *matrix, int row0, int rows, int dim,
                      int wide, float factor) {
    for (int i = threadIdx.x; i < lines * (DIM / 4); i += THREADS) {
        const int line = i / (DIM / 4);
        const int x = i % (DIM / 4) * 4;
        const float *from = matrix + (size_t)(row0 + line) * dim + x;
        float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (row0 + line < rows && x < dim) {
            if (wide) {
                value = *(const float4 *)from;
            } else {
                value.x = from[0];
                if (x + 1 < dim) value.y = from[1];
                if (x + 2 < dim) value.z = from[2];
                if (x + 3 < dim) value.w = from[3];
            }
        }
        value.x *= factor, value.y *= factor, value.z *= factor, value.w *= factor;
        *(float4 *)(tile + line * Tiles<DIM>::pitch + x) = value;
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

template <int DIM>
__device__ void flash(float *shared, const float *q, const float *k, const float *v, float *out,
                      int seqQ, int seqK, int dim, int causal, int wide, float factor) {
    using T = Tiles<DIM>;
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

    // 1. Stage the queries, once. factor is log2(e) / sqrt(dim): the scores come out
    //    such that 2^score is what exp would be, and exp2f is the cheaper one.
    stage<DIM>(shared + T::q, BR, q, query0, seqQ, dim, wide, factor);

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

    // Query i sees the keys up to i + lead. With the causal mask, tiles behind the
    // last query's last key are left out.
    const int lead = causal ? seqK - seqQ : seqK;
    const int keys = min(seqK, query0 + BR + lead);

    for (int key0 = 0; key0 < keys; key0 += BC) {
        // 2. Stage a tile of keys and values.
        stage<DIM>(shared + T::k, BC, k, key0, seqK, dim, wide, 1.0f);
        stage<DIM>(shared + T::v, BC, v, key0, seqK, dim, wide, 1.0f);
        __syncthreads(); // the tiles are complete, and q's in the first round

        // 3. Scores. A thread's rows and keys lie SIDE apart.
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

        // 4. Mask what lies beyond the last key, or after the query. Most tiles
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

        // 5. Online softmax: a new maximum rescales what was summed relative to
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

        // 6. Add the weighted values, four keys at a time.
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

    // 7. Divide by the whole row's sum, and write. A row that saw no key has
    //    gathered zeros.
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float whole = rowSum(sum[i]);
        const float inverse = whole > 0.0f ? 1.0f / whole : 0.0f;
        const int query = query0 + threadRow + i * SIDE;
        if (query >= seqQ) continue;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const int x = (threadColumn + part * SIDE) * 4;
            float *to = out + (size_t)query * dim + x;
            scale(acc[i][part], inverse);
            if (wide) {
                if (x < dim) *(float4 *)to = acc[i][part];
                continue;
            }
            if (x < dim) to[0] = acc[i][part].x;
            if (x + 1 < dim) to[1] = acc[i][part].y;
            if (x + 2 < dim) to[2] = acc[i][part].z;
            if (x + 3 < dim) to[3] = acc[i][part].w;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    flash_64(const float *q, const float *k, const float *v, float *out, int seqQ, int seqK,
             int dim, int causal, int wide, float factor) {
    extern __shared__ __align__(16) float shared[];
    flash<64>(shared, q, k, v, out, seqQ, seqK, dim, causal, wide, factor);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    flash_128(const float *q, const float *k, const float *v, float *out, int seqQ, int seqK,
              int dim, int causal, int wide, float factor) {
    extern __shared__ __align__(16) float shared[];
    flash<128>(shared, q, k, v, out, seqQ, seqK, dim, causal, wide, factor);
}
