// Weights of four bits, in blocks that share a scale: read as they are (dequantise), or multiplied
// without ever being written (project): [q | k | v] = x [Wq | Wk | Wv] + bias.
//
//   codes   [outputs, hidden] of four bits       x      [rows, hidden] of halves
//   scales  [outputs, hidden / BLOCK]            bias   [outputs] of halves
//
// A weight's number is, but for its block's scale, one of sixteen. Halves hold these, so tensor
// cores multiply them, and a block's sum of products, in float32, is multiplied by its scale.
//
// The host defines MXFP4, or nothing for NF4.

#include <cuda_fp16.h>
#include <tensorcore.h>

#ifdef MXFP4
constexpr int BLOCK = 32; // numbers of a row that share a scale
constexpr int FIRST = 0;  // the bit at which a byte's first code begins
typedef unsigned char Scale;

// E2M1: a sign, two bits of exponent, one of fraction.
__device__ float number(int code) {
    const int e = code >> 1 & 3, f = code & 1;
    const float size = e > 0 ? (2 + f) * (1 << e) * 0.25f : 0.5f * f;
    return code & 8 ? -size : size;
}

// E8M0 is the exponent of a float32, where 0 would be a float32's 0, and 255 its infinity.
__device__ float scaleOf(Scale e) {
    return e == 255 ? NAN : e == 0 ? 0x1p-127f : __uint_as_float((unsigned)e << 23);
}
#else
constexpr int BLOCK = 64, FIRST = 4;
typedef float Scale;

// clang-format off
__constant__ float quantiles[16] = {
    -1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
    -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
    0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
    0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f,
};
// clang-format on

__device__ float number(int code) {
    return quantiles[code];
}
__device__ float scaleOf(float s) {
    return s;
}
#endif

constexpr unsigned EVERYONE = 0xffffffff;

// The code of number i of a byte, 0 or 1.
__device__ int codeOf(int byte, int i) {
    return byte >> (i == 0 ? FIRST : 4 - FIRST) & 15;
}

// ---- reading --------------------------------------------------------------------------------

// out[i] = number * scale, for count numbers in rows; a row's first number begins a block. A thread
// has four. Each lane keeps one number of the sixteen, and all ask each other for them.
extern "C" __global__ void dequantise(const unsigned char *codes, const Scale *scales, float *out,
                                      int count, int row) {
    const float mine = number(threadIdx.x % 16);
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int blocks = (row + BLOCK - 1) / BLOCK; // of a row; the last one may be short
    unsigned bytes = 0;                           // behind the end all lanes still take part
    if (first + 4 <= count)
        bytes = reinterpret_cast<const unsigned short *>(codes)[first / 4];
    else
        for (int i = first; i < count; i += 2) bytes |= codes[i / 2] << 4 * (i - first);
    float x[4], scale = 0;
    for (int j = 0, last = -1; j < 4; j++) {
        const int byte = bytes >> j / 2 * 8 & 255, i = first + j;
        x[j] = __shfl_sync(EVERYONE, mine, codeOf(byte, j % 2));
        const int block = i / row * blocks + i % row / BLOCK;
        if (i < count && block != last) scale = scaleOf(scales[block]), last = block;
        x[j] *= scale;
    }
    if (first + 4 <= count)
        *reinterpret_cast<float4 *>(out + first) = make_float4(x[0], x[1], x[2], x[3]);
    else
        for (int j = 0; first + j < count; j++) out[first + j] = x[j];
}

// ---- multiplying ----------------------------------------------------------------------------

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

// Where results go: q [batch, heads, seq, dim], then k and v [batch, kvHeads, seq, dim].
struct Places {
    __half *q, *k, *v;
    int seq, heads, kvHeads, dim;

    __device__ void put(int row, int output, float x) const {
        int head = output / dim, all = heads;
        __half *to = q;
        if (head >= heads) {
            head -= heads, all = kvHeads, to = k;
            if (head >= kvHeads) head -= kvHeads, to = v;
        }
        to[((size_t)(row / seq * all + head) * seq + row % seq) * dim + output % dim] =
            __float2half_rn(x);
    }
};

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
