// arithmetic.h - float and double arithmetic by name: each operation in IEEE's
// four directions, and the fast forms as the GPU computes them, so that
// verdicts do not depend on this machine's libm.
#pragma once

#define SIMT_ROUNDED(suffix, direction)                                                            \
    SIMT_UNSEEN static float __fadd_##suffix(float a, float b) {                                   \
        return simt::toFloat(simt::addOdd(a, b), direction);                                       \
    }                                                                                              \
    SIMT_UNSEEN static float __fsub_##suffix(float a, float b) {                                   \
        return simt::toFloat(simt::addOdd(a, -b), direction);                                      \
    }                                                                                              \
    SIMT_UNSEEN static float __fmul_##suffix(float a, float b) {                                   \
        return simt::toFloat((double)a * b, direction);                                            \
    }                                                                                              \
    SIMT_UNSEEN static float __fmaf_##suffix(float a, float b, float c) {                          \
        return simt::toFloat(simt_fma(a, b, c), direction);                                        \
    }                                                                                              \
    SIMT_UNSEEN static float __fdiv_##suffix(float a, float b) {                                   \
        return simt::toFloat(simt::divideOdd(a, b), direction);                                    \
    }                                                                                              \
    SIMT_UNSEEN static float __frcp_##suffix(float a) {                                            \
        return simt::toFloat(simt::divideOdd(1, a), direction);                                    \
    }                                                                                              \
    SIMT_UNSEEN static float __fsqrt_##suffix(float a) {                                           \
        return simt::toFloat(simt::rootOdd(a), direction);                                         \
    }
SIMT_ROUNDED(rz, simt::TowardZero)
SIMT_ROUNDED(ru, simt::Upward)
SIMT_ROUNDED(rd, simt::Downward)

// Round to nearest is what the processor does.
SIMT_INLINE float __fadd_rn(float a, float b) {
    return a + b;
}
SIMT_INLINE float __fsub_rn(float a, float b) {
    return a - b;
}
SIMT_INLINE float __fmul_rn(float a, float b) {
    return a * b;
}
SIMT_INLINE float __fmaf_rn(float a, float b, float c) {
    return fmaf(a, b, c);
}
SIMT_INLINE float __fdiv_rn(float a, float b) {
    return a / b;
}
SIMT_INLINE float __frcp_rn(float a) {
    return 1.f / a;
}
SIMT_INLINE float __fsqrt_rn(float a) {
    return sqrtf(a);
}
SIMT_INLINE float __frsqrt_rn(float a) {
    return (float)(1. / sqrt((double)a));
}
SIMT_INLINE double __dadd_rn(double a, double b) {
    return a + b;
}
SIMT_INLINE double __dsub_rn(double a, double b) {
    return a - b;
}
SIMT_INLINE double __dmul_rn(double a, double b) {
    return a * b;
}
SIMT_INLINE double __ddiv_rn(double a, double b) {
    return a / b;
}
SIMT_INLINE double __drcp_rn(double a) {
    return 1. / a;
}
SIMT_INLINE double __dsqrt_rn(double a) {
    return sqrt(a);
}
// The other three directions: a result to the nearest, and the sign of what it is off by.
namespace simt {
SIMT_UNSEEN static double directed(double near, double error, Rounding r) {
    if (error == 0 || near - near != 0) return near;
    bool up = r == Upward || (r == TowardZero && near < 0);
    if (up == (error > 0)) {
        uint64_t u = bits<uint64_t>(near);
        if (near == 0) return up ? 0x1p-1074 : -0x1p-1074;
        return bits<double>((near > 0) == up ? u + 1 : u - 1);
    }
    return near;
}
SIMT_UNSEEN static double sumError(double a, double b, double sum) {
    double fromB = sum - a;
    return (a - (sum - fromB)) + (b - fromB);
}
} // namespace simt
#define SIMT_DOUBLE_DIRECTED(suffix, direction)                                                    \
    SIMT_UNSEEN static double __dadd_##suffix(double a, double b) {                                \
        return simt::directed(a + b, simt::sumError(a, b, a + b), direction);                      \
    }                                                                                              \
    SIMT_UNSEEN static double __dsub_##suffix(double a, double b) {                                \
        return __dadd_##suffix(a, -b);                                                             \
    }                                                                                              \
    SIMT_UNSEEN static double __dmul_##suffix(double a, double b) {                                \
        return simt::directed(a * b, __builtin_fma(a, b, -(a * b)), direction);                    \
    }                                                                                              \
    SIMT_UNSEEN static double __ddiv_##suffix(double a, double b) {                                \
        double rest = __builtin_fma(-(a / b), b, a);                                               \
        return simt::directed(a / b, b > 0 ? rest : -rest, direction);                             \
    }                                                                                              \
    SIMT_UNSEEN static double __drcp_##suffix(double a) {                                          \
        return __ddiv_##suffix(1, a);                                                              \
    }                                                                                              \
    SIMT_UNSEEN static double __dsqrt_##suffix(double a) {                                         \
        double root = __builtin_sqrt(a);                                                           \
        return simt::directed(root, __builtin_fma(-root, root, a), direction);                     \
    }
SIMT_DOUBLE_DIRECTED(rz, simt::TowardZero)
SIMT_DOUBLE_DIRECTED(ru, simt::Upward)
SIMT_DOUBLE_DIRECTED(rd, simt::Downward)

SIMT_INLINE double __fma_rn(double a, double b, double c) {
    return fma(a, b, c);
}
// "ieee": never flushed to zero, which nothing is here.
SIMT_INLINE float __fmaf_ieee_rn(float a, float b, float c) {
    return __fmaf_rn(a, b, c);
}
SIMT_INLINE float __fmaf_ieee_rz(float a, float b, float c) {
    return __fmaf_rz(a, b, c);
}
SIMT_INLINE float __fmaf_ieee_ru(float a, float b, float c) {
    return __fmaf_ru(a, b, c);
}
SIMT_INLINE float __fmaf_ieee_rd(float a, float b, float c) {
    return __fmaf_rd(a, b, c);
}

// glibc declares functions of these names: ours get others.
#define __expf simt_expf
#define __exp10f simt_exp10f
#define __logf simt_logf
#define __log2f simt_log2f
#define __log10f simt_log10f
#define __sinf simt_sinf
#define __cosf simt_cosf
#define __tanf simt_tanf
#define __powf simt_powf
#define __tanhf simt_tanhf
#define __sincosf simt_sincosf

// ex2.approx and lg2.approx are what the hardware has; the rest is built on them.
SIMT_INLINE float __expf(float x) {
    return exp2f(x * 1.4426950408889634f);
}
SIMT_INLINE float __exp10f(float x) {
    return exp2f(x * 3.3219280948873623f);
}
SIMT_INLINE float __log2f(float x) {
    return log2f(x);
}
SIMT_INLINE float __logf(float x) {
    return log2f(x) * 0.6931471805599453f;
}
SIMT_INLINE float __log10f(float x) {
    return log2f(x) * 0.3010299956639812f;
}
SIMT_INLINE float __powf(float x, float y) {
    return exp2f(y * log2f(x));
}
SIMT_INLINE float __sinf(float x) {
    return sinf(x);
}
SIMT_INLINE float __cosf(float x) {
    return cosf(x);
}
SIMT_INLINE float __tanf(float x) {
    return sinf(x) / cosf(x);
}
SIMT_INLINE void __sincosf(float x, float *s, float *c) {
    *s = sinf(x);
    *c = cosf(x);
}
SIMT_INLINE float __tanhf(float x) {
    return tanhf(x);
}
// The fast division multiplies by a reciprocal, which is 0 for a huge divisor.
SIMT_INLINE float __fdividef(float a, float b) {
    float size = __builtin_fabsf(b);
    if (size > 0x1p126f && size < __builtin_inff()) return a * 0.f;
    return a / b;
}
SIMT_INLINE float fdividef(float a, float b) {
    return a / b;
}
SIMT_INLINE float __saturatef(float x) {
    return x > 0 ? (x < 1 ? x : 1) : 0;
}
SIMT_INLINE float saturate(float x) {
    return __saturatef(x);
}

// Of two numbers the larger: a NaN loses against a number, and +0 wins against -0.
extern "C" {
extern inline __attribute__((always_inline, gnu_inline)) float fmaxf(float a, float b) noexcept {
    if (a == b) return simt::bits<float>(simt::bits<unsigned>(a) & simt::bits<unsigned>(b));
    return a > b || b != b ? a : b;
}
extern inline __attribute__((always_inline, gnu_inline)) float fminf(float a, float b) noexcept {
    if (a == b) return simt::bits<float>(simt::bits<unsigned>(a) | simt::bits<unsigned>(b));
    return a < b || b != b ? a : b;
}
}
