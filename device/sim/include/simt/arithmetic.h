// arithmetic.h - CUDA's mathematical functions. The fast ones are computed as
// the GPU does, so that verdicts do not depend on the host's libm.
#pragma once

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

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")

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

SIMT_INLINE float __fdividef(float a, float b) {
    return a / b;
}
SIMT_INLINE float __frcp_rn(float a) {
    return 1.f / a;
}
SIMT_INLINE float __fsqrt_rn(float a) {
    return sqrtf(a);
}
SIMT_INLINE float __frsqrt_rn(float a) {
    return 1.f / sqrtf(a);
}
SIMT_INLINE float __fmaf_rn(float a, float b, float c) {
    return fmaf(a, b, c);
}
SIMT_INLINE float __fadd_rn(float a, float b) {
    return a + b;
}
SIMT_INLINE float __fsub_rn(float a, float b) {
    return a - b;
}
SIMT_INLINE float __fmul_rn(float a, float b) {
    return a * b;
}
SIMT_INLINE float __fdiv_rn(float a, float b) {
    return a / b;
}
SIMT_INLINE float rsqrtf(float x) {
    return 1.f / sqrtf(x);
}
SIMT_INLINE double rsqrt(double x) {
    return 1. / sqrt(x);
}
SIMT_INLINE float __saturatef(float x) {
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

SIMT_INLINE int __popc(unsigned x) {
    return __builtin_popcount(x);
}
SIMT_INLINE int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
SIMT_INLINE int __clz(int x) {
    return x ? __builtin_clz((unsigned)x) : 32;
}
SIMT_INLINE int __ffs(int x) {
    return __builtin_ffs(x);
}
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}

namespace simt {
template <class To, class From> SIMT_INLINE To bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace simt
SIMT_INLINE int __float_as_int(float f) {
    return simt::bits<int>(f);
}
SIMT_INLINE unsigned __float_as_uint(float f) {
    return simt::bits<unsigned>(f);
}
SIMT_INLINE float __int_as_float(int i) {
    return simt::bits<float>(i);
}
SIMT_INLINE float __uint_as_float(unsigned i) {
    return simt::bits<float>(i);
}
SIMT_INLINE int __float2int_rn(float f) {
    return (int)rintf(f);
}
SIMT_INLINE int __float2int_rz(float f) {
    return (int)f;
}
SIMT_INLINE int __float2int_rd(float f) {
    return (int)floorf(f);
}
SIMT_INLINE float __int2float_rn(int i) {
    return (float)i;
}

#define SIMT_MINMAX(A, B, R)                                                                       \
    SIMT_INLINE R min(A a, B b) {                                                                  \
        return (R)a < (R)b ? (R)a : (R)b;                                                          \
    }                                                                                              \
    SIMT_INLINE R max(A a, B b) {                                                                  \
        return (R)a > (R)b ? (R)a : (R)b;                                                          \
    }
SIMT_MINMAX(int, int, int)
SIMT_MINMAX(unsigned, unsigned, unsigned)
SIMT_MINMAX(int, unsigned, unsigned)
SIMT_MINMAX(unsigned, int, unsigned)
SIMT_MINMAX(long, long, long)
SIMT_MINMAX(long, int, long)
SIMT_MINMAX(int, long, long)
SIMT_MINMAX(unsigned long, unsigned long, unsigned long)
SIMT_MINMAX(unsigned long, int, unsigned long)
SIMT_MINMAX(int, unsigned long, unsigned long)
SIMT_MINMAX(long long, long long, long long)
SIMT_MINMAX(unsigned long long, unsigned long long, unsigned long long)
// Floating point: a NaN loses, as on the GPU.
SIMT_INLINE float min(float a, float b) {
    return fminf(a, b);
}
SIMT_INLINE float max(float a, float b) {
    return fmaxf(a, b);
}
SIMT_INLINE double min(double a, double b) {
    return fmin(a, b);
}
SIMT_INLINE double max(double a, double b) {
    return fmax(a, b);
}
SIMT_INLINE double min(double a, float b) {
    return fmin(a, (double)b);
}
SIMT_INLINE double max(double a, float b) {
    return fmax(a, (double)b);
}
SIMT_INLINE double min(float a, double b) {
    return fmin((double)a, b);
}
SIMT_INLINE double max(float a, double b) {
    return fmax((double)a, b);
}

// Loads and stores with cache hints.
template <class T> SIMT_INLINE T __ldg(const T *p) {
    return *p;
}
template <class T> SIMT_INLINE T __ldcs(const T *p) {
    return *p;
}
template <class T> SIMT_INLINE T __ldcg(const T *p) {
    return *p;
}
template <class T, class V> SIMT_INLINE void __stcs(T *p, V v) {
    *p = v;
}
template <class T, class V> SIMT_INLINE void __stcg(T *p, V v) {
    *p = v;
}

extern "C" {
int simt_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void simt_trap(const char *what, int line);
long long simt_clock();
}
#define printf simt_printf
#undef assert
#define assert(e) ((e) ? (void)0 : simt_trap("assertion failed: " #e, __LINE__))
SIMT_INLINE void __trap(int line = __builtin_LINE()) {
    simt_trap("__trap()", line);
}
SIMT_INLINE long long clock64() {
    return simt_clock();
}
