// cuda_fp8.h - e4m3, e5m2 and their pairs and fours: stored in 8 bits each, and converted
// through double, rounded once.
#pragma once
#include "simt/float8.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

namespace simt {
// e4m3 has no infinity, and one NaN of each sign; e5m2 is a half cut short.
constexpr unsigned char toFloat8(double x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
    unsigned sign = isNegative(x) ? 0x80 : 0;
    if (isNaN(x)) {
        unsigned top = (unsigned)(bits<uint64_t>(x) >> 50 & 3);
        return (unsigned char)(sign | (f == __NV_E5M2 ? 0x7e | top : 0x7f));
    }
    double size = sizeOf(x);
    bool beyond = f == __NV_E5M2 ? size >= 61440 : size > 464;
    if (beyond && s == __NV_SATFINITE)
        return (unsigned char)(sign | (f == __NV_E5M2 ? 0x7b : 0x7e));
    if (beyond) return (unsigned char)(sign | (f == __NV_E5M2 ? 0x7c : 0x7f));
    return (unsigned char)(sign |
                           (f == __NV_E5M2 ? roundTiny(size, 2, -14) : roundTiny(size, 3, -6)));
}

// What comes from a float has lost what its NaN said.
constexpr unsigned char floatToFloat8(float x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
    return x != x ? 0x7f : toFloat8(x, s, f);
}

constexpr float fromFloat8(unsigned char code, __nv_fp8_interpretation_t f) {
    unsigned size = code & 0x7f;
    unsigned sign = (unsigned)(code & 0x80) << 24;
    if (f == __NV_E5M2 ? size > 0x7c : size == 0x7f) return bits<float>(0x7fffffffu);
    if (f == __NV_E5M2 && size == 0x7c) return bits<float>(sign | 0x7f800000u);
    float v = f == __NV_E5M2 ? valueOfTiny(size, 2, -14) : valueOfTiny(size, 3, -6);
    return bits<float>(bits<unsigned>(v) | sign);
}
} // namespace simt

SIMT_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t s,
                                                      __nv_fp8_interpretation_t f) {
    return simt::toFloat8(x, s, f);
}
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t s,
                                                     __nv_fp8_interpretation_t f) {
    return simt::floatToFloat8(x, s, f);
}
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t s,
                                                       __nv_fp8_interpretation_t f) {
    return simt::floatToFloat8(__half(x).value(), s, f);
}
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t s,
                                                           __nv_fp8_interpretation_t f) {
    return simt::floatToFloat8(__nv_bfloat16(x).value(), s, f);
}
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t s,
                                                           __nv_fp8_interpretation_t f) {
    return (__nv_fp8x2_storage_t)(simt::toFloat8(x.x, s, f) | simt::toFloat8(x.y, s, f) << 8);
}
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t s,
                                                          __nv_fp8_interpretation_t f) {
    return (__nv_fp8x2_storage_t)(simt::floatToFloat8(x.x, s, f) | simt::floatToFloat8(x.y, s, f)
                                                                       << 8);
}
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t s,
                                                            __nv_fp8_interpretation_t f) {
    return (__nv_fp8x2_storage_t)(__nv_cvt_halfraw_to_fp8({x.x}, s, f) |
                                  __nv_cvt_halfraw_to_fp8({x.y}, s, f) << 8);
}
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x,
                                                                __nv_saturation_t s,
                                                                __nv_fp8_interpretation_t f) {
    return (__nv_fp8x2_storage_t)(__nv_cvt_bfloat16raw_to_fp8({x.x}, s, f) |
                                  __nv_cvt_bfloat16raw_to_fp8({x.y}, s, f) << 8);
}
SIMT_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t f) {
    return {__half(simt::fromFloat8(x, f)).code}; // every one of them is a half, too
}
SIMT_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                   __nv_fp8_interpretation_t f) {
    return {__nv_cvt_fp8_to_halfraw((unsigned char)x, f).x,
            __nv_cvt_fp8_to_halfraw((unsigned char)(x >> 8), f).x};
}

#define SIMT_FP8_FROM(T, F, E, function)                                                           \
    __attribute__((always_inline)) explicit T(E v) : __x(function(v, __NV_SATFINITE, F)) {}
#define SIMT_FP8_FROM_INTEGER(T, F, E)                                                             \
    __attribute__((always_inline)) explicit T(E v)                                                 \
        : __x(simt::toFloat8((double)v, __NV_SATFINITE, F)) {}
#define SIMT_FP8_TO(F, E)                                                                          \
    __attribute__((always_inline)) explicit operator E() const {                                   \
        return simt::toInteger<E>(__builtin_trunc((double)simt::fromFloat8(__x, F)), (E)0);        \
    }
#define SIMT_FP8(T, F)                                                                             \
    struct T {                                                                                     \
        __nv_fp8_storage_t __x;                                                                    \
        T() = default;                                                                             \
        SIMT_FP8_FROM(T, F, __half, __nv_cvt_halfraw_to_fp8)                                       \
        SIMT_FP8_FROM(T, F, __nv_bfloat16, __nv_cvt_bfloat16raw_to_fp8)                            \
        SIMT_FP8_FROM(T, F, float, simt::floatToFloat8)                                            \
        SIMT_FP8_FROM(T, F, double, simt::toFloat8)                                                \
        SIMT_FP8_FROM_INTEGER(T, F, short)                                                         \
        SIMT_FP8_FROM_INTEGER(T, F, unsigned short)                                                \
        SIMT_FP8_FROM_INTEGER(T, F, int)                                                           \
        SIMT_FP8_FROM_INTEGER(T, F, unsigned)                                                      \
        SIMT_FP8_FROM_INTEGER(T, F, long)                                                          \
        SIMT_FP8_FROM_INTEGER(T, F, unsigned long)                                                 \
        SIMT_FP8_FROM_INTEGER(T, F, long long)                                                     \
        SIMT_FP8_FROM_INTEGER(T, F, unsigned long long)                                            \
        __attribute__((always_inline)) explicit operator __half() const {                          \
            return __half(__nv_cvt_fp8_to_halfraw(__x, F));                                        \
        }                                                                                          \
        __attribute__((always_inline)) explicit operator __nv_bfloat16() const {                   \
            return __nv_bfloat16(simt::fromFloat8(__x, F));                                        \
        }                                                                                          \
        __attribute__((always_inline)) explicit operator float() const {                           \
            return simt::fromFloat8(__x, F);                                                       \
        }                                                                                          \
        __attribute__((always_inline)) explicit operator double() const {                          \
            return simt::fromFloat8(__x, F);                                                       \
        }                                                                                          \
        __attribute__((always_inline)) explicit operator bool() const {                            \
            return (__x & 0x7f) != 0;                                                              \
        }                                                                                          \
        SIMT_FP8_TO(F, char)                                                                       \
        SIMT_FP8_TO(F, signed char)                                                                \
        SIMT_FP8_TO(F, unsigned char)                                                              \
        SIMT_FP8_TO(F, short)                                                                      \
        SIMT_FP8_TO(F, unsigned short)                                                             \
        SIMT_FP8_TO(F, int)                                                                        \
        SIMT_FP8_TO(F, unsigned)                                                                   \
        SIMT_FP8_TO(F, long)                                                                       \
        SIMT_FP8_TO(F, unsigned long)                                                              \
        SIMT_FP8_TO(F, long long)                                                                  \
        SIMT_FP8_TO(F, unsigned long long)                                                         \
    };
SIMT_FP8(__nv_fp8_e4m3, __NV_E4M3)
SIMT_FP8(__nv_fp8_e5m2, __NV_E5M2)

#define SIMT_FP8X2(T, F)                                                                           \
    struct alignas(2) T {                                                                          \
        __nv_fp8x2_storage_t __x;                                                                  \
        T() = default;                                                                             \
        SIMT_FP8_FROM(T, F, __half2, __nv_cvt_halfraw2_to_fp8x2)                                   \
        SIMT_FP8_FROM(T, F, __nv_bfloat162, __nv_cvt_bfloat16raw2_to_fp8x2)                        \
        SIMT_FP8_FROM(T, F, float2, __nv_cvt_float2_to_fp8x2)                                      \
        SIMT_FP8_FROM(T, F, double2, __nv_cvt_double2_to_fp8x2)                                    \
        __attribute__((always_inline)) explicit operator __half2() const {                         \
            return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, F));                                    \
        }                                                                                          \
        __attribute__((always_inline)) explicit operator float2() const {                          \
            return float2(simt::fromFloat8((unsigned char)__x, F),                                 \
                          simt::fromFloat8((unsigned char)(__x >> 8), F));                         \
        }                                                                                          \
    };
SIMT_FP8X2(__nv_fp8x2_e4m3, __NV_E4M3)
SIMT_FP8X2(__nv_fp8x2_e5m2, __NV_E5M2)

#define SIMT_FP8X4_OF(T, E, function, a, b)                                                        \
    __attribute__((always_inline)) explicit T E                                                    \
        : __x(function(a, __NV_SATFINITE, SIMT_F) |                                                \
              (__nv_fp8x4_storage_t)function(b, __NV_SATFINITE, SIMT_F) << 16) {}
#define SIMT_FP8X4(T, F)                                                                           \
    struct alignas(4) T {                                                                          \
        __nv_fp8x4_storage_t __x;                                                                  \
        static constexpr __nv_fp8_interpretation_t SIMT_F = F;                                     \
        T() = default;                                                                             \
        SIMT_FP8X4_OF(T, (__half2 a, __half2 b), __nv_cvt_halfraw2_to_fp8x2, a, b)                 \
        SIMT_FP8X4_OF(T, (__nv_bfloat162 a, __nv_bfloat162 b), __nv_cvt_bfloat16raw2_to_fp8x2, a,  \
                      b)                                                                           \
        SIMT_FP8X4_OF(T, (float4 v), __nv_cvt_float2_to_fp8x2, float2(v.x, v.y), float2(v.z, v.w)) \
        SIMT_FP8X4_OF(T, (double4 v), __nv_cvt_double2_to_fp8x2, double2(v.x, v.y),                \
                      double2(v.z, v.w))                                                           \
        __attribute__((always_inline)) explicit operator float4() const {                          \
            return float4(simt::fromFloat8((unsigned char)__x, F),                                 \
                          simt::fromFloat8((unsigned char)(__x >> 8), F),                          \
                          simt::fromFloat8((unsigned char)(__x >> 16), F),                         \
                          simt::fromFloat8((unsigned char)(__x >> 24), F));                        \
        }                                                                                          \
    };
SIMT_FP8X4(__nv_fp8x4_e4m3, __NV_E4M3)
SIMT_FP8X4(__nv_fp8x4_e5m2, __NV_E5M2)
