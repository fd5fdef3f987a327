// cuda_fp4.h - e2m1 and its pairs and fours: two in a byte. There is no infinity and no NaN:
// what is beyond becomes the largest, 6, and so does a NaN.
#pragma once
#include "cuda_fp8.h"

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };

namespace simt {
SIMT_INLINE unsigned char toFloat4(double x, cudaRoundMode mode = cudaRoundNearest) {
    if (isNaN(x)) return 7;
    unsigned sign = isNegative(x) ? 8 : 0;
    double size = sizeOf(x);
    unsigned code = size > 6 ? 7 : (unsigned)roundTiny(size, 1, 0, sizeRounding(mode, sign));
    return (unsigned char)(sign | (code > 7 ? 7 : code));
}
SIMT_INLINE float fromFloat4(unsigned code) {
    float v = valueOfTiny(code & 7, 1, 0);
    return code & 8 ? -v : v;
}
} // namespace simt

SIMT_INLINE __nv_fp4_storage_t __nv_cvt_double_to_fp4(double x, __nv_fp4_interpretation_t,
                                                      cudaRoundMode mode) {
    return simt::toFloat4(x, mode);
}
SIMT_INLINE __nv_fp4_storage_t __nv_cvt_float_to_fp4(float x, __nv_fp4_interpretation_t,
                                                     cudaRoundMode mode) {
    return simt::toFloat4(x, mode);
}
SIMT_INLINE __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(__half_raw x, __nv_fp4_interpretation_t,
                                                       cudaRoundMode mode) {
    return simt::toFloat4(__half(x).value(), mode);
}
SIMT_INLINE __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(__nv_bfloat16_raw x,
                                                           __nv_fp4_interpretation_t,
                                                           cudaRoundMode mode) {
    return simt::toFloat4(__nv_bfloat16(x).value(), mode);
}
SIMT_INLINE __nv_fp4x2_storage_t __nv_cvt_double2_to_fp4x2(double2 x, __nv_fp4_interpretation_t,
                                                           cudaRoundMode mode) {
    return (unsigned char)(simt::toFloat4(x.x, mode) | simt::toFloat4(x.y, mode) << 4);
}
SIMT_INLINE __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(float2 x, __nv_fp4_interpretation_t,
                                                          cudaRoundMode mode) {
    return (unsigned char)(simt::toFloat4(x.x, mode) | simt::toFloat4(x.y, mode) << 4);
}
SIMT_INLINE __nv_fp4x2_storage_t __nv_cvt_halfraw2_to_fp4x2(__half2_raw x,
                                                            __nv_fp4_interpretation_t f,
                                                            cudaRoundMode mode) {
    return (unsigned char)(__nv_cvt_halfraw_to_fp4({x.x}, f, mode) |
                           __nv_cvt_halfraw_to_fp4({x.y}, f, mode) << 4);
}
SIMT_INLINE __nv_fp4x2_storage_t __nv_cvt_bfloat16raw2_to_fp4x2(__nv_bfloat162_raw x,
                                                                __nv_fp4_interpretation_t f,
                                                                cudaRoundMode mode) {
    return (unsigned char)(__nv_cvt_bfloat16raw_to_fp4({x.x}, f, mode) |
                           __nv_cvt_bfloat16raw_to_fp4({x.y}, f, mode) << 4);
}
SIMT_INLINE __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
    return {__half(simt::fromFloat4(x)).code};
}
SIMT_INLINE __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x,
                                                   __nv_fp4_interpretation_t f) {
    return {__nv_cvt_fp4_to_halfraw(x & 15, f).x, __nv_cvt_fp4_to_halfraw(x >> 4, f).x};
}

struct __nv_fp4_e2m1 {
    __nv_fp4_storage_t __x;
    __nv_fp4_e2m1() = default;
    template <class T> explicit __nv_fp4_e2m1(T v) : __x(simt::toFloat4((double)v)) {}
    explicit __nv_fp4_e2m1(__half v) : __x(simt::toFloat4(v.value())) {}
    explicit __nv_fp4_e2m1(__nv_bfloat16 v) : __x(simt::toFloat4(v.value())) {}
    explicit operator __half() const { return __half(simt::fromFloat4(__x)); }
    explicit operator __nv_bfloat16() const { return __nv_bfloat16(simt::fromFloat4(__x)); }
    explicit operator float() const { return simt::fromFloat4(__x); }
    explicit operator double() const { return simt::fromFloat4(__x); }
    explicit operator int() const { return (int)simt::fromFloat4(__x); }
    explicit operator bool() const { return (__x & 7) != 0; }
};
struct __nv_fp4x2_e2m1 {
    __nv_fp4x2_storage_t __x;
    __nv_fp4x2_e2m1() = default;
    explicit __nv_fp4x2_e2m1(float2 v)
        : __x(__nv_cvt_float2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
    explicit __nv_fp4x2_e2m1(double2 v)
        : __x(__nv_cvt_double2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
    explicit __nv_fp4x2_e2m1(__half2 v)
        : __x(__nv_cvt_halfraw2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
    explicit __nv_fp4x2_e2m1(__nv_bfloat162 v)
        : __x(__nv_cvt_bfloat16raw2_to_fp4x2(v, __NV_E2M1, cudaRoundNearest)) {}
    explicit operator __half2() const {
        return __half2(__nv_cvt_fp4x2_to_halfraw2(__x, __NV_E2M1));
    }
    explicit operator float2() const {
        return float2(simt::fromFloat4(__x), simt::fromFloat4(__x >> 4));
    }
};
struct alignas(2) __nv_fp4x4_e2m1 {
    __nv_fp4x4_storage_t __x;
    __nv_fp4x4_e2m1() = default;
    explicit __nv_fp4x4_e2m1(float4 v) : __nv_fp4x4_e2m1(float2(v.x, v.y), float2(v.z, v.w)) {}
    explicit __nv_fp4x4_e2m1(__half2 a, __half2 b) {
        __x = (unsigned short)(__nv_fp4x2_e2m1(a).__x | __nv_fp4x2_e2m1(b).__x << 8);
    }
    explicit operator float4() const {
        return float4(simt::fromFloat4(__x), simt::fromFloat4(__x >> 4), simt::fromFloat4(__x >> 8),
                      simt::fromFloat4(__x >> 12));
    }

private:
    __nv_fp4x4_e2m1(float2 a, float2 b) {
        __x = (unsigned short)(__nv_fp4x2_e2m1(a).__x | __nv_fp4x2_e2m1(b).__x << 8);
    }
};
