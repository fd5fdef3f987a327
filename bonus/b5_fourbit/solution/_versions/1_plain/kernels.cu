// Weights of four bits, which codes.cuh describes and reads, multiplied as plain numbers.

#include "codes.cuh"

// A warp has one output, for ROWS rows of x: it reads a row of weights 256 numbers at a time, of
// which each lane decodes eight, and multiplies them with as many of every row of x.
constexpr int WARPS = 4, ROWS = 8;

extern "C" __global__ void project(const __half *x, const unsigned char *codes, const Scale *scales,
                                   const __half *bias, __half *q, __half *k, __half *v, int rows,
                                   int hidden, int outputs, int seq, int heads, int kvHeads,
                                   int dim) {
    const int lane = threadIdx.x % 32, output = blockIdx.x * WARPS + threadIdx.x / 32;
    const int firstRow = blockIdx.y * ROWS;
    if (output >= outputs) return; // the whole warp
    const float mine = number(lane % 16);
    float sums[ROWS] = {};
    for (int first = 0; first < hidden; first += 256) {
        const int here = first + 8 * lane;
        const bool there = here < hidden; // if not, the lane still answers when others ask
        const size_t at = (size_t)output * hidden + here;
        const unsigned word = there ? *reinterpret_cast<const unsigned *>(codes + at / 2) : 0;
        const float scale = there ? scaleOf(scales[at / BLOCK]) : 0;
        float w[8];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int byte = word >> 8 * i & 255;
            w[2 * i] = scale * __shfl_sync(EVERYONE, mine, codeOf(byte, 0));
            w[2 * i + 1] = scale * __shfl_sync(EVERYONE, mine, codeOf(byte, 1));
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (!there || firstRow + r >= rows) continue;
            const uint4 eight =
                *reinterpret_cast<const uint4 *>(x + (size_t)(firstRow + r) * hidden + here);
            const __half2 *pairs = reinterpret_cast<const __half2 *>(&eight);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float2 two = __half22float2(pairs[i]);
                sums[r] += w[2 * i] * two.x;
                sums[r] += w[2 * i + 1] * two.y;
            }
        }
    }
    const Places places = {q, k, v, seq, heads, kvHeads, dim};
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int apart = 16; apart > 0; apart /= 2)
            sums[r] += __shfl_xor_sync(EVERYONE, sums[r], apart);
        if (lane == 0 && firstRow + r < rows)
            places.put(firstRow + r, output, sums[r] + __half2float(bias[output]));
    }
}
