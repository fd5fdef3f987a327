// A prompt's keys and values go to a cache of 4 bits, as bonus task b7 has it: what its append
// would leave after every token of the prompt, to the bit.
//
//   k, v [batch, kvHeads, count, dim] of halves
//   kCodes, vCodes [batch, kvHeads, slots, dim / 2]
//   kScales, kLows [batch, kvHeads, slots / 32, dim]     vScales, vLows [batch, kvHeads, slots]
//   kOpen, vOpen   [batch, kvHeads, 32, dim]: the tokens of a group that is not full
//
// A full group of 32 tokens: each channel of k has a scale and a low over them, each token of v
// over its channels. scale = (highest - lowest) / 15 in float32, as a half towards zero; low = the
// lowest; code = (x - low) / scale, rounded to the nearest. An infinity or a NaN makes the scale
// NaN, and codes and low 0.
//
// A block has a group of a key head of a sequence, and a thread one of its dim channels.

#include <cuda_fp16.h>

constexpr int GROUP = 32;
constexpr unsigned EVERYONE = 0xffffffff;

struct Range {
    float low, high;
};
__device__ Range rangeOf(__half x) {
    const float y = __half2float(x), z = fabsf(y) <= 65504 ? y : NAN;
    return {z, z};
}
__device__ Range join(Range a, Range b) {
    if (a.low != a.low || b.low != b.low) return {NAN, NAN};
    return {fminf(a.low, b.low), fmaxf(a.high, b.high)};
}

// How numbers of a range are kept.
struct Steps {
    __half scale;
    float low;
    __device__ Steps(Range r)
        : scale(__float2half_rz(__fdiv_rn(r.high - r.low, 15))), low(r.low == r.low ? r.low : 0) {}
    __device__ int code(__half x) const {
        const float step = __half2float(scale);
        if (!(step > 0)) return 0; // NaN, too
        return min(max(__float2int_rn(__fdiv_rn(__half2float(x) - low, step)), 0), 15);
    }
};

// Channels are in pairs of neighbours: the first one's code is in the low half of a byte.
__device__ void write(unsigned char *codes, int code, int channel) {
    const int next = __shfl_down_sync(EVERYONE, code, 1);
    if (channel % 2 == 0) codes[channel / 2] = code | next << 4;
}

extern "C" __global__ void keep_kivi(const __half *k, const __half *v, unsigned char *kCodes,
                                     unsigned char *vCodes, __half *kScales, __half *vScales,
                                     __half *kLows, __half *vLows, __half *kOpen, __half *vOpen,
                                     int count, int slots) {
    const int channel = threadIdx.x, dim = blockDim.x;
    const size_t pair = (size_t)blockIdx.z * gridDim.y + blockIdx.y; // of all sequences' key heads
    const int first = blockIdx.x * GROUP, tokens = min(GROUP, count - first);
    k += (pair * count + first) * dim, v += (pair * count + first) * dim;

    // 1. A group that is not full stays as it is.
    if (tokens < GROUP) {
        for (int t = 0; t < tokens; t++) {
            kOpen[(pair * GROUP + t) * dim + channel] = k[t * dim + channel];
            vOpen[(pair * GROUP + t) * dim + channel] = v[t * dim + channel];
        }
        return;
    }
    // 2. k by channel.
    const size_t token0 = pair * slots + first;
    Range r = rangeOf(k[channel]);
    for (int t = 1; t < GROUP; t++) r = join(r, rangeOf(k[t * dim + channel]));
    const Steps ofChannel(r);
    kScales[token0 / GROUP * dim + channel] = ofChannel.scale;
    kLows[token0 / GROUP * dim + channel] = __float2half_rn(ofChannel.low);
    for (int t = 0; t < GROUP; t++)
        write(kCodes + (token0 + t) * (dim / 2), ofChannel.code(k[t * dim + channel]), channel);

    // 3. v by token: a warp has every so many of them.
    for (int t = channel / 32; t < GROUP; t += dim / 32) {
        const __half *row = v + t * dim;
        r = rangeOf(row[channel % 32]);
        for (int c = channel % 32 + 32; c < dim; c += 32) r = join(r, rangeOf(row[c]));
        for (int lanes = 16; lanes > 0; lanes /= 2)
            r = join(r, {__shfl_xor_sync(EVERYONE, r.low, lanes),
                         __shfl_xor_sync(EVERYONE, r.high, lanes)});
        const Steps ofToken(r);
        for (int c = channel % 32; c < dim; c += 32)
            write(vCodes + (token0 + t) * (dim / 2), ofToken.code(row[c]), c);
        if (channel % 32 == 0) {
            vScales[token0 + t] = ofToken.scale;
            vLows[token0 + t] = __float2half_rn(ofToken.low);
        }
    }
}
