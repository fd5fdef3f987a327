// A linear layer in halves for up to 16 rows, as in a decoding step: y = x * w^T, sums in float32.
//
//   x [rows, in]     w [width, in]     y [rows, width], of halves, or of floats as a head's logits
//
// Every weight is read once and used for all rows, so the time is the time it takes to read w.
// Tensor cores multiply 16 outputs by eight rows of x. Which numbers along `in` make a column of
// their operands is free, for a sum has no order: a lane takes 16 bytes of a line as they lie, of
// w and of x alike, and nothing needs to be moved.
//
// A block has TILES * 16 outputs, and its warps share out `in`: pieces of 64 numbers in turn, SPAN
// of them at a time. The next ones, of w and of x, are asked for when the last have arrived.
// Earlier would not help, for whoever waits for one load of a loop waits for all. What the warps
// have found is added in their order, so the same numbers give the same sum.
//
// in is a multiple of 8: lines then start at multiples of 16 bytes.

#include <cuda_fp16.h>
#include <early.h>
#include <tensorcore.h>

constexpr int WARPS = 8, TALL = 16; // warps of a block, outputs of a tile
constexpr int PIECE = 64;           // numbers of a line that a warp takes at a time

__device__ void put(__half *y, float x) {
    *y = __float2half_rn(x);
}
__device__ void put(float *y, float x) {
    *y = x;
}

// Lane 4g + t has outputs g and g + 8 of each tile, and row g of every eight; of a piece it has the
// numbers from 8t on, and from 32 + 8t on.
template <int TILES, int WIDE, int SPAN, class Out>
__device__ __forceinline__ void multiply(const __half *x, const __half *w, Out *y, int rows, int in,
                                         int width) {
    constexpr int OUTPUTS = TILES * TALL, ROWS = 8 * WIDE;
    __shared__ float shares[WARPS][ROWS][OUTPUTS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int first = blockIdx.x * OUTPUTS, row0 = blockIdx.y * ROWS;
    const int pieces = (in + PIECE - 1) / PIECE;

    // 1. The first weights. Behind a line's end are zeros, of w and of x. Outputs and rows behind
    //    the last one repeat it, and are not written.
    const __half *lines[2 * TILES];
#pragma unroll
    for (int i = 0; i < 2 * TILES; i++)
        lines[i] = w + (size_t)min(first + g + 8 * i, width - 1) * in;
    struct Set { // of SPAN pieces
        uint4 w[SPAN][2 * TILES][2], x[SPAN][WIDE][2];
    } one, other;
    const auto askWeights = [&](Set &to, int turn) {
#pragma unroll
        for (int a = 0; a < 2 * SPAN; a++) {
            const int k = (turn + a / 2 * WARPS) * PIECE + a % 2 * 32 + t * 8;
#pragma unroll
            for (int i = 0; i < 2 * TILES; i++) {
                to.w[a / 2][i][a % 2] = make_uint4(0, 0, 0, 0);
                if (k < in) to.w[a / 2][i][a % 2] = __ldcs((const uint4 *)(lines[i] + k));
            }
        }
    };
    const __half *from[WIDE];
#pragma unroll
    for (int i = 0; i < WIDE; i++) from[i] = x + (size_t)min(row0 + 8 * i + g, rows - 1) * in;
    const auto askX = [&](Set &to, int turn) {
#pragma unroll
        for (int a = 0; a < 2 * SPAN; a++) {
            const int k = (turn + a / 2 * WARPS) * PIECE + a % 2 * 32 + t * 8;
#pragma unroll
            for (int i = 0; i < WIDE; i++) {
                to.x[a / 2][i][a % 2] = make_uint4(0, 0, 0, 0);
                if (k < in) to.x[a / 2][i][a % 2] = *(const uint4 *)(from[i] + k);
            }
        }
    };
    askWeights(one, warp);
    waitForInputs(); // no kernel writes weights
    askX(one, warp);

    // 2. Products. Sum c of a lane is of row 2t + c % 2 of eight, and of output g, or, from 2 on,
    //    g + 8.
    float sums[TILES][WIDE][4] = {};
    const auto step = [&](const Set &now, Set &next, int then) {
#pragma unroll
        for (int a = 0; a < 2 * SPAN; a++)
#pragma unroll
            for (int i = 0; i < TILES * WIDE; i++) {
                const int tile = i / WIDE, j = i % WIDE, p = a / 2, h = a % 2;
                const uint4 low = now.w[p][2 * tile][h], high = now.w[p][2 * tile + 1][h];
                const uint4 b = now.x[p][j][h];
                mma_f16(sums[tile][j], {low.x, high.x, low.y, high.y}, b.x, b.y);
                if (a == 0 && i == 0 && then < pieces) // all that is there now has been waited for
                    askX(next, then), askWeights(next, then);
                mma_f16(sums[tile][j], {low.z, high.z, low.w, high.w}, b.z, b.w);
            }
    };
    for (int turn = warp; turn < pieces; turn += 2 * SPAN * WARPS) {
        step(one, other, turn + SPAN * WARPS);
        if (turn + SPAN * WARPS < pieces) step(other, one, turn + 2 * SPAN * WARPS);
    }

    // 3. The warps' shares. Neighbouring threads write neighbouring outputs.
#pragma unroll
    for (int i = 0; i < TILES * WIDE * 4; i++) {
        const int tile = i / WIDE / 4, j = i / 4 % WIDE, c = i % 4;
        shares[warp][8 * j + 2 * t + c % 2][tile * TALL + g + c / 2 * 8] = sums[tile][j][c];
    }
    __syncthreads(); // every share is there
    for (int i = threadIdx.x; i < ROWS * OUTPUTS; i += WARPS * 32) {
        const int row = row0 + i / OUTPUTS, output = first + i % OUTPUTS;
        if (row >= rows || output >= width) continue;
        float sum = 0;
        for (int s = 0; s < WARPS; s++) sum += shares[s][i / OUTPUTS][i % OUTPUTS];
        put(y + (size_t)row * width + output, sum);
    }
}

#define LINEAR(NAME, TILES, WIDE, SPAN, OUT)                                                       \
    extern "C" __global__ __launch_bounds__(WARPS * 32, 2) void NAME(                              \
        const __half *x, const __half *w, OUT *y, int rows, int in, int width) {                   \
        multiply<TILES, WIDE, SPAN>(x, w, y, rows, in, width);                                     \
    }
LINEAR(linear_8, 1, 1, 2, __half) // for few outputs: two blocks for each processor
LINEAR(linear_8_many, 1, 1, 1, __half)
LINEAR(linear_16, 1, 2, 1, __half)
LINEAR(linear_16_many, 2, 2, 1, __half)
LINEAR(logits_8, 2, 1, 1, float)
LINEAR(logits_16, 2, 2, 1, float)
