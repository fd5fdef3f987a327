// functions.h - the mathematical functions that CUDA has and C++ has not.
// Those of float go through double, and are rounded once.
#pragma once

namespace simt {
constexpr double pi = 3.14159265358979323846, twoByRootPi = 1.12837916709551257390;

// Newton's method on erf, from an approximation good to some thousandths.
SIMT_UNSEEN static double inverseErf(double x) {
    if (!(x > -1 && x < 1)) return x == 1 || x == -1 ? x * __builtin_inf() : __builtin_nan("");
    if (x == 0) return x;
    double ln = log1p(-x * x), a = 2 / (pi * 0.147) + ln / 2;
    double y = sqrt(sqrt(a * a - ln / 0.147) - a);
    double size = fabs(x);
    for (int i = 0; i < 4; i++) y -= (erf(y) - size) / (twoByRootPi * exp(-y * y));
    return copysign(y, x);
}

// For small arguments the logarithm of erfc is nearly a parabola: Newton there.
SIMT_UNSEEN static double inverseErfc(double y) {
    if (!(y >= 0 && y <= 2)) return __builtin_nan("");
    if (y == 0) return __builtin_inf();
    if (y > 0.0625) return inverseErf(1 - y);
    double wanted = log(y), t = sqrt(-wanted);
    for (int i = 0; i < 8; i++) {
        double now = erfc(t);
        t += (log(now) - wanted) * now / (twoByRootPi * exp(-t * t));
    }
    return t;
}

// exp(x*x) * erfc(x)
SIMT_UNSEEN static double scaledErfc(double x) {
    if (x < 25) return exp(x * x) * erfc(x);
    double s = 1 / (x * x);
    return twoByRootPi / 2 / x * (1 - s / 2 * (1 - s * 1.5));
}

SIMT_UNSEEN static double sineOfPi(double x) {
    double r = x - 2 * __builtin_rint(x / 2); // in [-1, 1], exactly
    if (r == __builtin_rint(r)) return copysign(0., x);
    if (fabs(r) > 0.5) r = copysign(1., r) - r;
    return sin(pi * r);
}
SIMT_UNSEEN static double cosineOfPi(double x) {
    double r = fabs(x - 2 * __builtin_rint(x / 2));
    if (r == 0.5) return 0;
    return r < 0.25 ? cos(pi * r) : sin(pi * (0.5 - r));
}

// The modified Bessel functions of order 0 and 1: the series of (x/2)^(2k+n) / (k! (k+n)!).
SIMT_UNSEEN static double besselI(int n, double x) {
    double half = x / 2, term = n ? half : 1, sum = term;
    if (fabs(x) > 714) return n && x < 0 ? -__builtin_inf() : __builtin_inf();
    for (int k = 1; k < 2000 && fabs(term) > fabs(sum) * 1e-17; k++) {
        term *= half / k * (half / (k + n));
        sum += term;
    }
    return sum;
}
} // namespace simt

// A double function, and its float twin, rounded once.
#define SIMT_FUNCTION(name, expression)                                                            \
    SIMT_UNSEEN static double name(double x) {                                                     \
        return expression;                                                                         \
    }                                                                                              \
    SIMT_UNSEEN static float name##f(float argument) {                                             \
        double x = argument;                                                                       \
        return (float)(expression);                                                                \
    }
SIMT_FUNCTION(rcbrt, 1 / cbrt(x))
SIMT_FUNCTION(sinpi, simt::sineOfPi(x))
SIMT_FUNCTION(cospi, simt::cosineOfPi(x))
SIMT_FUNCTION(cyl_bessel_i0, simt::besselI(0, x))
SIMT_FUNCTION(cyl_bessel_i1, simt::besselI(1, x))
SIMT_FUNCTION(erfinv, simt::inverseErf(x))
SIMT_FUNCTION(erfcinv, simt::inverseErfc(x))
SIMT_FUNCTION(erfcx, simt::scaledErfc(x))
SIMT_FUNCTION(normcdf, 0.5 * erfc(-x * 0.70710678118654752440))
SIMT_FUNCTION(normcdfinv, -1.41421356237309504880 * simt::inverseErfc(2 * x))

SIMT_INLINE float rsqrtf(float x) {
    return 1.f / sqrtf(x);
}
SIMT_INLINE double rsqrt(double x) {
    return 1. / sqrt(x);
}
SIMT_INLINE float rsqrt(float x) {
    return rsqrtf(x);
}
SIMT_INLINE void sincospif(float x, float *s, float *c) {
    *s = sinpif(x);
    *c = cospif(x);
}
SIMT_INLINE void sincospi(double x, double *s, double *c) {
    *s = sinpi(x);
    *c = cospi(x);
}

SIMT_INLINE double norm3d(double a, double b, double c) {
    return hypot(hypot(a, b), c);
}
SIMT_INLINE double norm4d(double a, double b, double c, double d) {
    return hypot(hypot(a, b), hypot(c, d));
}
SIMT_INLINE double rnorm3d(double a, double b, double c) {
    return 1 / norm3d(a, b, c);
}
SIMT_INLINE double rnorm4d(double a, double b, double c, double d) {
    return 1 / norm4d(a, b, c, d);
}
SIMT_INLINE double norm(int n, const double *v) {
    double all = 0;
    for (int i = 0; i < n; i++) all = hypot(all, v[i]);
    return all;
}
SIMT_INLINE double rnorm(int n, const double *v) {
    return 1 / norm(n, v);
}
SIMT_INLINE double rhypot(double a, double b) {
    return 1 / hypot(a, b);
}
SIMT_INLINE float norm3df(float a, float b, float c) {
    return (float)sqrt((double)a * a + (double)b * b + (double)c * c);
}
SIMT_INLINE float norm4df(float a, float b, float c, float d) {
    return (float)sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d);
}
SIMT_INLINE float rnorm3df(float a, float b, float c) {
    return (float)(1 / sqrt((double)a * a + (double)b * b + (double)c * c));
}
SIMT_INLINE float rnorm4df(float a, float b, float c, float d) {
    return (float)(1 / sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d));
}
SIMT_INLINE float rhypotf(float a, float b) {
    return (float)(1 / sqrt((double)a * a + (double)b * b));
}
SIMT_INLINE float normf(int n, const float *v) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)v[i] * v[i];
    return (float)sqrt(sum);
}
SIMT_INLINE float rnormf(int n, const float *v) {
    return 1 / normf(n, v);
}
