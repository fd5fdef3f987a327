// One new token a sequence is written to a cache of 8 or 4 bits: k, v [batch, kvHeads, DIM] of
// halves. decode.cu says what a cache is.
//
// A token's head is quantised as it comes, k as well as v. 8 bits: scale = its largest number /
// 127. 4 bits: scale = (highest - lowest) / 15, low = the lowest.
//   - Arithmetic is float32, but scales are halves, rounded towards zero: no number grows.
//   - code = (x - low) / scale, rounded to the nearest, of two to the even one, and kept in range.
//   - A scale of 0, as equal numbers have it, means codes of 0.
//   - One infinity or NaN makes the scale NaN, and so all that share it. Codes and low are 0.
//
// A block has a key head of a sequence, and a thread one of its DIM channels.

#include <cuda_fp16.h>

constexpr int WARPS = DIM / 32;
constexpr unsigned EVERYONE = 0xffffffff;
constexpr int LEAST = BITS == 8 ? -127 : 0, MOST = BITS == 8 ? 127 : 15; // codes

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

__device__ int codeOf(float x, float low, float scale) {
    if (!(scale > 0)) return 0; // NaN, too
    return min(max(__float2int_rn(__fdiv_rn(x - low, scale)), LEAST), MOST);
}

// Of 4 bits, the first of two neighbours has the low half of a byte.
#if BITS == 8
using Codes = signed char *;
__device__ void write(Codes codes, int code, int channel) {
    codes[channel] = code;
}
#else
using Codes = unsigned char *;
__device__ void write(Codes codes, int code, int channel) {
    const int next = __shfl_down_sync(EVERYONE, code, 1);
    if (channel % 2 == 0) codes[channel / 2] = code | next << 4;
}
#endif

// lengths are those before this token: it takes slot lengths[sequence].
extern "C" __global__ void append(const __half *k, const __half *v, const int *lengths,
                                  Codes kCodes, Codes vCodes, __half *kScales, __half *vScales,
                                  __half *kLows, __half *vLows, int slots) {
    __shared__ Range found[2][WARPS];
    const int kvHead = blockIdx.x, sequence = blockIdx.y, channel = threadIdx.x;
    const int pair = sequence * gridDim.x + kvHead, length = lengths[sequence];
    if (length < 0 || length >= slots) return; // decode.cu reads no such slot
    const size_t token = (size_t)pair * slots + length;
    const float x[2] = {__half2float(k[pair * DIM + channel]),
                        __half2float(v[pair * DIM + channel])};
    for (int i = 0; i < 2; i++) {
        const Range r = joinWarp(rangeOf(BITS == 8 ? fabsf(x[i]) : x[i]));
        if (channel % 32 == 0) found[i][channel / 32] = r;
    }
    __syncthreads(); // all warps have found theirs
    for (int i = 0; i < 2; i++) {
        Range r = found[i][0];
        for (int w = 1; w < WARPS; w++) r = join(r, found[i][w]);
        const float low = BITS == 4 && r.low == r.low ? r.low : 0;
        // Towards zero: rounded up, the largest number might come back as an infinity.
        const __half scale = __float2half_rz(__fdiv_rn(r.high - low, MOST));
        write((i == 0 ? kCodes : vCodes) + token * (DIM * BITS / 8),
              codeOf(x[i], low, __half2float(scale)), channel);
        if (channel == 0) (i == 0 ? kScales : vScales)[token] = scale;
        if (BITS == 4 && channel == 0) (i == 0 ? kLows : vLows)[token] = low;
    }
}
