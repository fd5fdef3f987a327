// Attention in separate kernels: a softmax and two matrix products.
//
// Version 4 (_versions/ has the earlier ones). What is new: large products are computed on tensor
// cores, of two halves for each number: see the last section. And softmax adds up the sums of its
// threads in double. The rest is as in version 3.
//
// The host defines THREADS_SOFTMAX, the threads of a block of softmax, and for the products TILE,
// the side of a block's square of results, DEPTH, how many terms of their sums are staged at a
// time, and SIDE: a block has SIDE * SIDE threads.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "tensorcore.h"

// ---- softmax -------------------------------------------------------------------
//
// Softmax of x [outer, len, inner] along the dimension len, written to y. Row r = o * inner + j
// has its element i at x[(o * len + i) * inner + j].
//
// A row is kept in registers, not in shared memory (which is what version 3 changed). A team of 32
// to 512 threads shares a row, MOST elements each, and asks for all of them before it uses the
// first: so enough reads are under way at any time to keep device memory busy. Threads of a warp
// exchange maxima and sums by shuffles, which need no barrier.

#define MOST 32 // elements of a row that a thread keeps
#define EVERYONE 0xffffffffu

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
    __device__ double operator()(double a, double b) const { return a + b; }
};

// Combines one value of each thread of a team: by shuffles in a warp, and through shared memory
// across the warps of larger teams. All threads of the block take part.
template <typename T, typename Combine>
__device__ T together(T value, int team, T *perWarp, Combine combine) {
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = combine(value, __shfl_xor_sync(EVERYONE, value, lanes));
    if (team == 32) return value;
    if (threadIdx.x % 32 == 0) perWarp[threadIdx.x / 32] = value;
    __syncthreads(); // every warp's value is in place before others read it
    const int firstWarp = threadIdx.x / team * team / 32;
    value = perWarp[firstWarp];
    for (int warp = 1; warp < team / 32; warp++) value = combine(value, perWarp[firstWarp + warp]);
    return value;
}

// FOUR says that rows lie together (inner is 1) and start at multiples of 16 bytes.
template <bool FOUR>
__device__ void softmaxRows(const float *__restrict__ x, float *__restrict__ y, int rows, int len,
                            int inner, int team) {
    __shared__ float maxima[THREADS_SOFTMAX / 32];
    __shared__ double sums[THREADS_SOFTMAX / 32];
    const int row = blockIdx.x * (THREADS_SOFTMAX / team) + threadIdx.x / team;
    const int thread = threadIdx.x % team; // within the team
    const size_t first = (size_t)(row / inner) * len * inner + row % inner;
    const int mine = row < rows ? len : 0; // a team without a row goes along to the barriers

    // 1. Read the row. Neighbours read neighbours; -infinity changes neither maximum nor sum.
    float part[MOST];
#pragma unroll
    for (int k = 0; k < MOST; k += FOUR ? 4 : 1) {
        const int i = FOUR ? k * team + thread * 4 : k * team + thread;
        if (FOUR) {
            float4 four = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
            if (i < mine)
                four = __ldcs((const float4 *)(x + first + i)); // read once: not to be kept
            part[k] = four.x, part[k + 1] = four.y, part[k + 2] = four.z, part[k + 3] = four.w;
        } else {
            part[k] = i < mine ? x[first + (size_t)i * inner] : -INFINITY;
        }
    }

    // 2. The row's maximum.
    float largest = part[0];
#pragma unroll
    for (int k = 1; k < MOST; k++) largest = fmaxf(largest, part[k]);
    largest = together(largest, team, maxima, Larger());

    // 3. Exponentials, and their sum. With the maximum subtracted no exponent is above 0, so
    //    nothing overflows, and the largest term is exactly 1, so that the sum is never 0. The
    //    threads' sums are put together in double: their own rounding errors even out among many
    //    threads, those of the last few additions would not, and all of the row shares them.
    float share = 0.0f;
#pragma unroll
    for (int k = 0; k < MOST; k++) {
        part[k] = expf(part[k] - largest);
        share += part[k];
    }
    const float sum = together((double)share, team, sums, Plus());

    // 4. Normalise, and write the row. Dividing is more exact than to multiply by 1 / sum, whose
    //    rounding all elements would share; memory is the limit, so it costs nothing.
#pragma unroll
    for (int k = 0; k < MOST; k += FOUR ? 4 : 1) {
        const int i = FOUR ? k * team + thread * 4 : k * team + thread;
        if (i >= mine) continue;
        if (FOUR) {
            __stcs((float4 *)(y + first + i), make_float4(part[k] / sum, part[k + 1] / sum,
                                                          part[k + 2] / sum, part[k + 3] / sum));
        } else {
            y[first + (size_t)i * inner] = part[k] / sum;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS_SOFTMAX)
    softmax_fours(const float *__restrict__ x, float *__restrict__ y, int rows, int len, int inner,
                  int team) {
    softmaxRows<true>(x, y, rows, len, inner, team);
}

extern "C" __global__ void __launch_bounds__(THREADS_SOFTMAX)
    softmax_any(const float *__restrict__ x, float *__restrict__ y, int rows, int len, int inner,
                int team) {
    softmaxRows<false>(x, y, rows, len, inner, team);
}

// ---- products, small -----------------------------------------------------------
//
// c = a * b for a batch of matrices: a [M, K], c [M, N], and b [K, N] or, stored
// transposed, [N, K]. A block computes TILE x TILE results. It walks along K in
// steps of DEPTH: a slab of a and a slab of b are staged in shared memory, where
// each of their elements is used TILE times. A thread keeps its
// PER x PER results in registers, so that the 2 * PER values that it reads
// from shared memory serve for PER * PER products.

#define PER (TILE / SIDE)
#define THREADS (SIDE * SIDE)
static_assert(TILE % SIDE == 0, "each thread computes the same number of results");

// One column more than TILE: neighbours in k then lie in different banks.
typedef float Slab[DEPTH][TILE + 1];

// Stages DEPTH terms of TILE lines (rows of a, or columns of b) from (line0, k0)
// on. Beyond the matrix come zeros, which add nothing to a sum.
__device__ void stage(Slab slab, const float *matrix, int line0, int lines, int k0, int depth,
                      size_t lineStride, size_t kStride) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        // Neighbouring threads read neighbouring addresses, whichever way the
        // matrix is stored.
        const int line = kStride == 1 ? i / DEPTH : i % TILE;
        const int k = kStride == 1 ? i % DEPTH : i / TILE;
        const bool inside = line0 + line < lines && k0 + k < depth;
        slab[k][line] = inside ? matrix[(line0 + line) * lineStride + (k0 + k) * kStride] : 0.0f;
    }
}

// The block's TILE x TILE results. bLine and bDepth are the strides of b.
__device__ void multiply(const float *a, const float *b, float *c, int M, int N, int K,
                         size_t bLine, size_t bDepth) {
    __shared__ Slab aSlab, bSlab;
    const int threadRow = threadIdx.x / SIDE;
    const int threadColumn = threadIdx.x % SIDE;
    const int row0 = blockIdx.y * TILE;
    const int column0 = blockIdx.x * TILE;

    float sum[PER][PER] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        // 1. Stage the slabs.
        stage(aSlab, a, row0, M, k0, K, K, 1);
        stage(bSlab, b, column0, N, k0, K, bLine, bDepth);
        __syncthreads(); // the slabs are complete before anyone reads them

        // 2. Add DEPTH terms to each sum. A thread's results lie SIDE apart:
        //    so neighbouring threads read neighbouring columns.
        for (int k = 0; k < DEPTH; k++) {
            float fromA[PER], fromB[PER];
#pragma unroll
            for (int i = 0; i < PER; i++) {
                fromA[i] = aSlab[k][threadRow + i * SIDE];
                fromB[i] = bSlab[k][threadColumn + i * SIDE];
            }
#pragma unroll
            for (int i = 0; i < PER; i++) {
#pragma unroll
                for (int j = 0; j < PER; j++) {
                    sum[i][j] += fromA[i] * fromB[j];
                }
            }
        }
        __syncthreads(); // all have read the slabs before the next overwrites them
    }

    // 3. Write the results that lie within c.
#pragma unroll
    for (int i = 0; i < PER; i++) {
#pragma unroll
        for (int j = 0; j < PER; j++) {
            const int row = row0 + threadRow + i * SIDE;
            const int column = column0 + threadColumn + j * SIDE;
            if (row < M && column < N) {
                c[(size_t)row * N + column] = sum[i][j];
            }
        }
    }
}

// b is stored transposed, [N, K]: the scores q * k^T.
extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
    gemm_nt(const float *a, const float *b, float *c, int M, int N, int K) {
    const size_t batch = blockIdx.z;
    multiply(a + batch * M * K, b + batch * N * K, c + batch * M * N, M, N, K, K, 1);
}

// b is stored as it is, [K, N]: the weighted sum of v.
extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
    gemm_nn(const float *a, const float *b, float *c, int M, int N, int K) {
    const size_t batch = blockIdx.z;
    multiply(a + batch * M * K, b + batch * K * N, c + batch * M * N, M, N, K, 1, N);
}

// ---- products, large -----------------------------------------------------------
//
// Tensor cores multiply halves, of 11 bits, where float32 has 24. So each number becomes two
// halves, x = high + low, which have 22 bits together, and a product three of theirs:
//     a * b = aHigh * bHigh + aHigh * bLow + aLow * bHigh       (aLow * bLow is 2^-22 of it)
// Halves reach from 2^-24 to 2^16 only: each line (row of a, column of b) has a scale of its own,
// a power of two that brings its largest number to 2^14 ... 2^15. Numbers down to 2^-18 of that
// keep all 22 bits.
//
// First the pieces: b, if it is not transposed, is transposed, so that the numbers of a line lie
// together; then both are split. Of each 32 numbers of a line come the high halves, then the low
// ones: 128 bytes, as much as the floats took. Zeros fill up the last slab and the last tile.

#define WARP 32
#define SLAB 32         // terms that are staged at a time
#define LINE 128        // bytes of a line's slab: eight chunks of 16, high halves first
#define SPLIT 256       // threads of transpose and split
#define GEMM_PIECES 128 // threads of gemm_pieces
#define SQUARE 128      // side of a block's square of results
#define SLABS_STAGED 3  // in shared memory, or on their way there

// turned [lines, depth] of b [depth, lines], by squares of 32 x 32; z is the batch.
extern "C" __global__ void __launch_bounds__(SPLIT)
    transpose(const float *b, float *turned, int depth, int lines) {
    __shared__ float square[32][32 + 1]; // one more: columns are read without conflicts
    const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    const int line0 = blockIdx.x * 32, k0 = blockIdx.y * 32;
    const size_t matrix = (size_t)blockIdx.z * depth * lines;
    for (int k = ty; k < 32; k += SPLIT / 32)
        if (k0 + k < depth && line0 + tx < lines)
            square[k][tx] = b[matrix + (size_t)(k0 + k) * lines + line0 + tx];
    __syncthreads(); // the square is complete before it is read the other way
    for (int l = ty; l < 32; l += SPLIT / 32)
        if (line0 + l < lines && k0 + tx < depth)
            turned[matrix + (size_t)(line0 + l) * depth + k0 + tx] = square[tx][l];
}

// 2^n; what is less than 2^-126 is as good as that here.
__device__ float powerOfTwo(int n) {
    return __int_as_float(max(n + 127, 1) << 23);
}

__device__ float2 asFloats(__half2 first, __half2 second) { // the same bits, to be stored
    return make_float2(__int_as_float(*(const int *)&first), __int_as_float(*(const int *)&second));
}

// Four neighbours from k on, with zeros beyond the end. wide: 16 bytes may be read at once.
__device__ float4 four(const float *line, int k, int end, int wide) {
    if (wide && k < end) return *(const float4 *)(line + k);
    return make_float4(k < end ? line[k] : 0.0f, k + 1 < end ? line[k + 1] : 0.0f,
                       k + 2 < end ? line[k + 2] : 0.0f, k + 3 < end ? line[k + 3] : 0.0f);
}

// The pieces of x [lines, depth]: halves [padded][slabs * SLAB floats], and back [padded], which
// undoes a line's scale. A warp has a line, and reads it twice; y is the batch.
extern "C" __global__ void __launch_bounds__(SPLIT)
    split(const float *x, float *halves, float *back, int lines, int padded, int depth, int wide) {
    const int lane = threadIdx.x % WARP;
    const int line = blockIdx.x * (SPLIT / WARP) + threadIdx.x / WARP;
    if (line >= padded) return; // the whole warp
    const int whole = (depth + SLAB - 1) / SLAB * SLAB, end = line < lines ? depth : 0;
    const float *from = x + ((size_t)blockIdx.y * lines + line) * depth;
    const size_t at = (size_t)blockIdx.y * padded + line;

    // 1. The largest number. fmaxf passes over NaN, which stays NaN all the same.
    float most = 0.0f;
#pragma unroll 4
    for (int k = lane * 4; k < end; k += WARP * 4) {
        const float4 v = four(from, k, end, wide);
        most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        most = fmaxf(most, __shfl_xor_sync(EVERYONE, most, lanes));
    const int n = min(14 + 127 - (int)(__float_as_uint(most) >> 23), 126);
    if (lane == 0) back[at] = powerOfTwo(-n);

    // 2. The halves. The low one is what the high one, rounded, leaves: exactly.
    const float scale = powerOfTwo(n);
#pragma unroll 4
    for (int k = lane * 4; k < whole; k += WARP * 4) {
        float4 v = four(from, k, end, wide);
        v.x *= scale, v.y *= scale, v.z *= scale, v.w *= scale;
        const __half2 high0 = __floats2half2_rn(v.x, v.y), high1 = __floats2half2_rn(v.z, v.w);
        const float2 h0 = __half22float2(high0), h1 = __half22float2(high1);
        float *to = halves + at * whole + k / SLAB * SLAB + k % SLAB / 2;
        *(float2 *)to = asFloats(high0, high1);
        *(float2 *)(to + SLAB / 2) = asFloats(__floats2half2_rn(v.x - h0.x, v.y - h0.y),
                                              __floats2half2_rn(v.z - h1.x, v.w - h1.y));
    }
}

// c [M, N] of the pieces of a and b. A block has SQUARE x SQUARE results, each of its 2 x 2 warps
// 64 x 64, as 4 x 8 fragments of 16 x 8. y is the batch.
extern "C" __global__ void __launch_bounds__(GEMM_PIECES, 2)
    gemm_pieces(const float *a, const float *b, const float *aBack, const float *bBack, float *c,
                int M, int N, int slabs) {
    extern __shared__ __align__(128) unsigned char staged[]; // [SLABS_STAGED][2 * SQUARE][LINE]
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int across = (N + SQUARE - 1) / SQUARE, down = (M + SQUARE - 1) / SQUARE;
    // Blocks that run at the same time have squares near each other: 16 down, then the next
    // column. So they read the same lines at the same time, from the L2 cache.
    const int group = blockIdx.x / (16 * across) * 16, height = min(16, down - group);
    const int row0 = (group + (blockIdx.x - group * across) % height) * SQUARE;
    const int column0 = (blockIdx.x - group * across) / height * SQUARE;
    const size_t pitch = (size_t)slabs * SLAB, batch = blockIdx.y;
    aBack += batch * down * SQUARE, bBack += batch * across * SQUARE;

    // Eight threads copy a slab's line. Chunks of 16 bytes are swapped within it (^ line % 8), so
    // that eight lines' chunks of one name, as load_matrix reads them, meet all banks.
    const int line = threadIdx.x / 8, chunk = threadIdx.x % 8;
    const float *fromA = a + (batch * down * SQUARE + row0 + line) * pitch + chunk * 4;
    const float *fromB = b + (batch * across * SQUARE + column0 + line) * pitch + chunk * 4;
    unsigned char *to = staged + line * LINE + (chunk ^ line % 8) * 16;
    auto copy = [&](int slab) {
        unsigned char *at = to + slab % SLABS_STAGED * 2 * SQUARE * LINE;
        for (int l = 0; slab < slabs && l < SQUARE; l += GEMM_PIECES / 8) {
            __pipeline_memcpy_async(at + l * LINE, fromA + l * pitch + slab * SLAB, 16);
            __pipeline_memcpy_async(at + (SQUARE + l) * LINE, fromB + l * pitch + slab * SLAB, 16);
        }
        __pipeline_commit(); // without copies at the end: groups are counted
    };
    // Where the line begins that this lane names to load_matrix: of a, four squares of 8 x 8 down,
    // then right; of b the other way round.
    const int warpRow = warp / 2 * 64, warpColumn = warp % 2 * 64;
    const int aAt = (warpRow + lane % 16) * LINE + (lane / 16 ^ lane % 8) * 16;
    const int bAt =
        (SQUARE + warpColumn + lane / 16 * 8 + lane % 8) * LINE + (lane / 8 % 2 ^ lane % 8) * 16;

    float sum[4][8][4] = {};
    for (int slab = 0; slab < SLABS_STAGED - 1; slab++) copy(slab);
    for (int slab = 0; slab < slabs; slab++) {
        // 1. Wait for the slab, and ask for the one that takes the place of the last.
        __pipeline_wait_prior(SLABS_STAGED - 2); // what this thread copied is there
        __syncthreads(); // what all copied is; and all have done with the slab before
        copy(slab + SLABS_STAGED - 1);
        const unsigned char *now = staged + slab % SLABS_STAGED * 2 * SQUARE * LINE;

        // 2. Multiply, 16 terms (32 bytes) at a time. Tensor cores cut off what does not fit into
        //    a sum instead of rounding it, and over many steps that adds up. So each of their
        //    sums begins at zero, and ordinary additions, which round, put them together.
#pragma unroll 1
        for (int k = 0; k < 64; k += 32) {
            unsigned aHigh[4][4], aLow[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                load_matrix(aHigh[i], now + (aAt ^ k) + i * 16 * LINE);
                load_matrix(aLow[i], now + (aAt ^ k ^ 64) + i * 16 * LINE);
            }
#pragma unroll
            for (int j = 0; j < 8; j += 2) { // two fragments of columns
                unsigned bHigh[4], bLow[4];
                load_matrix(bHigh, now + (bAt ^ k) + j * 8 * LINE);
                load_matrix(bLow, now + (bAt ^ k ^ 64) + j * 8 * LINE);
#pragma unroll
                for (int f = 0; f < 2; f++) {
                    float part[4][4] = {};
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        mma_f16(part[i], aLow[i], bHigh[2 * f], bHigh[2 * f + 1]);
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        mma_f16(part[i], aHigh[i], bLow[2 * f], bLow[2 * f + 1]);
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        mma_f16(part[i], aHigh[i], bHigh[2 * f], bHigh[2 * f + 1]);
#pragma unroll
                    for (int i = 0; i < 16; i++) sum[i / 4][j + f][i % 4] += part[i / 4][i % 4];
                }
            }
        }
    }

    // 3. Undo the scales, the smaller first, for both together may be beyond float; and write,
    //    two neighbours at once where c allows.
    const bool pairs = N % 2 == 0 && (size_t)c % 8 == 0;
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int row = row0 + warpRow + i * 8 + lane / 4;
            const int column = column0 + warpColumn + j * 8 + lane % 4 * 2;
            if (row >= M || column >= N) continue;
            float v[2];
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const float one = aBack[row], other = bBack[column + e];
                v[e] = sum[i / 2][j][i % 2 * 2 + e] * fminf(one, other) * fmaxf(one, other);
            }
            float *at = c + (batch * M + row) * N + column;
            if (pairs) {
                *(float2 *)at = make_float2(v[0], v[1]);
                continue;
            }
            at[0] = v[0];
            if (column + 1 < N) at[1] = v[1];
        }
}
