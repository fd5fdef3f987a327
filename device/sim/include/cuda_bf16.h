// cuda_bf16.h - __nv_bfloat16 and __nv_bfloat162: the upper half of a float.
#pragma once
#include "simt.h"

#include "cuda_fp16.h"

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __nv_bfloat162_raw {
    unsigned short x, y;
};

struct alignas(2) __nv_bfloat16 {
    unsigned short code;

    static constexpr unsigned short nearest(float f) {
        uint32_t u = simt::bits<uint32_t>(f);
        if ((u & 0x7fffffff) > 0x7f800000) return 0x7fff;
        return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
    }
    static constexpr unsigned short round(double v, simt::Rounding r) {
        return simt::roundSmall<7, -126>(v, r);
    }
    constexpr __attribute__((always_inline)) float value() const {
        return simt::bits<float>((uint32_t)code << 16);
    }

    __nv_bfloat16() = default;
    constexpr __attribute__((always_inline)) __nv_bfloat16(float f) : code(nearest(f)) {}
    constexpr __attribute__((always_inline)) __nv_bfloat16(const __nv_bfloat16_raw &r)
        : code(r.x) {}
    explicit constexpr __attribute__((always_inline)) __nv_bfloat16(const __half &h)
        : code(nearest(h.value())) {}
    __attribute__((always_inline)) operator __nv_bfloat16_raw() const { return {code}; }
    SIMT_SMALL_CONVERSIONS(__nv_bfloat16)

    static constexpr __attribute__((always_inline)) __nv_bfloat16 of(unsigned short code) {
        __nv_bfloat16 h{};
        h.code = code;
        return h;
    }
    static constexpr __nv_bfloat16 from(double v, simt::Rounding r = simt::Nearest) {
        return of(round(v, r));
    }
    // float has bits enough for a sum, but a small product would be subnormal
    // there, and rounded already.
    static __attribute__((always_inline)) __nv_bfloat16 sum(__nv_bfloat16 a, __nv_bfloat16 b) {
        return a.value() + b.value();
    }
    static __attribute__((always_inline)) __nv_bfloat16 product(__nv_bfloat16 a, __nv_bfloat16 b) {
        return from((double)a.value() * (double)b.value());
    }
};
typedef __nv_bfloat16 nv_bfloat16;

inline __half::__half(const __nv_bfloat16 &b) : code(nearest(b.value())) {}

struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    SIMT_WIDE_COPY(__nv_bfloat162, 4)
    constexpr __attribute__((always_inline)) __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b)
        : x(a), y(b) {}
    constexpr __attribute__((always_inline)) __nv_bfloat162(const __nv_bfloat162_raw &r)
        : x(__nv_bfloat16::of(r.x)), y(__nv_bfloat16::of(r.y)) {}
    __attribute__((always_inline)) operator __nv_bfloat162_raw() const { return {x.code, y.code}; }
};
typedef __nv_bfloat162 nv_bfloat162;

// ---- signs and classes -------------------------------------------------------
SIMT_SMALL_1(__nv_bfloat16, __nv_bfloat162, __hneg, __hneg2, __nv_bfloat16::of(a.code ^ 0x8000))
SIMT_SMALL_1(__nv_bfloat16, __nv_bfloat162, __habs, __habs2, __nv_bfloat16::of(a.code & 0x7fff))
SIMT_INLINE bool __hisnan(__nv_bfloat16 a) {
    return (a.code & 0x7fff) > 0x7f80;
}
SIMT_INLINE int __hisinf(__nv_bfloat16 a) {
    return (a.code & 0x7fff) != 0x7f80 ? 0 : a.code >> 15 ? -1 : 1;
}
SIMT_INLINE __nv_bfloat162 __hisnan2(__nv_bfloat162 a) {
    return __nv_bfloat162(__hisnan(a.x) ? 1.f : 0.f, __hisnan(a.y) ? 1.f : 0.f);
}

SIMT_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162)

// ---- conversions ----------------------------------------------------------------
SIMT_SMALL_DIRECTION(__nv_bfloat16, bfloat16, rn, simt::Nearest)
SIMT_SMALL_DIRECTION(__nv_bfloat16, bfloat16, rz, simt::TowardZero)
SIMT_SMALL_DIRECTION(__nv_bfloat16, bfloat16, ru, simt::Upward)
SIMT_SMALL_DIRECTION(__nv_bfloat16, bfloat16, rd, simt::Downward)
SIMT_INLINE __nv_bfloat16 __float2bfloat16(float f) {
    return f;
}
SIMT_INLINE __nv_bfloat16 __float2bfloat16_rn(float f) {
    return f;
}
SIMT_INLINE __nv_bfloat16 __float2bfloat16_rz(float f) {
    return __nv_bfloat16::from(f, simt::TowardZero);
}
SIMT_INLINE __nv_bfloat16 __float2bfloat16_ru(float f) {
    return __nv_bfloat16::from(f, simt::Upward);
}
SIMT_INLINE __nv_bfloat16 __float2bfloat16_rd(float f) {
    return __nv_bfloat16::from(f, simt::Downward);
}
SIMT_INLINE __nv_bfloat16 __double2bfloat16(double d) {
    return d;
}
SIMT_INLINE float __bfloat162float(__nv_bfloat16 b) {
    return b.value();
}
SIMT_INLINE __nv_bfloat162 __float2bfloat162_rn(float f) {
    return __nv_bfloat162(f, f);
}
SIMT_INLINE __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
    return __nv_bfloat162(a, b);
}
SIMT_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 f) {
    return __nv_bfloat162(f.x, f.y);
}
SIMT_INLINE float2 __bfloat1622float2(__nv_bfloat162 b) {
    return float2(b.x.value(), b.y.value());
}
SIMT_INLINE short __bfloat16_as_short(__nv_bfloat16 b) {
    return (short)b.code;
}
SIMT_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 b) {
    return b.code;
}
SIMT_INLINE __nv_bfloat16 __short_as_bfloat16(short s) {
    return __nv_bfloat16::of((unsigned short)s);
}
SIMT_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short s) {
    return __nv_bfloat16::of(s);
}

// ---- pairs ------------------------------------------------------------------------
SIMT_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat162(a, b);
}
SIMT_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat162(a, b);
}
SIMT_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) {
    return __nv_bfloat162(a, a);
}
SIMT_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) {
    return a.x;
}
SIMT_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) {
    return a.y;
}
SIMT_INLINE float __low2float(__nv_bfloat162 a) {
    return a.x.value();
}
SIMT_INLINE float __high2float(__nv_bfloat162 a) {
    return a.y.value();
}
SIMT_INLINE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) {
    return __nv_bfloat162(a.x, a.x);
}
SIMT_INLINE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) {
    return __nv_bfloat162(a.y, a.y);
}
SIMT_INLINE __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __nv_bfloat162(a.x, b.x);
}
SIMT_INLINE __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __nv_bfloat162(a.y, b.y);
}
SIMT_INLINE __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) {
    return __nv_bfloat162(a.y, a.x);
}

SIMT_SMALL_COMPLEX(__nv_bfloat16, __nv_bfloat162)

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
