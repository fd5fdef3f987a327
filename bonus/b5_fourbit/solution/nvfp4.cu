// Weights in NVFP4: E2M1 numbers in blocks of 16, each with a scale in E4M3, and one float32 for
// all of these. Read as they are (dequantise), or multiplied without ever being written (project):
// [q | k | v] = x [Wq | Wk | Wv] + bias.
//
//   codes   [outputs, hidden] of four bits           x     [rows, hidden] of halves
//   scales  [outputs, hidden / 16] of eight bits     bias  [outputs] of halves
//   tensor  one float32

#include <cuda_fp16.h>

constexpr int BLOCK = 16;
constexpr unsigned EVERYONE = 0xffffffff;

// E2M1: a sign, two bits of exponent, one of fraction.
__constant__ float numbers[16] = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                  -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

// E4M3: four bits of exponent, three of fraction, and no infinity. With the exponent 0 numbers are
// subnormal; 127 alone is NaN. A scale's sign is 0.
__device__ float scaleOf(unsigned char code) {
    const unsigned exponent = code >> 3 & 15, fraction = code & 7;
    if ((code & 127) == 127) return NAN;
    if (exponent == 0) return fraction * 0x1p-9f;
    return __uint_as_float(exponent + 127 - 7 << 23 | fraction << 20);
}

// out[i] = number * scale * tensor, for count numbers in rows; a row's first number begins a block.
// A thread has four. Number times scale is exact: six bits hold it. So only the last product
// rounds.
extern "C" __global__ void dequantise(const unsigned char *codes, const unsigned char *scales,
                                      const float *tensor, float *out, int count, int row) {
    const float mine = numbers[threadIdx.x % 16], all = *tensor;
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int blocks = (row + BLOCK - 1) / BLOCK; // of a row; the last one may be short
    unsigned word = 0;                            // behind the end all lanes still take part
    if (first + 4 <= count)
        word = reinterpret_cast<const unsigned short *>(codes)[first / 4];
    else
        for (int i = first; i < count; i += 2) word |= codes[i / 2] << 4 * (i - first);
    float x[4], scale = 0;
    for (int j = 0, last = -1; j < 4; j++) {
        const int i = first + j, block = i / row * blocks + i % row / BLOCK;
        x[j] = __shfl_sync(EVERYONE, mine, word >> 4 * j & 15);
        if (i < count && block != last) scale = scaleOf(scales[block]), last = block;
        x[j] = x[j] * scale * all;
    }
    if (first + 4 <= count)
        *reinterpret_cast<float4 *>(out + first) = make_float4(x[0], x[1], x[2], x[3]);
    else
        for (int j = 0; first + j < count; j++) out[first + j] = x[j];
}

// A warp has one output, for ROWS rows of x: it walks along a row of weights, eight numbers a lane,
// which are half a block. The tensor's scale is in every term, so the finished sum takes it once.
constexpr int WARPS = 4, ROWS = 8, EACH = 8;

extern "C" __global__ void project(const __half *x, const unsigned char *codes,
                                   const unsigned char *scales, const float *tensor,
                                   const __half *bias, __half *q, __half *k, __half *v, int rows,
                                   int hidden, int outputs, int seq, int heads, int kvHeads,
                                   int dim) {
    const int lane = threadIdx.x % 32, output = blockIdx.x * WARPS + threadIdx.x / 32;
    const int row0 = blockIdx.y * ROWS;
    if (output >= outputs) return; // the whole warp
    const float mine = numbers[lane % 16];
    float sums[ROWS] = {};
    for (int first = 0; first < hidden; first += 32 * EACH) {
        const int here = first + EACH * lane;
        const bool there = here < hidden; // if not, the lane still answers when others ask
        const size_t at = (size_t)output * hidden + here;
        const unsigned word = there ? *reinterpret_cast<const unsigned *>(codes + at / 2) : 0;
        const float scale = there ? scaleOf(scales[at / BLOCK]) : 0;
        float w[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            w[i] = scale * __shfl_sync(EVERYONE, mine, word >> 4 * i & 15);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (!there || row0 + r >= rows) continue;
            const uint4 eight =
                *reinterpret_cast<const uint4 *>(x + (size_t)(row0 + r) * hidden + here);
            const __half2 *pairs = reinterpret_cast<const __half2 *>(&eight);
#pragma unroll
            for (int i = 0; i < EACH / 2; i++) {
                const float2 two = __half22float2(pairs[i]);
                sums[r] += w[2 * i] * two.x;
                sums[r] += w[2 * i + 1] * two.y;
            }
        }
    }
    // Output n is number n % dim of head n / dim, counted through those of q, then of k, then of v.
    int head = output / dim, all = heads;
    __half *to = q;
    if (head >= heads) {
        head -= heads, all = kvHeads, to = k;
        if (head >= kvHeads) head -= kvHeads, to = v;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int apart = 16; apart > 0; apart /= 2)
            sums[r] += __shfl_xor_sync(EVERYONE, sums[r], apart);
        const int row = row0 + r;
        if (lane == 0 && row < rows)
            to[((size_t)(row / seq * all + head) * seq + row % seq) * dim + output % dim] =
                __float2half_rn(sums[r] * *tensor + __half2float(bias[output]));
    }
}
