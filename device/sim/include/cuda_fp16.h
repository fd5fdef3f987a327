// cuda_fp16.h - half and half2: stored in 16 bits, computed in float or double
// and rounded once, as the hardware does.
#pragma once
#include "simt.h"

#include "simt/small_floats.h"

struct __half_raw {
    unsigned short x;
};
struct __half2_raw {
    unsigned short x, y;
};

struct alignas(2) __half {
    unsigned short code;

    // The common case by hand: float to half, nearest. In integers, as the way back:
    // a conversion is no arithmetic, and must not be counted as such.
    static constexpr unsigned short nearest(float f) {
        uint32_t u = simt::bits<uint32_t>(f), sign = u >> 16 & 0x8000;
        u &= 0x7fffffff;
        if (u >= 0x477ff000) // 65520 and above, infinity, NaN
            return (unsigned short)(u > 0x7f800000 ? 0x7fff : sign | 0x7c00);
        if (u >= 0x38800000) // 2^-14
            return (unsigned short)(sign | ((u - (112u << 23) + 0xfff + (u >> 13 & 1)) >> 13));
        if (u < 0x33000000) return (unsigned short)sign; // 2^-25, half the smallest
        uint32_t drop = 126 - (u >> 23), m = (u & 0x7fffff) | 0x800000, kept = m >> drop;
        return (unsigned short)(sign | ((m + (1u << (drop - 1)) - 1 + (kept & 1)) >> drop));
    }
    static constexpr unsigned short round(double v, simt::Rounding r) {
        return simt::roundSmall<10, -14>(v, r);
    }
    constexpr __attribute__((always_inline)) float value() const {
        uint32_t u = code & 0x7fff, sign = (uint32_t)(code & 0x8000) << 16;
        if (u - 0x400 < 0x7800) return simt::bits<float>(sign | ((u << 13) + (112u << 23)));
        return unusual(u, sign);
    }
    // Zero, subnormal numbers, infinity and NaN.
    static constexpr float unusual(uint32_t u, uint32_t sign) {
        if (u > 0x7c00) return simt::bits<float>(0x7fffffffu);
        if (u == 0x7c00) return simt::bits<float>(sign | 0x7f800000u);
        if (u == 0) return simt::bits<float>(sign);
        uint32_t shift = (uint32_t)__builtin_clz(u) - 21; // until its first bit is the hidden one
        return simt::bits<float>(sign | ((113 - shift) << 23) | (u << shift & 0x3ff) << 13);
    }

    __half() = default;
    constexpr __attribute__((always_inline)) __half(float f) : code(nearest(f)) {}
    constexpr __attribute__((always_inline)) __half(const __half_raw &r) : code(r.x) {}
    explicit __attribute__((always_inline)) __half(const __nv_bfloat16 &b);
    __attribute__((always_inline)) operator __half_raw() const { return {code}; }
    SIMT_SMALL_CONVERSIONS(__half)

    static constexpr __attribute__((always_inline)) __half of(unsigned short code) {
        __half h{};
        h.code = code;
        return h;
    }
    static constexpr __half from(double v, simt::Rounding r = simt::Nearest) {
        return of(round(v, r));
    }
    // float holds twice the bits of a half, and two more: rounding twice is harmless.
    static __attribute__((always_inline)) __half sum(__half a, __half b) {
        return a.value() + b.value();
    }
    static __attribute__((always_inline)) __half product(__half a, __half b) {
        return a.value() * b.value();
    }
};
typedef __half half;
typedef __half nv_half;

struct alignas(4) __half2 {
    __half x, y;
    SIMT_WIDE_COPY(__half2, 4)
    constexpr __attribute__((always_inline)) __half2(__half a, __half b) : x(a), y(b) {}
    constexpr __attribute__((always_inline)) __half2(const __half2_raw &r)
        : x(__half::of(r.x)), y(__half::of(r.y)) {}
    __attribute__((always_inline)) operator __half2_raw() const { return {x.code, y.code}; }
};
typedef __half2 half2;
typedef __half2 nv_half2;

// ---- signs and classes -------------------------------------------------------
SIMT_SMALL_1(__half, __half2, __hneg, __hneg2, __half::of(a.code ^ 0x8000))
SIMT_SMALL_1(__half, __half2, __habs, __habs2, __half::of(a.code & 0x7fff))
SIMT_INLINE bool __hisnan(__half a) {
    return (a.code & 0x7fff) > 0x7c00;
}
SIMT_INLINE int __hisinf(__half a) {
    return (a.code & 0x7fff) != 0x7c00 ? 0 : a.code >> 15 ? -1 : 1;
}
SIMT_INLINE __half2 __hisnan2(__half2 a) {
    return __half2(__hisnan(a.x) ? 1.f : 0.f, __hisnan(a.y) ? 1.f : 0.f);
}

SIMT_SMALL_FLOAT(__half, __half2)

// ---- conversions ----------------------------------------------------------------
SIMT_SMALL_DIRECTION(__half, half, rn, simt::Nearest)
SIMT_SMALL_DIRECTION(__half, half, rz, simt::TowardZero)
SIMT_SMALL_DIRECTION(__half, half, ru, simt::Upward)
SIMT_SMALL_DIRECTION(__half, half, rd, simt::Downward)
SIMT_INLINE __half __float2half(float f) {
    return f;
}
SIMT_INLINE __half __float2half_rn(float f) {
    return f;
}
SIMT_INLINE __half __float2half_rz(float f) {
    return __half::from(f, simt::TowardZero);
}
SIMT_INLINE __half __float2half_ru(float f) {
    return __half::from(f, simt::Upward);
}
SIMT_INLINE __half __float2half_rd(float f) {
    return __half::from(f, simt::Downward);
}
SIMT_INLINE __half __double2half(double d) {
    return d;
}
SIMT_INLINE float __half2float(__half h) {
    return h.value();
}
SIMT_INLINE __half2 __float2half2_rn(float f) {
    return __half2(f, f);
}
SIMT_INLINE __half2 __floats2half2_rn(float a, float b) {
    return __half2(a, b);
}
SIMT_INLINE __half2 __float22half2_rn(float2 f) {
    return __half2(f.x, f.y);
}
SIMT_INLINE float2 __half22float2(__half2 h) {
    return float2(h.x.value(), h.y.value());
}
SIMT_INLINE short __half_as_short(__half h) {
    return (short)h.code;
}
SIMT_INLINE unsigned short __half_as_ushort(__half h) {
    return h.code;
}
SIMT_INLINE __half __short_as_half(short s) {
    return __half::of((unsigned short)s);
}
SIMT_INLINE __half __ushort_as_half(unsigned short s) {
    return __half::of(s);
}

// ---- pairs ------------------------------------------------------------------------
SIMT_INLINE __half2 make_half2(__half a, __half b) {
    return __half2(a, b);
}
SIMT_INLINE __half2 __halves2half2(__half a, __half b) {
    return __half2(a, b);
}
SIMT_INLINE __half2 __half2half2(__half a) {
    return __half2(a, a);
}
SIMT_INLINE __half __low2half(__half2 a) {
    return a.x;
}
SIMT_INLINE __half __high2half(__half2 a) {
    return a.y;
}
SIMT_INLINE float __low2float(__half2 a) {
    return a.x.value();
}
SIMT_INLINE float __high2float(__half2 a) {
    return a.y.value();
}
SIMT_INLINE __half2 __low2half2(__half2 a) {
    return __half2(a.x, a.x);
}
SIMT_INLINE __half2 __high2half2(__half2 a) {
    return __half2(a.y, a.y);
}
SIMT_INLINE __half2 __lows2half2(__half2 a, __half2 b) {
    return __half2(a.x, b.x);
}
SIMT_INLINE __half2 __highs2half2(__half2 a, __half2 b) {
    return __half2(a.y, b.y);
}
SIMT_INLINE __half2 __lowhigh2highlow(__half2 a) {
    return __half2(a.y, a.x);
}

SIMT_SMALL_COMPLEX(__half, __half2)

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
