// Weights of four bits, which codes.cuh describes and reads. One is, but for its block's scale, one
// of sixteen numbers. Halves hold these, so tensor cores multiply them, and a block's sum of
// products, in float32, is multiplied by its scale.

#include "codes.cuh"
#include <tensorcore.h>

constexpr int CHUNK = 64; // numbers of a row that a warp multiplies at a time

// The table: for every byte its two numbers as halves, once for each lane, so that lanes
// with different bytes never meet in a bank.
__device__ void fillPairs(unsigned *pairs) {
    for (int i = threadIdx.x; i < 256 * 32; i += blockDim.x) {
        const __half2 two = __floats2half2_rn(number(codeOf(i / 32, 0)), number(codeOf(i / 32, 1)));
        pairs[i] = *reinterpret_cast<const unsigned *>(&two);
    }
}

// sums [16 * TALL, 8 * WIDE] += scales * (numbers * x), for a chunk of the rows from first on. x
// gives eight halves of a row of x, for the first or the second half of the chunk.
template <int TALL, int WIDE, class X>
__device__ void multiply(float (&sums)[TALL][WIDE][4], const unsigned char *codes,
                         const Scale *scales, int first, int outputs, int hidden, int chunk,
                         const unsigned *pairs, int lane, X x) {
#pragma unroll
    for (int part = 0; part < 2; part++) { // of the chunk: numbers that share a scale
        unsigned a[TALL][2][4];
        float scale[TALL][2];
#pragma unroll
        for (int tall = 0; tall < TALL; tall++) {
#pragma unroll
            for (int half = 0; half < 2; half++) { // rows g and g + 8
                const int row = min(first + 16 * tall + 8 * half + lane / 4, outputs - 1);
                const size_t at = (size_t)row * hidden + chunk * CHUNK + part * CHUNK / 2;
                const unsigned word = reinterpret_cast<const unsigned *>(codes)[at / 8 + lane % 4];
                scale[tall][half] = scaleOf(scales[at / BLOCK]);
#pragma unroll
                for (int byte = 0; byte < 4; byte++)
                    a[tall][byte / 2][byte % 2 * 2 + half] =
                        pairs[(word >> 8 * byte & 255) * 32 + lane];
            }
        }
#pragma unroll
        for (int wide = 0; wide < WIDE; wide++) {
            const uint4 b = x(wide, part);
#pragma unroll
            for (int tall = 0; tall < TALL; tall++) {
                float sum[4] = {};
                mma_f16(sum, a[tall][0], b.x, b.y);
                mma_f16(sum, a[tall][1], b.z, b.w);
#pragma unroll
                for (int i = 0; i < 4; i++) // sum i is of row g, or, from 2 on, of row g + 8
                    sums[tall][wide][i] += scale[tall][i / 2] * sum[i];
            }
        }
    }
}

// A block has 8 * WIDE rows of x and 16 * TALL outputs. Its warps share out the numbers that these
// sum over, and add their sums at the end.
constexpr int WARPS = 8;

template <int TALL, int WIDE>
__device__ void project(const __half *x, const unsigned char *codes, const Scale *scales,
                        const __half *bias, const Places &places, int rows, int hidden,
                        int outputs) {
    constexpr int HEIGHT = 16 * TALL, SHARE = 32 * TALL * WIDE; // of a warp's sums, by fours
    extern __shared__ __align__(16) unsigned char memory[];
    unsigned *pairs = reinterpret_cast<unsigned *>(memory);
    float4 *shares = reinterpret_cast<float4 *>(memory + 256 * 32 * 4);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = blockIdx.x * HEIGHT, firstRow = blockIdx.y * 8 * WIDE;
    fillPairs(pairs);
    __syncthreads(); // every thread sees the whole table

    const __half *from[WIDE]; // rows of x; those that are not there are read as the last one
#pragma unroll
    for (int wide = 0; wide < WIDE; wide++)
        from[wide] =
            x + (size_t)min(firstRow + 8 * wide + lane / 4, rows - 1) * hidden + lane % 4 * 8;
    float sums[TALL][WIDE][4] = {};
    for (int chunk = warp; chunk < hidden / CHUNK; chunk += WARPS)
        multiply(sums, codes, scales, first, outputs, hidden, chunk, pairs, lane,
                 [&](int wide, int part) {
                     return *reinterpret_cast<const uint4 *>(from[wide] + chunk * CHUNK +
                                                             part * CHUNK / 2);
                 });

#pragma unroll
    for (int i = 0; i < TALL * WIDE; i++) {
        const float(&s)[4] = sums[i / WIDE][i % WIDE];
        shares[warp * SHARE + i * 32 + lane] = make_float4(s[0], s[1], s[2], s[3]);
    }
    __syncthreads(); // every warp's share is there
    for (int i = threadIdx.x; i < 4 * SHARE; i += WARPS * 32) {
        const int tile = i / 128, owner = i / 4 % 32, c = i % 4; // as the lane had it
        const int output = first + tile / WIDE * 16 + owner / 4 + c / 2 * 8;
        const int row = firstRow + tile % WIDE * 8 + owner % 4 * 2 + c % 2;
        if (row >= rows || output >= outputs) continue;
        float sum = __half2float(bias[output]);
        for (int w = 0; w < WARPS; w++) sum += reinterpret_cast<float *>(shares + w * SHARE)[i];
        places.put(row, output, sum);
    }
}

#define PROJECT(NAME, TALL, WIDE)                                                                  \
    extern "C" __global__ __launch_bounds__(WARPS * 32) void NAME(                                 \
        const __half *x, const unsigned char *codes, const Scale *scales, const __half *bias,      \
        __half *q, __half *k, __half *v, int rows, int hidden, int outputs, int seq, int heads,    \
        int kvHeads, int dim) {                                                                    \
        project<TALL, WIDE>(x, codes, scales, bias, {q, k, v, seq, heads, kvHeads, dim}, rows,     \
                            hidden, outputs);                                                      \
    }
PROJECT(project8, 1, 1)
PROJECT(project64, 2, 8)
