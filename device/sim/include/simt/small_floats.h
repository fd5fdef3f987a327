// small_floats.h - what half and bfloat16 have in common: rounding, and the
// operations that both types have under the same names.
#pragma once
#include "simt.h"

namespace simt {
// roundSmall rounds a double, exact or odd, to a 16-bit format with the given
// bits of fraction and smallest exponent. Every format ends at the same code.
template <int Fraction, int LowestExponent>
constexpr unsigned short roundSmall(double v, Rounding r) {
    constexpr unsigned infinity = (0x7fffu >> Fraction) << Fraction;
    uint64_t u = bits<uint64_t>(v);
    unsigned sign = (unsigned)(u >> 63) << 15;
    int exponent = (int)(u >> 52 & 0x7ff) - 1023;
    uint64_t significand = u & ((1ull << 52) - 1);
    if (exponent == 1024) return (unsigned short)(significand ? 0x7fff : sign | infinity);
    if (exponent == -1023)
        exponent = -1022;
    else
        significand |= 1ull << 52;
    int base = exponent < LowestExponent ? LowestExponent : exponent;
    int drop = base - Fraction - exponent + 52; // low bits that the format has no room for
    if (drop > 60) drop = 60;
    uint64_t kept = significand >> drop, rest = significand - (kept << drop),
             tie = 1ull << (drop - 1);
    bool away = r == Nearest    ? rest > tie || (rest == tie && (kept & 1))
                : r == Upward   ? rest && !sign
                : r == Downward ? rest && sign
                                : false;
    kept += away;
    // kept carries the leading 1 of a normal number, which raises the exponent.
    uint64_t code = kept + ((uint64_t)(base - LowestExponent) << Fraction);
    if (code >= infinity) {
        bool toInfinity = r == Nearest || (r == Upward && !sign) || (r == Downward && sign);
        code = toInfinity ? infinity : infinity - 1;
    }
    return (unsigned short)(sign | (unsigned)code);
}
} // namespace simt

// Conversions from every number, and to every number, implicit as CUDA has them.
#define SIMT_SMALL_FROM(H, T)                                                                      \
    constexpr __attribute__((always_inline)) H(T v)                                                \
        : code(round(simt::fromInteger(v), simt::Nearest)) {}
#define SIMT_SMALL_TO(T)                                                                           \
    __attribute__((always_inline)) operator T() const {                                            \
        return simt::toInteger<T>(__builtin_trunc((double)value()), (T)0);                         \
    }
#define SIMT_SMALL_CONVERSIONS(H)                                                                  \
    constexpr __attribute__((always_inline)) H(double v) : code(round(v, simt::Nearest)) {}        \
    SIMT_SMALL_FROM(H, short)                                                                      \
    SIMT_SMALL_FROM(H, unsigned short)                                                             \
    SIMT_SMALL_FROM(H, int)                                                                        \
    SIMT_SMALL_FROM(H, unsigned)                                                                   \
    SIMT_SMALL_FROM(H, long)                                                                       \
    SIMT_SMALL_FROM(H, unsigned long)                                                              \
    SIMT_SMALL_FROM(H, long long)                                                                  \
    SIMT_SMALL_FROM(H, unsigned long long)                                                         \
    constexpr __attribute__((always_inline)) operator float() const {                              \
        return value();                                                                            \
    }                                                                                              \
    constexpr __attribute__((always_inline)) operator bool() const {                               \
        return (code & 0x7fff) != 0;                                                               \
    }                                                                                              \
    SIMT_SMALL_TO(signed char)                                                                     \
    SIMT_SMALL_TO(unsigned char)                                                                   \
    SIMT_SMALL_TO(char)                                                                            \
    SIMT_SMALL_TO(short)                                                                           \
    SIMT_SMALL_TO(unsigned short)                                                                  \
    SIMT_SMALL_TO(int)                                                                             \
    SIMT_SMALL_TO(unsigned)                                                                        \
    SIMT_SMALL_TO(long)                                                                            \
    SIMT_SMALL_TO(unsigned long)                                                                   \
    SIMT_SMALL_TO(long long)                                                                       \
    SIMT_SMALL_TO(unsigned long long)

// One function of a half is also one of each half of a pair.
#define SIMT_SMALL_1(H, H2, name, name2, expression)                                               \
    SIMT_INLINE H name(H a) {                                                                      \
        return expression;                                                                         \
    }                                                                                              \
    SIMT_INLINE H2 name2(H2 a) {                                                                   \
        return H2(name(a.x), name(a.y));                                                           \
    }
#define SIMT_SMALL_2(H, H2, name, name2, expression)                                               \
    SIMT_INLINE H name(H a, H b) {                                                                 \
        return expression;                                                                         \
    }                                                                                              \
    SIMT_INLINE H2 name2(H2 a, H2 b) {                                                             \
        return H2(name(a.x, b.x), name(a.y, b.y));                                                 \
    }
#define SIMT_SMALL_3(H, H2, name, name2, expression)                                               \
    SIMT_INLINE H name(H a, H b, H c) {                                                            \
        return expression;                                                                         \
    }                                                                                              \
    SIMT_INLINE H2 name2(H2 a, H2 b, H2 c) {                                                       \
        return H2(name(a.x, b.x, c.x), name(a.y, b.y, c.y));                                       \
    }
#define SIMT_SMALL_MATH(H, H2, one, two, expression)                                               \
    SIMT_SMALL_1(H, H2, one, two, H((float)(expression)))

// A comparison: of numbers, of pairs into pairs of 1 and 0 or into masks, and of
// pairs as a whole; the u forms hold for a NaN, too.
#define SIMT_SMALL_COMPARE(H, H2, name, ordered, unordered)                                        \
    SIMT_SMALL_COMPARE1(H, H2, name, name, ordered)                                                \
    SIMT_SMALL_COMPARE1(H, H2, name, name##u, unordered)
#define SIMT_SMALL_COMPARE1(H, H2, base, name, expression)                                         \
    SIMT_INLINE bool __h##name(H a, H b) {                                                         \
        float x = a, y = b;                                                                        \
        return expression;                                                                         \
    }                                                                                              \
    SIMT_INLINE H2 __h##name##2(H2 a, H2 b) {                                                      \
        return H2(H(__h##name(a.x, b.x) ? 1.f : 0.f), H(__h##name(a.y, b.y) ? 1.f : 0.f));         \
    }                                                                                              \
    SIMT_INLINE unsigned __h##name##2_mask(H2 a, H2 b) {                                           \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);      \
    }                                                                                              \
    SIMT_INLINE bool __hb##name##2(H2 a, H2 b) {                                                   \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                         \
    }

#define SIMT_SMALL_OPERATOR(T, op, function)                                                       \
    SIMT_INLINE T operator op(const T &a, const T &b) {                                            \
        return function(a, b);                                                                     \
    }                                                                                              \
    SIMT_INLINE T &operator op##=(T &a, const T &b) {                                              \
        return a = function(a, b);                                                                 \
    }
#define SIMT_SMALL_RELATION(T, op, function)                                                       \
    SIMT_INLINE bool operator op(const T &a, const T &b) {                                         \
        return function(a, b);                                                                     \
    }
#define SIMT_SMALL_SIGNS(T, one, add, sub, negate)                                                 \
    SIMT_INLINE T operator+(const T &a) {                                                          \
        return a;                                                                                  \
    }                                                                                              \
    SIMT_INLINE T operator-(const T &a) {                                                          \
        return negate(a);                                                                          \
    }                                                                                              \
    SIMT_INLINE T &operator++(T &a) {                                                              \
        return a = add(a, one);                                                                    \
    }                                                                                              \
    SIMT_INLINE T &operator--(T &a) {                                                              \
        return a = sub(a, one);                                                                    \
    }                                                                                              \
    SIMT_INLINE T operator++(T &a, int) {                                                          \
        T old = a;                                                                                 \
        a = add(a, one);                                                                           \
        return old;                                                                                \
    }                                                                                              \
    SIMT_INLINE T operator--(T &a, int) {                                                          \
        T old = a;                                                                                 \
        a = sub(a, one);                                                                           \
        return old;                                                                                \
    }

// Integers to and from, in the four directions: the suffix's name is H's.
#define SIMT_SMALL_INTEGER(H, name, short_, T, suffix, direction)                                  \
    SIMT_INLINE H __##short_##2##name##_##suffix(T v) {                                            \
        return H::from(simt::fromInteger(v), direction);                                           \
    }
#define SIMT_SMALL_TO_INTEGER(H, name, short_, T, nan, suffix, direction)                          \
    SIMT_INLINE T __##name##2##short_##_##suffix(H v) {                                            \
        return simt::toInteger<T>(simt::integral((double)v.value(), direction), (T)(nan));         \
    }
#define SIMT_SMALL_DIRECTION(H, name, suffix, direction)                                           \
    SIMT_SMALL_INTEGER(H, name, int, int, suffix, direction)                                       \
    SIMT_SMALL_INTEGER(H, name, uint, unsigned, suffix, direction)                                 \
    SIMT_SMALL_INTEGER(H, name, short, short, suffix, direction)                                   \
    SIMT_SMALL_INTEGER(H, name, ushort, unsigned short, suffix, direction)                         \
    SIMT_SMALL_INTEGER(H, name, ll, long long, suffix, direction)                                  \
    SIMT_SMALL_INTEGER(H, name, ull, unsigned long long, suffix, direction)                        \
    SIMT_SMALL_TO_INTEGER(H, name, int, int, 0, suffix, direction)                                 \
    SIMT_SMALL_TO_INTEGER(H, name, uint, unsigned, 0, suffix, direction)                           \
    SIMT_SMALL_TO_INTEGER(H, name, short, short, 0, suffix, direction)                             \
    SIMT_SMALL_TO_INTEGER(H, name, ushort, unsigned short, 0, suffix, direction)                   \
    SIMT_SMALL_TO_INTEGER(H, name, ll, long long, 1ull << 63, suffix, direction)                   \
    SIMT_SMALL_TO_INTEGER(H, name, ull, unsigned long long, 1ull << 63, suffix, direction)

#define SIMT_SMALL_FLOAT(H, H2)                                                                    \
    SIMT_SMALL_OPERATIONS(H, H2)                                                                   \
    SIMT_SMALL_FUNCTIONS(H, H2)                                                                    \
    SIMT_SMALL_OPERATORS(H, H2)

// + of two such numbers is exact in double; products are, too; a quotient's 53
// bits are enough to be rounded once more without harm.
#define SIMT_SMALL_OPERATIONS(H, H2)                                                               \
    SIMT_SMALL_2(H, H2, __hadd, __hadd2, H::sum(a, b))                                             \
    SIMT_SMALL_2(H, H2, __hsub, __hsub2, H::sum(a, __hneg(b)))                                     \
    SIMT_SMALL_2(H, H2, __hmul, __hmul2, H::product(a, b))                                         \
    SIMT_SMALL_2(H, H2, __hadd_rn, __hadd2_rn, H::sum(a, b))                                       \
    SIMT_SMALL_2(H, H2, __hsub_rn, __hsub2_rn, H::sum(a, __hneg(b)))                               \
    SIMT_SMALL_2(H, H2, __hmul_rn, __hmul2_rn, H::product(a, b))                                   \
    SIMT_SMALL_2(H, H2, __hdiv, __h2div, H::from((double)a.value() / (double)b.value()))           \
    SIMT_SMALL_3(H, H2, __hfma, __hfma2, H::from(simt_fma(a.value(), b.value(), c.value())))       \
    SIMT_SMALL_1(H, H2, simt_saturate, simt_saturate2, H(__saturatef(a.value())))                  \
    SIMT_SMALL_2(H, H2, __hadd_sat, __hadd2_sat, simt_saturate(__hadd(a, b)))                      \
    SIMT_SMALL_2(H, H2, __hsub_sat, __hsub2_sat, simt_saturate(__hsub(a, b)))                      \
    SIMT_SMALL_2(H, H2, __hmul_sat, __hmul2_sat, simt_saturate(__hmul(a, b)))                      \
    SIMT_SMALL_3(H, H2, __hfma_sat, __hfma2_sat, simt_saturate(__hfma(a, b, c)))                   \
    SIMT_SMALL_2(H, H2, __hmax, __hmax2, H(fmaxf(a.value(), b.value())))                           \
    SIMT_SMALL_2(H, H2, __hmin, __hmin2, H(fminf(a.value(), b.value())))                           \
    SIMT_SMALL_2(H, H2, __hmax_nan, __hmax2_nan,                                                   \
                 __hisnan(a) || __hisnan(b) ? H::of(0x7fff) : __hmax(a, b))                        \
    SIMT_SMALL_2(H, H2, __hmin_nan, __hmin2_nan,                                                   \
                 __hisnan(a) || __hisnan(b) ? H::of(0x7fff) : __hmin(a, b))                        \
    SIMT_SMALL_3(H, H2, __hfma_relu, __hfma2_relu, __hmax_nan(__hfma(a, b, c), H::of(0)))          \
    SIMT_SMALL_COMPARE(H, H2, eq, x == y, !(x < y || x > y))                                       \
    SIMT_SMALL_COMPARE(H, H2, ne, x<y || x> y, x != y)                                             \
    SIMT_SMALL_COMPARE(H, H2, lt, x < y, !(x >= y))                                                \
    SIMT_SMALL_COMPARE(H, H2, le, x <= y, !(x > y))                                                \
    SIMT_SMALL_COMPARE(H, H2, gt, x > y, !(x <= y))                                                \
    SIMT_SMALL_COMPARE(H, H2, ge, x >= y, !(x < y))

// A pair as a complex number: a · b + c, in CUDA's order.
#define SIMT_SMALL_COMPLEX(H, H2)                                                                  \
    SIMT_INLINE H2 __hcmadd(H2 a, H2 b, H2 c) {                                                    \
        return H2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),                                 \
                  __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));                                        \
    }

#define SIMT_SMALL_FUNCTIONS(H, H2)                                                                \
    SIMT_SMALL_MATH(H, H2, hexp, h2exp, expf(a))                                                   \
    SIMT_SMALL_MATH(H, H2, hexp2, h2exp2, exp2f(a))                                                \
    SIMT_SMALL_MATH(H, H2, hexp10, h2exp10, exp10f(a))                                             \
    SIMT_SMALL_MATH(H, H2, hlog, h2log, logf(a))                                                   \
    SIMT_SMALL_MATH(H, H2, hlog2, h2log2, log2f(a))                                                \
    SIMT_SMALL_MATH(H, H2, hlog10, h2log10, log10f(a))                                             \
    SIMT_SMALL_MATH(H, H2, hsqrt, h2sqrt, sqrtf(a))                                                \
    SIMT_SMALL_MATH(H, H2, hrsqrt, h2rsqrt, 1 / sqrt((double)(float)a))                            \
    SIMT_SMALL_MATH(H, H2, hrcp, h2rcp, 1.f / a.value())                                           \
    SIMT_SMALL_MATH(H, H2, hsin, h2sin, sinf(a))                                                   \
    SIMT_SMALL_MATH(H, H2, hcos, h2cos, cosf(a))                                                   \
    SIMT_SMALL_MATH(H, H2, htanh, h2tanh, tanhf(a))                                                \
    SIMT_SMALL_MATH(H, H2, htanh_approx, h2tanh_approx, tanhf(a))                                  \
    SIMT_SMALL_MATH(H, H2, hceil, h2ceil, ceilf(a))                                                \
    SIMT_SMALL_MATH(H, H2, hfloor, h2floor, floorf(a))                                             \
    SIMT_SMALL_MATH(H, H2, htrunc, h2trunc, truncf(a))                                             \
    SIMT_SMALL_MATH(H, H2, hrint, h2rint, rintf(a))

#define SIMT_SMALL_OPERATORS(H, H2)                                                                \
    SIMT_SMALL_OPERATOR(H, +, __hadd)                                                              \
    SIMT_SMALL_OPERATOR(H, -, __hsub)                                                              \
    SIMT_SMALL_OPERATOR(H, *, __hmul)                                                              \
    SIMT_SMALL_OPERATOR(H, /, __hdiv)                                                              \
    SIMT_SMALL_OPERATOR(H2, +, __hadd2)                                                            \
    SIMT_SMALL_OPERATOR(H2, -, __hsub2)                                                            \
    SIMT_SMALL_OPERATOR(H2, *, __hmul2)                                                            \
    SIMT_SMALL_OPERATOR(H2, /, __h2div)                                                            \
    SIMT_SMALL_SIGNS(H, H(1.f), __hadd, __hsub, __hneg)                                            \
    SIMT_SMALL_SIGNS(H2, H2(H(1.f), H(1.f)), __hadd2, __hsub2, __hneg2)                            \
    SIMT_SMALL_RELATION(H, ==, __heq)                                                              \
    SIMT_SMALL_RELATION(H, !=, __hneu)                                                             \
    SIMT_SMALL_RELATION(H, <, __hlt)                                                               \
    SIMT_SMALL_RELATION(H, <=, __hle)                                                              \
    SIMT_SMALL_RELATION(H, >, __hgt)                                                               \
    SIMT_SMALL_RELATION(H, >=, __hge)                                                              \
    SIMT_SMALL_RELATION(H2, ==, __hbeq2)                                                           \
    SIMT_SMALL_RELATION(H2, !=, __hbneu2)                                                          \
    SIMT_SMALL_RELATION(H2, <, __hblt2)                                                            \
    SIMT_SMALL_RELATION(H2, <=, __hble2)                                                           \
    SIMT_SMALL_RELATION(H2, >, __hbgt2)                                                            \
    SIMT_SMALL_RELATION(H2, >=, __hbge2)
