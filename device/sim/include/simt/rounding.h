// rounding.h - exact arithmetic on floats, rounded once, in any of IEEE's
// directions. A result is first computed in double and 'rounded to odd': an
// inexact one gets an odd last bit, so that the next rounding sees on which side
// of a tie the true value lies.
#pragma once

// a · b + c, odd: in the runtime, so that it counts as the two operations it is.
extern "C" double simt_fma(float a, float b, float c);

namespace simt {
// In a namespace without functions: it is a parameter of what kernels may name, and a call finds
// the functions of the namespaces that its arguments' types are from.
namespace types {
enum Rounding { Nearest, TowardZero, Upward, Downward };
} // namespace types
using namespace types;

template <class To, class From> SIMT_INLINE constexpr To bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
    return __builtin_bit_cast(To, from);
}

constexpr bool finite(double v) {
    return v - v == 0;
}

// odd: value is the true result but for an error of the given sign.
constexpr double odd(double value, double error) {
    uint64_t u = bits<uint64_t>(value);
    if (error == 0 || !finite(value) || !finite(error) || (u & 1)) return value;
    return bits<double>((error > 0) == (value > 0) ? u + 1 : u - 1);
}

constexpr double addOdd(double a, double b) {
    double sum = a + b, fromB = sum - a;
    return odd(sum, (a - (sum - fromB)) + (b - fromB));
}
SIMT_UNSEEN static double divideOdd(double a, double b) {
    double q = a / b, rest = __builtin_fma(-q, b, a);
    return odd(q, b > 0 ? rest : -rest);
}
SIMT_UNSEEN static double rootOdd(double a) {
    double root = __builtin_sqrt(a);
    return odd(root, __builtin_fma(-root, root, a));
}

constexpr float nextUp(float v) {
    uint32_t u = bits<uint32_t>(v);
    return v == 0 ? bits<float>(1u) : bits<float>(v > 0 ? u + 1 : u - 1);
}

// toFloat rounds a double, exact or odd.
constexpr float toFloat(double v, Rounding r) {
    float f = (float)v;
    if (r == Nearest || f != f) return f;
    if (f < v && (r == Upward || (r == TowardZero && v < 0))) return nextUp(f);
    if (f > v && (r == Downward || (r == TowardZero && v > 0))) return -nextUp(-f);
    return f;
}

// integral rounds to a whole number.
SIMT_INLINE double integral(double v, Rounding r) {
    switch (r) {
    case TowardZero:
        return __builtin_trunc(v);
    case Upward:
        return __builtin_ceil(v);
    case Downward:
        return __builtin_floor(v);
    default:
        return __builtin_rint(v);
    }
}

// toInteger converts as the GPU does: what lies outside becomes the nearest
// integer there is. NaN becomes what the caller says.
template <class I> SIMT_INLINE I toInteger(double whole, I nan) {
    constexpr I lowest = (I)-1 < 0 ? (I)((I)1 << (8 * sizeof(I) - 1)) : 0, highest = ~lowest;
    constexpr double beyond = 2. * (double)((uint64_t)1 << (8 * sizeof(I) - ((I)-1 < 0 ? 2 : 1)));
    if (whole != whole) return nan;
    if (whole >= beyond) return highest;
    if (whole <= (double)lowest) return lowest;
    return (I)whole;
}

// fromInteger: the odd double of any integer.
template <class I> SIMT_INLINE constexpr double fromInteger(I i) {
    if constexpr (sizeof(I) <= 4) return (double)i;
    double high = (double)(I)(i >> 32) * 4294967296., low = (double)(uint32_t)i;
    return addOdd(high, low);
}
} // namespace simt
