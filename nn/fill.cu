// The numbers of tensor.Fill, bit for bit, times a scale. Each number depends only on
// the key and its own index. Package tensor explains how, and describes the
// distributions and the types.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// In the order of tensor.Dists.
enum { Normal, Uniform, Large, OneHot, Equal, Masked, Uneven, Columns, Groups };

// A key of ChaCha's: eight words, of which Go hands over pairs.
struct Key {
    unsigned long long pair[4];
};

__device__ void quarter(unsigned &a, unsigned &b, unsigned &c, unsigned &d) {
    a += b, d ^= a, d = __funnelshift_l(d, d, 16);
    c += d, b ^= c, b = __funnelshift_l(b, b, 12);
    a += b, d ^= a, d = __funnelshift_l(d, d, 8);
    c += d, b ^= c, b = __funnelshift_l(b, b, 7);
}

// The block with this number of one of the key's sequences: ChaCha's, with eight rounds.
__device__ void block(const Key &key, unsigned sequence, unsigned long long number,
                      unsigned (&x)[16]) {
    unsigned start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; // "expand 32-byte k"
    for (int i = 0; i < 4; i++) {
        start[4 + 2 * i] = (unsigned)key.pair[i];
        start[5 + 2 * i] = (unsigned)(key.pair[i] >> 32);
    }
    start[12] = (unsigned)number, start[13] = (unsigned)(number >> 32);
    start[14] = sequence, start[15] = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) x[i] = start[i];
#pragma unroll
    for (int round = 0; round < 8; round += 2) {
#pragma unroll
        for (int i = 0; i < 4; i++) quarter(x[i], x[4 + i], x[8 + i], x[12 + i]); // columns
#pragma unroll
        for (int i = 0; i < 4; i++) // diagonals
            quarter(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
    }
#pragma unroll
    for (int i = 0; i < 16; i++) x[i] += start[i];
}

// A sum of four uniform 16-bit numbers, centred.
__device__ float normal(unsigned a, unsigned b) {
    const int sum = (int)(a & 0xffff) + (int)(a >> 16) + (int)(b & 0xffff) + (int)(b >> 16);
    return (float)(sum - 2 * 65535) * 0x1p-15f;
}

// The first 64 numbers, from scratch.
__device__ float early(const Key &key, int i) {
    unsigned x[16];
    block(key, 0, i % 32, x);
    return i < 32 ? normal(x[0], x[1]) : normal(x[2], x[3]);
}

// A lane's numbers of 256: those at lane + 32 * j, from one block.
__device__ void numbers(int dist, const Key &key, unsigned long long tile, int lane,
                        float (&y)[8]) {
    unsigned x[16], choice[16] = {};
    block(key, 0, tile * 32 + lane, x);
    if (dist == OneHot || dist == Masked) block(key, 1, tile / 2 * 32 + lane, choice);
    const float equal = dist == Equal ? early(key, 0) : 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const unsigned long long i = tile * 256 + 32 * j + lane;
        const unsigned chosen = tile % 2 == 0 ? choice[j] : choice[8 + j];
        y[j] = normal(x[2 * j], x[2 * j + 1]);
        switch (dist) {
        case Uniform:
            y[j] = (float)((int)x[2 * j] >> 8) * 0x1p-23f;
            break;
        case Large:
            y[j] *= 64.0f;
            break;
        case OneHot:
            y[j] += chosen % 16 == 0 ? 1000.0f : 0.0f;
            break;
        case Equal:
            y[j] = equal;
            break;
        case Masked:
            if (i % 64 != 0 && chosen % 2 == 0) y[j] = -INFINITY;
            break;
        case Uneven:
            y[j] *= ldexpf(1.0f, (int)(i / 256 % 12) - 11);
            break;
        case Groups:
            y[j] *= ldexpf(1.0f, (int)(i / 128 * 7 % 12) - 11);
            break;
        case Columns:
            if (i % 8 == 5) y[j] += 16.0f * early(key, (int)(i % 64));
            break;
        }
    }
}

// A warp's walk over the tiles of 256 numbers: its first one, and how far on the next one is.
struct Walk {
    long long first, step;
    int lane;
};

__device__ Walk walk() {
    return {((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32,
            (long long)gridDim.x * blockDim.x / 32, (int)(threadIdx.x % 32)};
}

extern "C" __global__ void fill(float *dst, long long n, int dist, unsigned long long key0,
                                unsigned long long key1, unsigned long long key2,
                                unsigned long long key3, float scale) {
    const Key key = {{key0, key1, key2, key3}};
    const Walk mine = walk();
    for (long long tile = mine.first; tile * 256 < n; tile += mine.step) {
        float y[8];
        numbers(dist, key, tile, mine.lane, y);
        for (int j = 0; j < 8; j++) {
            const long long i = tile * 256 + 32 * j + mine.lane;
            if (i < n) dst[i] = y[j] * scale;
        }
    }
}

// The nearest integer from -most - 1 to most.
__device__ int whole(float x, float most) {
    return (int)fmaxf(-most - 1, fminf(rintf(x), most));
}

// The exponent of the nearest power of two, as E8M0 has it; x is 0 or far from the smallest.
__device__ unsigned char exponent(float x) {
    const unsigned bits = __float_as_uint(fabsf(x));
    return (unsigned char)min((bits + (1u << 22) - 1 + (bits >> 23 & 1)) >> 23, 254u);
}

// A number in a type: float16 (bits 16), bfloat16 (-16), int8 (8) or E8M0 (-8).
__device__ void store(void *dst, long long i, int bits, float x) {
    if (bits == 16) ((__half *)dst)[i] = __float2half_rn(x);
    if (bits == -16) ((__nv_bfloat16 *)dst)[i] = __float2bfloat16_rn(x);
    if (bits == 8) ((signed char *)dst)[i] = (signed char)whole(x, 127);
    if (bits == -8) ((unsigned char *)dst)[i] = exponent(x);
}

// The same in these types, or as pairs of int4 (bits 4), of which a lane has both; n counts
// elements.
extern "C" __global__ void fill_narrow(void *dst, long long n, int bits, int dist,
                                       unsigned long long key0, unsigned long long key1,
                                       unsigned long long key2, unsigned long long key3,
                                       float scale) {
    const Key key = {{key0, key1, key2, key3}};
    const Walk mine = walk();
    for (long long tile = mine.first; tile * 256 < n; tile += mine.step) {
        float y[8], z[8];
        if (bits != 4) {
            numbers(dist, key, tile, mine.lane, y);
            for (int j = 0; j < 8; j++) {
                const long long i = tile * 256 + 32 * j + mine.lane;
                if (i < n) store(dst, i, bits, y[j] * scale);
            }
        } else if (mine.lane < 16) {
            numbers(dist, key, tile, 2 * mine.lane, y);
            numbers(dist, key, tile, 2 * mine.lane + 1, z);
            for (int j = 0; j < 8; j++) {
                const long long i = tile * 256 + 32 * j + 2 * mine.lane;
                const int first = whole(y[j] * scale, 7), second = whole(z[j] * scale, 7);
                if (i + 1 < n)
                    ((unsigned char *)dst)[i / 2] =
                        (unsigned char)((first & 15) | (second & 15) << 4);
            }
        }
    }
}
