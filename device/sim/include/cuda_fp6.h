// cuda_fp6.h - e2m3 and e3m2, their pairs and fours: a byte for each number. There is no
// infinity and no NaN: what is beyond becomes the largest, and a NaN the largest above zero.
#pragma once
#include "cuda_fp8.h"

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };

namespace simt {
constexpr unsigned char toFloat6(double x, __nv_fp6_interpretation_t f,
                                 cudaRoundMode mode = cudaRoundNearest) {
    if (isNaN(x)) return 0x1f;
    bool wide = f == __NV_E3M2, negative = isNegative(x);
    double size = sizeOf(x);
    unsigned code = 0x1f;
    if (size <= (wide ? 28 : 7.5)) {
        Rounding r = sizeRounding(mode, negative);
        code = (unsigned)(wide ? roundTiny(size, 2, -2, r) : roundTiny(size, 3, 0, r));
    }
    return (unsigned char)(negative ? 0x20 | code : code);
}
constexpr float fromFloat6(unsigned code, __nv_fp6_interpretation_t f) {
    unsigned size = code & 0x1f;
    float v = f == __NV_E3M2 ? valueOfTiny(size, 2, -2) : valueOfTiny(size, 3, 0);
    return code & 0x20 ? -v : v;
}
constexpr __nv_fp6x2_storage_t toTwoFloat6(double x, double y, __nv_fp6_interpretation_t f,
                                           cudaRoundMode mode = cudaRoundNearest) {
    return (__nv_fp6x2_storage_t)(toFloat6(x, f, mode) | toFloat6(y, f, mode) << 8);
}
} // namespace simt

SIMT_INLINE __nv_fp6_storage_t __nv_cvt_double_to_fp6(double x, __nv_fp6_interpretation_t f,
                                                      cudaRoundMode mode) {
    return simt::toFloat6(x, f, mode);
}
SIMT_INLINE __nv_fp6_storage_t __nv_cvt_float_to_fp6(float x, __nv_fp6_interpretation_t f,
                                                     cudaRoundMode mode) {
    return simt::toFloat6(x, f, mode);
}
SIMT_INLINE __nv_fp6_storage_t __nv_cvt_halfraw_to_fp6(__half_raw x, __nv_fp6_interpretation_t f,
                                                       cudaRoundMode mode) {
    return simt::toFloat6(__half(x).value(), f, mode);
}
SIMT_INLINE __nv_fp6_storage_t __nv_cvt_bfloat16raw_to_fp6(__nv_bfloat16_raw x,
                                                           __nv_fp6_interpretation_t f,
                                                           cudaRoundMode mode) {
    return simt::toFloat6(__nv_bfloat16(x).value(), f, mode);
}
SIMT_INLINE __nv_fp6x2_storage_t __nv_cvt_double2_to_fp6x2(double2 v, __nv_fp6_interpretation_t f,
                                                           cudaRoundMode mode) {
    return simt::toTwoFloat6(v.x, v.y, f, mode);
}
SIMT_INLINE __nv_fp6x2_storage_t __nv_cvt_float2_to_fp6x2(float2 v, __nv_fp6_interpretation_t f,
                                                          cudaRoundMode mode) {
    return simt::toTwoFloat6(v.x, v.y, f, mode);
}
SIMT_INLINE __nv_fp6x2_storage_t __nv_cvt_halfraw2_to_fp6x2(__half2_raw v,
                                                            __nv_fp6_interpretation_t f,
                                                            cudaRoundMode mode) {
    __half2 h(v);
    return simt::toTwoFloat6(h.x.value(), h.y.value(), f, mode);
}
SIMT_INLINE __nv_fp6x2_storage_t __nv_cvt_bfloat16raw2_to_fp6x2(__nv_bfloat162_raw v,
                                                                __nv_fp6_interpretation_t f,
                                                                cudaRoundMode mode) {
    __nv_bfloat162 b(v);
    return simt::toTwoFloat6(b.x.value(), b.y.value(), f, mode);
}
// Every one of them is a half, and a bfloat16, too.
SIMT_INLINE __half_raw __nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t x, __nv_fp6_interpretation_t f) {
    return {__half(simt::fromFloat6(x, f)).code};
}
SIMT_INLINE __nv_bfloat16_raw __nv_cvt_fp6_to_bf16raw(__nv_fp6_storage_t x,
                                                      __nv_fp6_interpretation_t f) {
    return {__nv_bfloat16(simt::fromFloat6(x, f)).code};
}
SIMT_INLINE __half2_raw __nv_cvt_fp6x2_to_halfraw2(__nv_fp6x2_storage_t x,
                                                   __nv_fp6_interpretation_t f) {
    return {__half(simt::fromFloat6(x, f)).code, __half(simt::fromFloat6(x >> 8, f)).code};
}
SIMT_INLINE __nv_bfloat162_raw __nv_cvt_fp6x2_to_bf162raw(__nv_fp6x2_storage_t x,
                                                          __nv_fp6_interpretation_t f) {
    return {__nv_bfloat16(simt::fromFloat6(x, f)).code,
            __nv_bfloat16(simt::fromFloat6(x >> 8, f)).code};
}

namespace simt {
template <__nv_fp6_interpretation_t F> struct Float6 {
    __nv_fp6_storage_t __x;
    Float6() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    __attribute__((always_inline)) explicit Float6(T v) : __x(toFloat6((double)v, F)) {}
    __attribute__((always_inline)) explicit Float6(__half v) : __x(toFloat6(v.value(), F)) {}
    __attribute__((always_inline)) explicit Float6(__nv_bfloat16 v) : __x(toFloat6(v.value(), F)) {}

    __attribute__((always_inline)) explicit operator float() const { return fromFloat6(__x, F); }
    __attribute__((always_inline)) explicit operator double() const { return fromFloat6(__x, F); }
    __attribute__((always_inline)) explicit operator __half() const {
        return __half(fromFloat6(__x, F));
    }
    __attribute__((always_inline)) explicit operator __nv_bfloat16() const {
        return __nv_bfloat16(fromFloat6(__x, F));
    }
    __attribute__((always_inline)) explicit operator bool() const { return (__x & 0x1f) != 0; }
    template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
    __attribute__((always_inline)) explicit operator T() const {
        return toInteger<T>(__builtin_trunc((double)fromFloat6(__x, F)), (T)0);
    }
};

template <__nv_fp6_interpretation_t F> struct alignas(2) TwoFloat6 {
    __nv_fp6x2_storage_t __x;
    TwoFloat6() = default;
    __attribute__((always_inline)) explicit TwoFloat6(double2 v) : __x(toTwoFloat6(v.x, v.y, F)) {}
    __attribute__((always_inline)) explicit TwoFloat6(float2 v) : __x(toTwoFloat6(v.x, v.y, F)) {}
    __attribute__((always_inline)) explicit TwoFloat6(__half2 v)
        : __x(toTwoFloat6(v.x.value(), v.y.value(), F)) {}
    __attribute__((always_inline)) explicit TwoFloat6(__nv_bfloat162 v)
        : __x(toTwoFloat6(v.x.value(), v.y.value(), F)) {}

    __attribute__((always_inline)) explicit operator float2() const {
        return float2(fromFloat6(__x, F), fromFloat6(__x >> 8, F));
    }
    __attribute__((always_inline)) explicit operator __half2() const {
        return __half2(__nv_cvt_fp6x2_to_halfraw2(__x, F));
    }
    __attribute__((always_inline)) explicit operator __nv_bfloat162() const {
        return __nv_bfloat162(__nv_cvt_fp6x2_to_bf162raw(__x, F));
    }
};

template <__nv_fp6_interpretation_t F> struct alignas(4) FourFloat6 {
    using Two = TwoFloat6<F>;
    __nv_fp6x4_storage_t __x;
    FourFloat6() = default;
    __attribute__((always_inline)) explicit FourFloat6(__half2 low, __half2 high)
        : FourFloat6(Two(low), Two(high)) {}
    __attribute__((always_inline)) explicit FourFloat6(__nv_bfloat162 low, __nv_bfloat162 high)
        : FourFloat6(Two(low), Two(high)) {}
    __attribute__((always_inline)) explicit FourFloat6(float4 v)
        : FourFloat6(Two(float2(v.x, v.y)), Two(float2(v.z, v.w))) {}
    __attribute__((always_inline)) explicit FourFloat6(double4 v)
        : FourFloat6(Two(double2(v.x, v.y)), Two(double2(v.z, v.w))) {}

    __attribute__((always_inline)) explicit operator float4() const {
        return float4(fromFloat6(__x, F), fromFloat6(__x >> 8, F), fromFloat6(__x >> 16, F),
                      fromFloat6(__x >> 24, F));
    }

private:
    __attribute__((always_inline)) FourFloat6(Two low, Two high)
        : __x(low.__x | (unsigned)high.__x << 16) {}
};
} // namespace simt

#define SIMT_FP6(T, Base, F)                                                                       \
    struct T : simt::Base<F> {                                                                     \
        using Base::Base;                                                                          \
    };
SIMT_FP6(__nv_fp6_e2m3, Float6, __NV_E2M3)
SIMT_FP6(__nv_fp6_e3m2, Float6, __NV_E3M2)
SIMT_FP6(__nv_fp6x2_e2m3, TwoFloat6, __NV_E2M3)
SIMT_FP6(__nv_fp6x2_e3m2, TwoFloat6, __NV_E3M2)
SIMT_FP6(__nv_fp6x4_e2m3, FourFloat6, __NV_E2M3)
SIMT_FP6(__nv_fp6x4_e3m2, FourFloat6, __NV_E3M2)
