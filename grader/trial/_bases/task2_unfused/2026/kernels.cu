// Attention in separate kernels: a softmax and two matrix products. Version 6 (_versions/ has the
// earlier ones): tensor cores compute large products, of two halves for each number, and softmax
// adds up the sums of its threads in double. attention.go tells what the sizes in capitals are.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include "tensorcore.h"

#define LINE (SLAB * 4) // bytes of a line's slab: eight chunks of 16, high halves first
#define EVERYONE 0xffffffffu
#define LANE (threadIdx.x % 32)
#define WARP (threadIdx.x / 32)
// Unrolled, by nvcc itself or by a pragma: then what i indexes can be in registers.
#define EACH(i, n) for (int i = 0; i < (n); i++)

// ---- softmax -------------------------------------------------------------------
// Softmax of x [outer, len, inner] along the dimension len, written to y. Row r = o * inner + j
// has its element i at x[(o * len + i) * inner + j]. A team of 32 to 512 threads keeps a row in
// registers, MOST elements each. A thread asks for all of its elements before it uses the first:
// so enough reads are under way at any time to keep device memory busy.

// Combines a value of each thread of a team: by shuffles in a warp, and through shared memory
// across warps. All threads of the block take part.
template <typename T, typename Combine> __device__ T together(T value, int team, Combine combine) {
    __shared__ T perWarp[THREADS_SOFTMAX / 32];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = combine(value, __shfl_xor_sync(EVERYONE, value, lanes));
    if (team == 32) return value;
    if (LANE == 0) perWarp[WARP] = value;
    __syncthreads(); // every warp's value is in place before others read it
    const int firstWarp = threadIdx.x / team * team / 32;
    value = perWarp[firstWarp];
    for (int warp = 1; warp < team / 32; warp++) value = combine(value, perWarp[firstWarp + warp]);
    return value;
}

// Some is what is read at once: a float; or a float4, if rows lie together (inner is 1) and start
// at multiples of 16 bytes: then the kernel is called wide.
template <typename Some>
__device__ void softmaxRows(const float *x, float *y, int rows, int len, int inner, int team) {
    constexpr int WIDE = sizeof(Some) / sizeof(float);
    const int row = blockIdx.x * (THREADS_SOFTMAX / team) + threadIdx.x / team;
    const int mine = row < rows ? len : 0; // a team without a row goes along to the barriers
    const int thread = threadIdx.x % team;
    const size_t first = (size_t)(row / inner) * len * inner + row % inner;

    // 1. Read the row. Neighbours read neighbours; -infinity changes neither maximum nor sum.
    Some held[MOST / WIDE];
    float *part = (float *)held; // number by number
    EACH(k, MOST) part[k] = -INFINITY;
    EACH(k, MOST / WIDE) {
        const int i = (k * team + thread) * WIDE;
        if (i < mine && WIDE == 4) held[k] = __ldcs((const Some *)(x + first + i)); // read once
        if (i < mine && WIDE == 1) part[k] = x[first + (size_t)i * inner];
    }
    // 2. The row's maximum.
    float largest = -INFINITY, share = 0.0f;
    EACH(k, MOST) largest = fmaxf(largest, part[k]);
    largest = together(largest, team, [](float a, float b) { return fmaxf(a, b); });
    // 3. Exponentials, and their sum. With the maximum subtracted no exponent is above 0, so
    //    nothing overflows, and the largest term is 1, so that the sum is never 0. Rounding errors
    //    within threads even out; those of the last few additions would not: hence double.
    EACH(k, MOST) share += part[k] = expf(part[k] - largest);
    const float sum = together((double)share, team, [](double a, double b) { return a + b; });
    // 4. Normalise, and write the row. Dividing is more exact than to multiply by 1 / sum, whose
    //    rounding all elements would share; memory is the limit, so it costs nothing.
    EACH(k, MOST / WIDE) {
        const int i = (k * team + thread) * WIDE;
        if (i >= mine) continue;
        EACH(e, WIDE) part[k * WIDE + e] /= sum;
        if (WIDE == 4) __stcs((Some *)(y + first + i), held[k]);
        if (WIDE == 1) y[first + (size_t)i * inner] = part[k];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS_SOFTMAX, 2)
    softmax(const float *x, float *y, int rows, int len, int inner, int team, int wide) {
    if (wide) softmaxRows<float4>(x, y, rows, len, inner, team);
    if (!wide) softmaxRows<float>(x, y, rows, len, inner, team);
}

// ---- products, small -----------------------------------------------------------
// c = a * b for a batch of matrices: a [M, K], c [M, N], and b [K, N] or, stored transposed,
// [N, K]. A block computes TILE x TILE results. It walks along K in steps of DEPTH: a slab of a and
// a slab of b are staged in shared memory, where each of their elements is used TILE times. A
// thread has PER x PER results in registers: 2 * PER values that it reads serve PER * PER products.

// Stages DEPTH terms of TILE lines (rows of a, or columns of b) from (line0, k0) on. Beyond the
// matrix come zeros, which add nothing to a sum.
__device__ void stage(float (*slab)[TILE + 1], const float *matrix, int line0, int lines, int k0,
                      int depth, size_t lineStride, size_t kStride) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += SIDE * SIDE) {
        // Neighbouring threads read neighbouring addresses, whichever way the matrix is stored.
        const int line = kStride == 1 ? i / DEPTH : i % TILE;
        const int k = kStride == 1 ? i % DEPTH : i / TILE;
        const bool inside = line0 + line < lines && k0 + k < depth;
        slab[k][line] = inside ? matrix[(line0 + line) * lineStride + (k0 + k) * kStride] : 0.0f;
    }
}

// turned says that b is stored transposed, as k is for q * k^T.
extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
    gemm(const float *a, const float *b, float *c, int M, int N, int K, int turned) {
    constexpr int PER = TILE / SIDE;
    __shared__ float aSlab[DEPTH][TILE + 1], bSlab[DEPTH][TILE + 1]; // one more: other banks
    const int threadRow = threadIdx.x / SIDE, threadColumn = threadIdx.x % SIDE;
    const int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
    const size_t batch = blockIdx.z;
    a += batch * M * K, b += batch * N * K, c += batch * M * N;
    float sum[PER][PER] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        // 1. Stage the slabs.
        stage(aSlab, a, row0, M, k0, K, K, 1);
        if (turned) stage(bSlab, b, column0, N, k0, K, K, 1);
        if (!turned) stage(bSlab, b, column0, N, k0, K, 1, N);
        __syncthreads(); // the slabs are complete before anyone reads them
        // 2. Add DEPTH terms to each sum. A thread's results lie SIDE apart: so neighbouring
        //    threads read neighbouring columns.
        EACH(k, DEPTH) {
            float fromA[PER], fromB[PER];
            EACH(i, PER) fromA[i] = aSlab[k][threadRow + i * SIDE];
            EACH(j, PER) fromB[j] = bSlab[k][threadColumn + j * SIDE];
            EACH(i, PER) EACH(j, PER) sum[i][j] += fromA[i] * fromB[j];
        }
        __syncthreads(); // all have read the slabs before the next overwrites them
    }
    // 3. Write the results that lie within c.
    EACH(i, PER) EACH(j, PER) {
        const int row = row0 + threadRow + i * SIDE, column = column0 + threadColumn + j * SIDE;
        if (row < M && column < N) c[(size_t)row * N + column] = sum[i][j];
    }
}

// ---- products, large -----------------------------------------------------------
// Tensor cores multiply halves, of 11 bits. float32 has 24, so a number is cut into two,
// x = high + low, of 22 bits, and a product takes three:
//     a * b = aHigh * bHigh + aHigh * bLow + aLow * bHigh      (aLow * bLow is 2^-22 of it)
// Halves have few exponents, too. So each line (row of a, column of b) has a scale, a power of two
// that brings its largest number to 2^14 ... 2^15: numbers down to 2^-18 of that keep 22 bits.
// First b is transposed, if it is not, so that a line lies together; then a and b are cut. Of each
// SLAB numbers of a line come the high halves, then the low ones: LINE bytes, as much as the floats
// took. Zeros fill up the last slab and the last square.

// turned [lines, depth] of b [depth, lines], by squares of 32 x 32; z is the batch.
extern "C" __global__ void transpose(const float *b, float *turned, int depth, int lines) {
    __shared__ float square[32][32 + 1]; // one more: columns are read without conflicts
    const int line0 = blockIdx.x * 32, k0 = blockIdx.y * 32;
    b += (size_t)blockIdx.z * depth * lines, turned += (size_t)blockIdx.z * depth * lines;
    for (int k = WARP; k < 32; k += THREADS_SPLIT / 32)
        if (k0 + k < depth && line0 + LANE < lines)
            square[k][LANE] = b[(size_t)(k0 + k) * lines + line0 + LANE];
    __syncthreads(); // the square is complete before it is read the other way
    for (int l = WARP; l < 32; l += THREADS_SPLIT / 32)
        if (line0 + l < lines && k0 + LANE < depth)
            turned[(size_t)(line0 + l) * depth + k0 + LANE] = square[LANE][l];
}

// Two to the n-th, or 2^-126 if that is more: nothing here needs a smaller one.
__device__ float powerOfTwo(int n) {
    return __int_as_float(max(n + 127, 1) << 23);
}

// The n of the scale 2^n for numbers of which the largest is most; of zeros, the largest possible.
__device__ int scaleFor(float most) {
    return min(14 + 127 - (int)(__float_as_uint(most) >> 23), 126);
}

// Cuts two numbers in two halves each. The high halves, rounded to the nearest, share a register.
// The low ones are what is left when those are subtracted: that difference is exact.
__device__ void cut(float x, float y, unsigned &high, unsigned &low) {
    const __half2 h = __floats2half2_rn(x, y);
    const float2 rounded = __half22float2(h);
    const __half2 l = __floats2half2_rn(x - rounded.x, y - rounded.y);
    high = *(unsigned *)&h, low = *(unsigned *)&l;
}

// Four neighbours from k on, with zeros beyond the end. wide: 16 bytes may be read at once.
__device__ float4 four(const float *line, int k, int end, int wide) {
    if (wide && k < end) return *(const float4 *)(line + k);
    return make_float4(k < end ? line[k] : 0.0f, k + 1 < end ? line[k + 1] : 0.0f,
                       k + 2 < end ? line[k + 2] : 0.0f, k + 3 < end ? line[k + 3] : 0.0f);
}

// Cuts x [lines, depth] into halves [padded][slabs * SLAB floats]; back [padded] undoes the lines'
// scales. A warp has a line, and reads it twice; y is the batch.
extern "C" __global__ void __launch_bounds__(THREADS_SPLIT)
    split(const float *x, float *halves, float *back, int lines, int padded, int depth, int wide) {
    const int line = blockIdx.x * (THREADS_SPLIT / 32) + WARP;
    if (line >= padded) return; // the whole warp
    const int whole = (depth + SLAB - 1) / SLAB * SLAB, end = line < lines ? depth : 0;
    const size_t at = (size_t)blockIdx.y * padded + line;
    x += ((size_t)blockIdx.y * lines + line) * depth;

    // 1. The largest number. fmaxf passes over NaN, which stays NaN all the same.
    float most = 0.0f;
#pragma unroll 4
    for (int k = LANE * 4; k < end; k += 32 * 4) {
        const float4 v = four(x, k, end, wide);
        most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
    most = __uint_as_float(__reduce_max_sync(EVERYONE, __float_as_uint(most))); // same order
    const int n = scaleFor(most);
    if (LANE == 0) back[at] = powerOfTwo(-n);
    // 2. The halves: four numbers give 8 bytes of high ones, and 8 of low ones.
    const float scale = powerOfTwo(n);
#pragma unroll 4
    for (int k = LANE * 4; k < whole; k += 32 * 4) {
        const float4 v = four(x, k, end, wide);
        uint2 high, low;
        cut(v.x * scale, v.y * scale, high.x, low.x);
        cut(v.z * scale, v.w * scale, high.y, low.y);
        float *to = halves + at * whole + k / SLAB * SLAB + k % SLAB / 2;
        *(uint2 *)to = high, *(uint2 *)(to + SLAB / 2) = low;
    }
}

// What a lane has of a [16 x 16], as tensor cores multiply it: of four squares of 8 x 8.
struct Fragment {
    unsigned high[4], low[4];
};

// c [M, N] of the halves of a and b. A block has SQUARE x SQUARE results, each of its 2 x 2 warps
// 64 x 64, as 4 x 8 fragments of 16 x 8. y is the batch.
extern "C" __global__ void __launch_bounds__(THREADS_PIECES, 2)
    gemm_pieces(const float *a, const float *b, const float *aBack, const float *bBack, float *c,
                int M, int N, int slabs) {
    extern __shared__ __align__(128) unsigned char staged[]; // [STAGES][2 * SQUARE][LINE]
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
    a += (batch * down * SQUARE + row0 + line) * pitch + chunk * 4;
    b += (batch * across * SQUARE + column0 + line) * pitch + chunk * 4;
    unsigned char *to = staged + line * LINE + (chunk ^ line % 8) * 16;
    auto copy = [&](int slab) {
        unsigned char *at = to + slab % STAGES * 2 * SQUARE * LINE;
        for (int l = 0; slab < slabs && l < SQUARE; l += THREADS_PIECES / 8) {
            __pipeline_memcpy_async(at + l * LINE, a + l * pitch + slab * SLAB, 16);
            __pipeline_memcpy_async(at + (SQUARE + l) * LINE, b + l * pitch + slab * SLAB, 16);
        }
        __pipeline_commit(); // without copies at the end: groups are counted
    };
    // Where the line begins that this lane names to load_matrix: of a, four squares of 8 x 8 down,
    // then right; of b the other way round.
    const int row = WARP / 2 * 64, column = WARP % 2 * 64, swap = LANE % 8; // of the warp
    const int aAt = (row + LANE % 16) * LINE + (LANE / 16 ^ swap) * 16;
    const int bAt = (SQUARE + column + LANE / 16 * 8 + swap) * LINE + (LANE / 8 % 2 ^ swap) * 16;

    float sum[4][8][4] = {};
    EACH(slab, STAGES - 1) copy(slab);
    for (int slab = 0; slab < slabs; slab++) {
        // 1. Wait for the slab, and ask for the one that takes the place of the last.
        __pipeline_wait_prior(STAGES - 2); // what this thread copied is there
        __syncthreads(); // what all copied is; and all have done with the slab before
        copy(slab + STAGES - 1);
        const unsigned char *now = staged + slab % STAGES * 2 * SQUARE * LINE;
        // 2. Multiply, 16 terms (32 bytes) at a time. Tensor cores cut off what does not fit into
        //    a sum instead of rounding it, and over many steps that adds up. So each of their
        //    sums begins at zero, and ordinary additions, which round, put them together.
#pragma unroll 1
        for (int k = 0; k < 64; k += 32) {
            Fragment x[4], y;
            EACH(i, 4) {
                load_matrix(x[i].high, now + (aAt ^ k) + i * 16 * LINE);
                load_matrix(x[i].low, now + (aAt ^ k ^ 64) + i * 16 * LINE);
            }
#pragma unroll
            EACH(j, 8) { // fragments of columns, two of them in y
                const int f = j % 2 * 2;
                if (f == 0) load_matrix(y.high, now + (bAt ^ k) + j * 8 * LINE);
                if (f == 0) load_matrix(y.low, now + (bAt ^ k ^ 64) + j * 8 * LINE);
                float part[4][4] = {};
                EACH(i, 4) mma_f16(part[i], x[i].low, y.high[f], y.high[f + 1]);
                EACH(i, 4) mma_f16(part[i], x[i].high, y.low[f], y.low[f + 1]);
                EACH(i, 4) mma_f16(part[i], x[i].high, y.high[f], y.high[f + 1]);
                EACH(i, 4) EACH(e, 4) sum[i][j][e] += part[i][e];
            }
        }
    }
    // 3. Undo the scales, the smaller first, for both together may be beyond float; and write,
    //    two neighbours at once where c allows.
    const bool pairs = N % 2 == 0 && (size_t)c % 8 == 0;
#pragma unroll
    EACH(j, 8) EACH(i, 8) {
        const int r = row0 + row + i * 8 + LANE / 4, x = column0 + column + j * 8 + LANE % 4 * 2;
        if (r >= M || x >= N) continue;
        float *at = c + (batch * M + r) * N + x, *v = &sum[i / 2][j][i % 2 * 2];
        EACH(e, 2) v[e] = v[e] * fminf(aBack[r], bBack[x + e]) * fmaxf(aBack[r], bBack[x + e]);
        if (pairs) *(float2 *)at = make_float2(v[0], v[1]);
        if (!pairs) at[0] = v[0];
        if (!pairs && x + 1 < N) at[1] = v[1];
    }
}
