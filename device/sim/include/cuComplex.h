// cuComplex.h - complex numbers as pairs.
#pragma once
#include "simt.h"

typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

// Division scales by the divisor's size first, as CUDA's does, so that nothing overflows
// on the way.
#define SIMT_COMPLEX(C, E, root, size, real, imag, conj, add, sub, mul, div, abs_, fma_)           \
    SIMT_INLINE E real(C x) {                                                                      \
        return x.x;                                                                                \
    }                                                                                              \
    SIMT_INLINE E imag(C x) {                                                                      \
        return x.y;                                                                                \
    }                                                                                              \
    SIMT_INLINE C conj(C x) {                                                                      \
        return C(x.x, -x.y);                                                                       \
    }                                                                                              \
    SIMT_INLINE C add(C a, C b) {                                                                  \
        return C(a.x + b.x, a.y + b.y);                                                            \
    }                                                                                              \
    SIMT_INLINE C sub(C a, C b) {                                                                  \
        return C(a.x - b.x, a.y - b.y);                                                            \
    }                                                                                              \
    SIMT_INLINE C mul(C a, C b) {                                                                  \
        return C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                    \
    }                                                                                              \
    SIMT_INLINE C div(C a, C b) {                                                                  \
        E s = size(b.x) + size(b.y), o = 1 / s;                                                    \
        E ar = a.x * o, ai = a.y * o, br = b.x * o, bi = b.y * o;                                  \
        E t = 1 / (br * br + bi * bi);                                                             \
        return C((ar * br + ai * bi) * t, (ai * br - ar * bi) * t);                                \
    }                                                                                              \
    SIMT_INLINE E abs_(C x) {                                                                      \
        E a = size(x.x), b = size(x.y), v = a > b ? a : b, w = a > b ? b : a;                      \
        if (v == 0 || v > (sizeof(E) == 4 ? (E)3.402823466e38f : (E)1.79769313486231570e+308) ||   \
            w > v)                                                                                 \
            return v + w;                                                                          \
        E t = w / v;                                                                               \
        return v * root(1 + t * t);                                                                \
    }                                                                                              \
    SIMT_INLINE C fma_(C a, C b, C c) {                                                            \
        E r = a.x * b.x + c.x, i = a.x * b.y + c.y;                                                \
        return C(r - a.y * b.y, i + a.y * b.x);                                                    \
    }
SIMT_COMPLEX(cuFloatComplex, float, sqrtf, fabsf, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf,
             cuCmulf, cuCdivf, cuCabsf, cuCfmaf)
SIMT_COMPLEX(cuDoubleComplex, double, sqrt, fabs, cuCreal, cuCimag, cuConj, cuCadd, cuCsub, cuCmul,
             cuCdiv, cuCabs, cuCfma)
#undef SIMT_COMPLEX

SIMT_INLINE cuFloatComplex make_cuFloatComplex(float r, float i) {
    return float2(r, i);
}
SIMT_INLINE cuDoubleComplex make_cuDoubleComplex(double r, double i) {
    return double2(r, i);
}
SIMT_INLINE cuComplex make_cuComplex(float r, float i) {
    return float2(r, i);
}
SIMT_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex c) {
    return double2(c.x, c.y);
}
SIMT_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex c) {
    return float2((float)c.x, (float)c.y);
}
