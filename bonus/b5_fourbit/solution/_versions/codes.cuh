// Weights of four bits, in blocks that share a scale: read as they are (dequantise), or multiplied
// without ever being written (project): [q | k | v] = x [Wq | Wk | Wv] + bias.
//
//   codes   [outputs, hidden] of four bits       x      [rows, hidden] of halves
//   scales  [outputs, hidden / BLOCK]            bias   [outputs] of halves
//
// The host defines MXFP4, or nothing for NF4.

#include <cuda_fp16.h>

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
