// One new token a sequence is written to a cache of 8 or 4 bits: k, v [batch, kvHeads, DIM] of
// halves. decode.cu says what a cache is.
//
// 8 bits: a token's head has a scale, its largest number / 127. 4 bits: the token goes to the open
// group, as it is. When that is full, each channel of k has a scale and a low over its 32 tokens,
// each token of v over its channels: scale = (highest - lowest) / 15, low = the lowest.
//   - Arithmetic is float32, but scales are halves, rounded towards zero: no number grows.
//   - code = (x - low) / scale, rounded to the nearest, of two to the even one, and kept in range.
//   - A scale of 0, as equal numbers have it, means codes of 0.
//   - One infinity or NaN makes the scale NaN, and so all that share it. Codes and low are 0.
//
// A block has a key head of a sequence, and a thread one of its DIM channels.

#include <cuda_fp16.h>

constexpr int WARPS = DIM / 32;
constexpr unsigned EVERYONE = 0xffffffff;

// What numbers span. An infinity or a NaN among them makes both ends NaN.
struct Range {
    float low, high;
};
__device__ Range rangeOf(float x) {
    const float y = fabsf(x) <= 65504 ? x : NAN;
    return {y, y};
}
__device__ Range join(Range a, Range b) {
    if (a.low != a.low || b.low != b.low) return {NAN, NAN};
    return {fminf(a.low, b.low), fmaxf(a.high, b.high)};
}
__device__ Range joinWarp(Range r) {
    for (int i = 16; i > 0; i /= 2)
        r = join(r, {__shfl_xor_sync(EVERYONE, r.low, i), __shfl_xor_sync(EVERYONE, r.high, i)});
    return r;
}

__device__ int codeOf(float x, float low, float scale, int least, int most) {
    if (!(scale > 0)) return 0; // NaN, too
    return min(max(__float2int_rn(__fdiv_rn(x - low, scale)), least), most);
}

// Towards zero: rounded up, the largest number might come back as an infinity.
__device__ __half scaleOf(Range r, float steps) {
    return __float2half_rz(__fdiv_rn(r.high - r.low, steps));
}

// lengths are those before this token: it takes slot lengths[sequence].
#if BITS == 8
extern "C" __global__ void append8(const __half *k, const __half *v, const int *lengths,
                                   signed char *kCodes, signed char *vCodes, __half *kScales,
                                   __half *vScales, int slots) {
    __shared__ Range found[2][WARPS];
    const int kvHead = blockIdx.x, sequence = blockIdx.y, channel = threadIdx.x;
    const int pair = sequence * gridDim.x + kvHead, length = lengths[sequence];
    if (length < 0 || length >= slots) return; // decode.cu reads no such slot
    const size_t token = (size_t)pair * slots + length;
    const float x[2] = {__half2float(k[pair * DIM + channel]),
                        __half2float(v[pair * DIM + channel])};
    for (int i = 0; i < 2; i++) {
        const Range r = joinWarp(rangeOf(fabsf(x[i])));
        if (channel % 32 == 0) found[i][channel / 32] = r;
    }
    __syncthreads(); // all warps have found theirs
    for (int i = 0; i < 2; i++) {
        Range r = found[i][0];
        for (int w = 1; w < WARPS; w++) r = join(r, found[i][w]);
        const __half scale = scaleOf({0, r.high}, 127);
        (i == 0 ? kCodes : vCodes)[token * DIM + channel] =
            codeOf(x[i], 0, __half2float(scale), -127, 127);
        if (channel == 0) (i == 0 ? kScales : vScales)[token] = scale;
    }
}
#else
constexpr int GROUP = 32; // tokens that are quantised together

// A token's channels are in pairs of neighbours: the first one's code is in the low half of a byte.
__device__ void write(unsigned char *codes, int code, int channel) {
    const int next = __shfl_down_sync(EVERYONE, code, 1);
    if (channel % 2 == 0) codes[channel / 2] = code | next << 4;
}

extern "C" __global__ void append4(const __half *k, const __half *v, const int *lengths,
                                   unsigned char *kCodes, unsigned char *vCodes, __half *kScales,
                                   __half *vScales, __half *kLows, __half *vLows, __half *kOpen,
                                   __half *vOpen, int slots) {
    const int kvHead = blockIdx.x, sequence = blockIdx.y, channel = threadIdx.x;
    const int pair = sequence * gridDim.x + kvHead, length = lengths[sequence];
    if (length < 0 || length >= slots) return; // decode.cu reads no such slot
    // 1. The token goes to the open group.
    const int place = length % GROUP;
    kOpen += (size_t)pair * GROUP * DIM, vOpen += (size_t)pair * GROUP * DIM;
    kOpen[place * DIM + channel] = k[pair * DIM + channel];
    vOpen[place * DIM + channel] = v[pair * DIM + channel];
    if (place < GROUP - 1) return;
    __syncthreads(); // the whole block sees this token
    const size_t token0 = (size_t)pair * slots + length - place;
    kCodes += token0 * (DIM / 2), vCodes += token0 * (DIM / 2);

    // 2. It is full: k by channel.
    Range r = rangeOf(__half2float(kOpen[channel]));
    for (int t = 1; t < GROUP; t++) r = join(r, rangeOf(__half2float(kOpen[t * DIM + channel])));
    __half scale = scaleOf(r, 15);
    float low = r.low == r.low ? r.low : 0;
    kScales[token0 / GROUP * DIM + channel] = scale, kLows[token0 / GROUP * DIM + channel] = low;
    for (int t = 0; t < GROUP; t++) {
        const float x = __half2float(kOpen[t * DIM + channel]);
        write(kCodes + t * (DIM / 2), codeOf(x, low, __half2float(scale), 0, 15), channel);
    }

    // 3. And v by token: a warp has every so many of them.
    for (int t = channel / 32; t < GROUP; t += WARPS) {
        const __half *row = vOpen + t * DIM;
        r = rangeOf(__half2float(row[channel % 32]));
        for (int c = channel % 32 + 32; c < DIM; c += 32)
            r = join(r, rangeOf(__half2float(row[c])));
        r = joinWarp(r);
        scale = scaleOf(r, 15), low = r.low == r.low ? r.low : 0;
        for (int c = channel % 32; c < DIM; c += 32)
            write(vCodes + t * (DIM / 2),
                  codeOf(__half2float(row[c]), low, __half2float(scale), 0, 15), c);
        if (channel % 32 == 0) vScales[token0 + t] = scale, vLows[token0 + t] = low;
    }
}
#endif
