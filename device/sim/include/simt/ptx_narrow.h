// ptx_narrow.h - what ptx.h has for numbers of fewer than 16 bits, and for matrices of 16.
#pragma once
#include "../cuda_fp8.h"
#include "small_floats.h"
#include "warp.h"

namespace simt::ptx {
// Pairs of 8-bit floats. With relu what is negative becomes zero, but for a NaN.
SIMT_INLINE float notNegative(float v, bool relu) {
    return relu && v <= 0 ? 0.f : v;
}
SIMT_INLINE unsigned short tiny(float lower, float upper, __nv_fp8_interpretation_t f, bool relu) {
    return __nv_cvt_float2_to_fp8x2(make_float2(notNegative(lower, relu), notNegative(upper, relu)),
                                    __NV_SATFINITE, f);
}
SIMT_INLINE unsigned short tiny(unsigned halves, __nv_fp8_interpretation_t f, bool relu) {
    return tiny((float)bits<__half>((unsigned short)halves),
                (float)bits<__half>((unsigned short)(halves >> 16)), f, relu);
}
SIMT_INLINE unsigned fromTiny(unsigned short v, __nv_fp8_interpretation_t f, bool relu) {
    const __half2_raw r = __nv_cvt_fp8x2_to_halfraw2(v, f);
    unsigned lower = r.x, upper = r.y;
    if (relu && lower >= 0x8000 && lower <= 0xfc00) lower = 0;
    if (relu && upper >= 0x8000 && upper <= 0xfc00) upper = 0;
    return lower | upper << 16;
}

// Two integers, cut off to what so many bits hold, below the bits of a third.
SIMT_INLINE unsigned packed(int upper, int lower, unsigned rest, int size, bool isSigned) {
    const int most = (1 << (size - isSigned)) - 1, least = isSigned ? -most - 1 : 0;
    auto cut = [=](int v) {
        return (unsigned)(v < least ? least : v > most ? most : v) & ((1u << size) - 1);
    };
    const unsigned both = cut(lower) | cut(upper) << size;
    return size == 16 ? both : both | rest << 2 * size;
}

// An 8 by 8 matrix of 16 bits, a row in each four lanes, becomes its transpose.
SIMT_INLINE unsigned transposed(unsigned v, int line) {
    const unsigned lane = simt_lane(), row = lane % 4 * 2, from = row * 4 + lane / 8,
                   shift = lane / 4 % 2 * 16;
    const unsigned first = shuffle(~0u, v, (int)from, line),
                   second = shuffle(~0u, v, (int)from + 4, line);
    return (first >> shift & 0xffff) | (second >> shift & 0xffff) << 16;
}
} // namespace simt::ptx
