// A linear layer in halves for many rows, as in a prompt: y = x * w^T on tensor cores, sums in
// float32.
//
//   x [rows, in]     w [width, in]     y [rows, width]
//
// A block has a tile of y. Slices of x and w, SLICE numbers of their lines, arrive by cp.async in
// STAGES stages; ldmatrix reads them as fragments, and mma.sync multiplies those.
//
// in is a multiple of 8: lines then start at multiples of 16 bytes.

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <early.h>
#include <tensorcore.h>

constexpr int SLICE = 64, STAGES = 3;
constexpr int PIECES = SLICE / 8, LINE = SLICE * 2; // of a line of a stage: of 16 bytes; bytes
constexpr int GROUP = 8;                            // lines of tiles that share their reads of w

// The block's tile. The order goes down a group of GROUP lines of tiles, then along it.
__device__ int2 tileOf(int block, int lines, int columns) {
    const int first = block / (GROUP * columns) * GROUP;
    const int height = min(GROUP, lines - first);
    const int within = block - first * columns;
    return make_int2(first + within % height, within / height);
}

// A line's pieces change places, by the line's last three bits: eight lines of one column of
// pieces, as load_matrix reads them, are then in different banks.
__device__ int place(int line, int piece) {
    return line * LINE + (piece ^ line % 8) * 16;
}

// A block's warps are DOWN x ACROSS, and each has 16 * TALL rows and 32 columns.
template <int TALL, int DOWN, int ACROSS>
__device__ void multiply(const __half *x, const __half *w, __half *y, int rows, int in, int width) {
    constexpr int ROWS = 16 * TALL * DOWN, COLUMNS = 32 * ACROSS, THREADS = 32 * DOWN * ACROSS;
    constexpr int STAGE = (ROWS + COLUMNS) * LINE, STRIDE = THREADS / PIECES;
    static_assert(STRIDE % 8 == 0 && ROWS % STRIDE == 0 && COLUMNS % STRIDE == 0,
                  "lines are shared out evenly");
    extern __shared__ __align__(128) unsigned char shared[]; // [STAGES][ROWS + COLUMNS][LINE]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int2 tile = tileOf(blockIdx.x, (rows + ROWS - 1) / ROWS, (width + COLUMNS - 1) / COLUMNS);
    const int row0 = tile.x * ROWS, column0 = tile.y * COLUMNS;
    const int down = warp / ACROSS * 16 * TALL, across = warp % ACROSS * 32;
    const int slices = (in + SLICE - 1) / SLICE;

    // A thread copies one piece of every STRIDE-th line; zeros for what is not there.
    const auto copy = [&](unsigned char *to, const __half *from, int line, int lines, int k) {
        if (line < lines && k < in)
            __pipeline_memcpy_async(to, from + (size_t)line * in + k, 16);
        else
            *(uint4 *)to = make_uint4(0, 0, 0, 0);
    };
    const int line = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
    const auto ask = [&](int slice) {
        unsigned char *to = shared + slice % STAGES * STAGE + place(line, piece);
        const int k = slice * SLICE + piece * 8;
        if (slice < slices) {
#pragma unroll
            for (int i = 0; i < ROWS; i += STRIDE) copy(to + i * LINE, x, row0 + line + i, rows, k);
#pragma unroll
            for (int i = 0; i < COLUMNS; i += STRIDE)
                copy(to + (ROWS + i) * LINE, w, column0 + line + i, width, k);
        }
        __pipeline_commit(); // an empty one counts as well
    };

    // The line whose address this lane gives to load_matrix. For x: two 8 x 8 squares, one below
    // the other, then the two to their right. For w it is the other way round.
    const int xAt = place(down + lane % 16, lane / 16);
    const int wAt = place(ROWS + across + lane / 16 * 8 + lane % 8, lane / 8 % 2);

    waitForInputs();
    float sums[TALL][4][4] = {};
    for (int i = 0; i < STAGES - 1; i++) ask(i);
    for (int slice = 0; slice < slices; slice++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); // the slice has arrived, and every warp is done with the one before
        ask(slice + STAGES - 1);
        const unsigned char *stage = shared + slice % STAGES * STAGE;
#pragma unroll
        for (int i = 0; i < SLICE / 16; i++) {
            unsigned a[TALL][4], b[2][4];
#pragma unroll
            for (int t = 0; t < TALL; t++)
                load_matrix(a[t], stage + (xAt ^ i * 32) + t * 16 * LINE);
#pragma unroll
            for (int j = 0; j < 2; j++) load_matrix(b[j], stage + (wAt ^ i * 32) + j * 16 * LINE);
#pragma unroll
            for (int t = 0; t < TALL; t++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    mma_f16(sums[t][j], a[t], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }

    // Of a fragment of sums a lane holds [lane / 4 + 8 * h][lane % 4 * 2 + c] as number 2 * h + c.
#pragma unroll
    for (int t = 0; t < TALL; t++)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int j = i / 2, h = i % 2;
            const int row = row0 + down + t * 16 + lane / 4 + 8 * h;
            const int column = column0 + across + 8 * j + lane % 4 * 2;
            if (row >= rows || column >= width) continue;
            __half *at = y + (size_t)row * width + column;
            const float first = sums[t][j][2 * h], second = sums[t][j][2 * h + 1];
            if (width % 2 == 0) {
                *(__half2 *)at = __floats2half2_rn(first, second);
                continue;
            }
            at[0] = __float2half_rn(first);
            if (column + 1 < width) at[1] = __float2half_rn(second);
        }
}

#define PRODUCT(NAME, TALL, DOWN, ACROSS)                                                          \
    extern "C" __global__ __launch_bounds__(32 * DOWN * ACROSS) void NAME(                         \
        const __half *x, const __half *w, __half *y, int rows, int in, int width) {                \
        multiply<TALL, DOWN, ACROSS>(x, w, y, rows, in, width);                                    \
    }
PRODUCT(product_64, 2, 2, 2)
PRODUCT(product_128, 4, 2, 4)
