// A linear layer for many rows on tensor cores: out = x * w^T + bias, as exact as in
// float32, from the halves that pieces.cu makes.
//
// x = xHigh + xLow and w = wHigh + wLow, so x * w is xHigh * wHigh + xHigh * wLow +
// xLow * wHigh + xLow * wLow. The last term is only 2^-22 of the whole and is left out.
// That leaves three products at the rate of halves, which is some ten times float32's.
//
// The tensor cores sum in float32, but they cut off what does not fit, where ordinary
// addition rounds. Over many steps these errors all point one way, towards zero. So they
// sum 16 terms at a time, starting from zero, and ordinary additions do the rest.
//
// A block computes TILE x TILE results with 2 x 2 warps, and each warp computes ROWS x 16
// by COLUMNS x 8 of them. The block walks along `in` in slabs of SLAB numbers. STAGES
// slabs are in shared memory or on their way there.

#include "tensorcore.h"
#include <cuda_pipeline.h>

// defines.go defines BLOCK, the threads of a block, SLAB, the numbers of a slab, and what
// happens to x * w^T + bias: GELU, or ADD, which adds it to what is already in out.
// product.go repeats STAGES and the tile sizes.

#define WARP 32
#define LINE 128 // bytes of a line in a slab: eight pieces of 16, high halves first
#define GROUP 16 // lines of tiles that share their reads of w
// Unrolled, by nvcc itself or by a pragma: then what i indexes can be in registers.
#define EACH(i, n) for (int i = 0; i < (n); i++)

// What a lane has of a [16 x 16], as tensor cores multiply it: of four squares of 8 x 8.
struct Fragment {
    unsigned high[4], low[4];
};

__device__ float finish(float value, const float *out, int then) {
    if (then == ADD) return *out + value;
    if (then != GELU) return value;
    const float u = 0.7978845608028654f * (value + 0.044715f * value * value * value);
    return value / (1.0f + expf(-2.0f * u)); // as in elementwise.cu
}

// The block's tile. The order goes down a group of GROUP lines of tiles, then along it.
__device__ int2 tileOf(int block, int lines, int columns) {
    const int first = block / (GROUP * columns) * GROUP;
    const int height = min(GROUP, lines - first);
    const int within = block - first * columns;
    return make_int2(first + within % height, within / height);
}

template <int ROWS, int COLUMNS, int STAGES>
__device__ void multiply(const float *x, const float *w, const float *xBack, const float *wBack,
                         const float *bias, float *out, int rows, int width, int slabs, int slab0,
                         int slabEnd, int then, int wide) {
    constexpr int TILE = 32 * ROWS;
    static_assert(TILE == 16 * COLUMNS, "tiles are square");
    constexpr int LINES = 2 * TILE;  // of a slab: of x, then of w
    constexpr int APART = BLOCK / 8; // 8 threads copy a line
    constexpr int COPIES = LINES / APART;
    constexpr int UNROLL = ROWS > 2 ? 1 : 2; // larger tiles have no registers to spare
    extern __shared__ __align__(128) unsigned char shared[]; // [STAGES][LINES][LINE]

    const int columns = (width + TILE - 1) / TILE;
    const int2 tile = tileOf(blockIdx.x, (rows + TILE - 1) / TILE, columns);
    const int row0 = tile.x * TILE, column0 = tile.y * TILE;
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int warpRow = warp / 2 * ROWS * 16, warpColumn = warp % 2 * COLUMNS * 8;

    // The order of a line's pieces depends on the line (^ line % 8). load_matrix reads
    // the same piece of eight lines at once, and this order puts those eight in different
    // banks.
    const int line = threadIdx.x / 8, piece = threadIdx.x % 8;
    const size_t pitch = (size_t)slabs * SLAB;
    const float *xFrom = x + (row0 + line) * pitch + piece * 4;
    const float *wFrom = w + (column0 + line) * pitch + piece * 4;
    unsigned char *to = shared + line * LINE + (piece ^ line % 8) * 16;
    auto copy = [&](int slab) {
        unsigned char *stage = to + slab % STAGES * LINES * LINE;
        if (slab < slabEnd) {
#pragma unroll
            for (int i = 0; i < COPIES / 2; i++) {
                const size_t from = i * APART * pitch + slab * SLAB;
                __pipeline_memcpy_async(stage + i * APART * LINE, xFrom + from, 16);
                __pipeline_memcpy_async(stage + (TILE + i * APART) * LINE, wFrom + from, 16);
            }
        }
        __pipeline_commit(); // empty at the end, but it keeps the count of groups going
    };
    // The line whose address this lane gives to load_matrix. For x: two 8 x 8 squares, one
    // below the other, then the two to their right. For w it is the other way round.
    const int xAt = (warpRow + lane % 16) * LINE + (lane / 16 ^ lane % 8) * 16;
    const int wAt =
        (TILE + warpColumn + lane / 16 * 8 + lane % 8) * LINE + (lane / 8 % 2 ^ lane % 8) * 16;

    for (int s = 0; s < STAGES - 1; s++) copy(slab0 + s);
    float sum[ROWS][COLUMNS][4] = {};
    for (int slab = slab0; slab < slabEnd; slab++) {
        __pipeline_wait_prior(STAGES - 2); // this thread's copies of the slab have arrived
        __syncthreads();         // so have all threads'; and all have finished the previous slab
        copy(slab + STAGES - 1); // in place of the previous one
        const unsigned char *now = shared + slab % STAGES * LINES * LINE;
#pragma unroll UNROLL
        for (int half = 0; half < 64; half += 32) { // 16 terms are 32 bytes
            Fragment a[ROWS], b;
            EACH(i, ROWS) {
                load_matrix(a[i].high, now + (xAt ^ half) + i * 16 * LINE);
                load_matrix(a[i].low, now + (xAt ^ half ^ 64) + i * 16 * LINE);
            }
#pragma unroll
            EACH(j, COLUMNS) { // 8 columns each; two of them are in b
                const int f = j % 2 * 2;
                if (f == 0) load_matrix(b.high, now + (wAt ^ half) + j * 8 * LINE);
                if (f == 0) load_matrix(b.low, now + (wAt ^ half ^ 64) + j * 8 * LINE);
                // The small products first. ROWS sums run side by side.
                float part[ROWS][4] = {};
                EACH(i, ROWS) mma_f16(part[i], a[i].low, b.high[f], b.high[f + 1]);
                EACH(i, ROWS) mma_f16(part[i], a[i].high, b.low[f], b.low[f + 1]);
                EACH(i, ROWS) mma_f16(part[i], a[i].high, b.high[f], b.high[f + 1]);
                EACH(i, ROWS) EACH(e, 4) sum[i][j][e] += part[i][e];
            }
        }
    }

    // Write what is within out, two columns at a time where alignment allows. Multiply by
    // the smaller factor first: the product of both might not fit in a float.
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        const int column = column0 + warpColumn + j * 8 + lane % 4 * 2;
        if (column >= width) continue;
        const bool two = column + 1 < width;
        const float back0 = wBack[column], back1 = wBack[column + 1]; // or a line of padding
        const float add0 = bias ? bias[column] : 0.0f, add1 = bias && two ? bias[column + 1] : 0.0f;
#pragma unroll
        for (int i = 0; i < 2 * ROWS; i++) {
            const int row = row0 + warpRow + i * 8 + lane / 4;
            if (row >= rows) continue;
            const float back = xBack[row];
            const float *s = &sum[i / 2][j][i % 2 * 2];
            float *at = out + (size_t)row * width + column;
            float2 v = make_float2(s[0] * fminf(back, back0) * fmaxf(back, back0) + add0,
                                   s[1] * fminf(back, back1) * fmaxf(back, back1) + add1);
            v.x = finish(v.x, at, then);
            if (two) v.y = finish(v.y, at + 1, then);
            if (wide) {
                *(float2 *)at = v;
                continue;
            }
            at[0] = v.x;
            if (two) at[1] = v.y;
        }
    }
}

// The block's share of the sums. Usually that is all of `in`. If there are too few tiles
// to fill the device, it is the slabs of split y of splits: these sums go to partial
// [3][splits][rows][width], and add_up adds them up. z says which of up to three layers of
// one input it is: w [3][padded][slabs * SLAB], wBack [3][padded].
template <int ROWS, int COLUMNS, int STAGES>
__device__ void layer(const float *x, const float *w, const float *xBack, const float *wBack,
                      const float *bias, float *out, float *partial, int rows, int width, int slabs,
                      int padded, int then, int wide) {
    const int splits = gridDim.y, split = blockIdx.y;
    const size_t part = blockIdx.z;
    const int slab0 = (int)((long long)slabs * split / splits);
    const int slabEnd = (int)((long long)slabs * (split + 1) / splits);
    if (splits > 1) {
        out = partial + (part * splits + split) * rows * width;
        bias = 0, then = 0;
    }
    multiply<ROWS, COLUMNS, STAGES>(x, w + part * padded * slabs * SLAB, xBack,
                                    wBack + part * padded, bias, out, rows, width, slabs, slab0,
                                    slabEnd, then, wide);
}

// Tiles of 128 x 128: each number that load_matrix reads is used in the most products.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    product_128(const float *x, const float *w, const float *xBack, const float *wBack,
                const float *bias0, const float *bias1, const float *bias2, float *out0,
                float *out1, float *out2, float *partial, int rows, int width, int slabs,
                int padded, int hasBias, int then, int wide) {
    const float *bias = blockIdx.z == 0 ? bias0 : blockIdx.z == 1 ? bias1 : bias2;
    float *out = blockIdx.z == 0 ? out0 : blockIdx.z == 1 ? out1 : out2;
    layer<4, 8, 3>(x, w, xBack, wBack, hasBias ? bias : 0, out, partial, rows, width, slabs, padded,
                   then, wide);
}

// Tiles of 64 x 64, for layers that have few of the larger ones.
extern "C" __global__ void __launch_bounds__(BLOCK, 3)
    product_64(const float *x, const float *w, const float *xBack, const float *wBack,
               const float *bias0, const float *bias1, const float *bias2, float *out0, float *out1,
               float *out2, float *partial, int rows, int width, int slabs, int padded, int hasBias,
               int then, int wide) {
    const float *bias = blockIdx.z == 0 ? bias0 : blockIdx.z == 1 ? bias1 : bias2;
    float *out = blockIdx.z == 0 ? out0 : blockIdx.z == 1 ? out1 : out2;
    layer<2, 4, 4>(x, w, xBack, wBack, hasBias ? bias : 0, out, partial, rows, width, slabs, padded,
                   then, wide);
}

// Adds up what the splits of product_… have computed, always in the same order, so that
// the same numbers give the same sum. A thread has one number of out [rows, width].
extern "C" __global__ void add_up(const float *partial, const float *bias0, const float *bias1,
                                  const float *bias2, float *out0, float *out1, float *out2,
                                  long long size, int width, int splits, int hasBias, int then) {
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= size) return;
    const float *bias = blockIdx.y == 0 ? bias0 : blockIdx.y == 1 ? bias1 : bias2;
    float *out = (blockIdx.y == 0 ? out0 : blockIdx.y == 1 ? out1 : out2) + at;
    float sum = 0.0f;
    for (int s = 0; s < splits; s++) sum += partial[(blockIdx.y * splits + s) * size + at];
    *out = finish(sum + (hasBias ? bias[at % width] : 0.0f), out, then);
}
