// The numbers of tensor.Fill, bit for bit, times a scale. Each number depends only on
// the seed, the stream and its own index. Package tensor explains how, and describes
// the distributions and the types.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// In the order of tensor.Dists.
enum { Normal, Uniform, Large, OneHot, Equal, Masked, Uneven, Columns, Groups };

__device__ unsigned mix(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

struct Key {
    unsigned a, b;
};

__device__ unsigned hash(Key key, unsigned long long i, unsigned lane) {
    const unsigned h = mix((unsigned)i ^ key.a);
    // Go's ^ binds as + does, from left to right.
    return mix((h + (unsigned)(i >> 32) * 0x9e3779b9u + lane * 0x85ebca6bu) ^ key.b);
}

// A sum of four uniform 16-bit numbers, centred.
__device__ float normal(Key key, unsigned long long i) {
    const unsigned a = hash(key, i, 0), b = hash(key, i, 1);
    const int sum = (int)(a & 0xffff) + (int)(a >> 16) + (int)(b & 0xffff) + (int)(b >> 16);
    return (float)(sum - 2 * 65535) * 0x1p-15f;
}

__device__ float number(int dist, Key key, unsigned long long i) {
    switch (dist) {
    case Uniform:
        return (float)((int)hash(key, i, 0) >> 8) * 0x1p-23f;
    case Large:
        return normal(key, i) * 64.0f;
    case OneHot:
        return normal(key, i) + (hash(key, i, 2) % 16 == 0 ? 1000.0f : 0.0f);
    case Equal:
        return normal(key, 0);
    case Masked:
        if (i % 64 != 0 && hash(key, i, 2) % 2 == 0) return -INFINITY;
        break;
    case Uneven:
        return normal(key, i) * ldexpf(1.0f, (int)(i / 256 % 12) - 11);
    case Groups:
        return normal(key, i) * ldexpf(1.0f, (int)(i / 128 * 7 % 12) - 11);
    case Columns:
        return normal(key, i) + (i % 8 == 5 ? 16.0f * normal(key, i % 64) : 0.0f);
    }
    return normal(key, i);
}

__device__ Key stream_key(unsigned long long seed, unsigned stream) {
    const unsigned a = mix((unsigned)seed + 0x9e3779b9u * (stream + 1));
    return {a, mix((unsigned)(seed >> 32) ^ a)};
}

extern "C" __global__ void fill(float *dst, long long n, int dist, unsigned long long seed,
                                unsigned stream, float scale) {
    const Key key = stream_key(seed, stream);
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        dst[i] = number(dist, key, i) * scale;
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

// The same as float16 (bits 16), bfloat16 (-16), int8 (8), E8M0 (-8) and pairs of int4 (4); n
// counts elements.
extern "C" __global__ void fill_narrow(void *dst, long long n, int bits, int dist,
                                       unsigned long long seed, unsigned stream, float scale) {
    const Key key = stream_key(seed, stream);
    const long long step = (long long)gridDim.x * blockDim.x;
    const long long written = bits == 4 ? n / 2 : n;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < written; i += step) {
        if (bits == 4) {
            const int first = whole(number(dist, key, 2 * i) * scale, 7);
            const int second = whole(number(dist, key, 2 * i + 1) * scale, 7);
            ((unsigned char *)dst)[i] = (unsigned char)((first & 15) | (second & 15) << 4);
            continue;
        }
        const float x = number(dist, key, i) * scale;
        if (bits == 16) ((__half *)dst)[i] = __float2half_rn(x);
        if (bits == -16) ((__nv_bfloat16 *)dst)[i] = __float2bfloat16_rn(x);
        if (bits == 8) ((signed char *)dst)[i] = (signed char)whole(x, 127);
        if (bits == -8) ((unsigned char *)dst)[i] = exponent(x);
    }
}
