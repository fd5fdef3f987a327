// dpx.h - CUDA's functions for dynamic programming: the larger or smaller of two or three, of
// sums, and with the choice told; of 32 bits and of two halves of 16.
#pragma once

namespace simt {
template <class T> constexpr T larger(T a, T b) {
    return a > b ? a : b;
}
template <class T> constexpr T smaller(T a, T b) {
    return a < b ? a : b;
}
// halvesOf does f to the two halves of three words.
template <class T, class F> SIMT_INLINE unsigned halvesOf(unsigned a, unsigned b, unsigned c, F f) {
    unsigned low = (unsigned short)f((T)a, (T)b, (T)c);
    return low | (unsigned)(unsigned short)f((T)(a >> 16), (T)(b >> 16), (T)(c >> 16)) << 16;
}
} // namespace simt

// Of words, and of halves; T is what a half holds. Sums wrap.
#define SIMT_DPX_3(name, W, w, T, t, expression)                                                   \
    SIMT_INLINE W name##w(W a, W b, W c) {                                                         \
        typedef W V;                                                                               \
        (void)sizeof(V);                                                                           \
        return (W)(expression);                                                                    \
    }                                                                                              \
    SIMT_INLINE unsigned name##t(unsigned x, unsigned y, unsigned z) {                             \
        return simt::halvesOf<T>(x, y, z, [](T a, T b, T c) {                                      \
            typedef T V;                                                                           \
            (void)sizeof(V);                                                                       \
            return (T)(expression);                                                                \
        });                                                                                        \
    }
#define SIMT_DPX_BOTH(name, expression)                                                            \
    SIMT_DPX_3(name, int, _s32, short, _s16x2, expression)                                         \
    SIMT_DPX_3(name, unsigned, _u32, unsigned short, _u16x2, expression)
#define SIMT_DPX_RELU(name, expression)                                                            \
    SIMT_DPX_3(name, int, _s32_relu, short, _s16x2_relu, simt::larger((V)(expression), (V)0))
// a + b may lie outside of an int: unsigned arithmetic wraps.
#define SIMT_DPX_SUM ((V)((unsigned)a + (unsigned)b))
SIMT_DPX_BOTH(__vimax3, simt::larger(simt::larger(a, b), c))
SIMT_DPX_BOTH(__vimin3, simt::smaller(simt::smaller(a, b), c))
SIMT_DPX_BOTH(__viaddmax, simt::larger(SIMT_DPX_SUM, c))
SIMT_DPX_BOTH(__viaddmin, simt::smaller(SIMT_DPX_SUM, c))
SIMT_DPX_RELU(__vimax3, simt::larger(simt::larger(a, b), c))
SIMT_DPX_RELU(__vimin3, simt::smaller(simt::smaller(a, b), c))
SIMT_DPX_RELU(__viaddmax, simt::larger(SIMT_DPX_SUM, c))
SIMT_DPX_RELU(__viaddmin, simt::smaller(SIMT_DPX_SUM, c))

SIMT_INLINE int __vimax_s32_relu(int a, int b) {
    return __vimax3_s32(a, b, 0);
}
SIMT_INLINE int __vimin_s32_relu(int a, int b) {
    return simt::larger(simt::smaller(a, b), 0);
}
SIMT_INLINE unsigned __vimax_s16x2_relu(unsigned a, unsigned b) {
    return __vimax3_s16x2(a, b, 0);
}
SIMT_INLINE unsigned __vimin_s16x2_relu(unsigned a, unsigned b) {
    return __vimin3_s16x2_relu(a, b, b);
}

// Which of the two it was: the first counts where they are equal.
#define SIMT_DPX_CHOICE(name, W, w, T, t, sign)                                                    \
    SIMT_INLINE W name##w(W a, W b, bool *first) {                                                 \
        *first = a sign b;                                                                         \
        return *first ? a : b;                                                                     \
    }                                                                                              \
    SIMT_INLINE unsigned name##t(unsigned a, unsigned b, bool *high, bool *low) {                  \
        *high = (T)(a >> 16) sign(T)(b >> 16);                                                     \
        *low = (T)a sign(T) b;                                                                     \
        return ((*high ? a : b) & 0xffff0000u) | ((*low ? a : b) & 0xffffu);                       \
    }
SIMT_DPX_CHOICE(__vibmax, int, _s32, short, _s16x2, >=)
SIMT_DPX_CHOICE(__vibmax, unsigned, _u32, unsigned short, _u16x2, >=)
SIMT_DPX_CHOICE(__vibmin, int, _s32, short, _s16x2, <=)
SIMT_DPX_CHOICE(__vibmin, unsigned, _u32, unsigned short, _u16x2, <=)
