// packed.h - SIMD within a word: four bytes, or two shorts, each for itself.
#pragma once

namespace simt {
// lanesOf does f to each of the N parts of two words; T says what a part holds.
template <int N, class T, class F> SIMT_INLINE unsigned lanesOf(unsigned a, unsigned b, F f) {
    constexpr int bits = 32 / N;
    constexpr unsigned part = (unsigned)((1ull << bits) - 1);
    unsigned r = 0;
    for (int i = 0; i < 32; i += bits) r |= ((unsigned)f((T)(a >> i), (T)(b >> i)) & part) << i;
    return r;
}
template <int N, class T, class F> SIMT_INLINE unsigned sumOf(unsigned a, unsigned b, F f) {
    unsigned r = 0;
    for (int i = 0; i < 32; i += 32 / N) r += (unsigned)f((T)(a >> i), (T)(b >> i));
    return r;
}
SIMT_INLINE int clampTo(int v, int low, int high) {
    return v < low ? low : v > high ? high : v;
}
} // namespace simt

#define SIMT_PACKED(name, N, T, expression)                                                        \
    SIMT_INLINE unsigned name##N(unsigned a, unsigned b) {                                         \
        return simt::lanesOf<N, T>(a, b, [](int x, int y) { return (int)(expression); });          \
    }
#define SIMT_PACKED_1(name, N, T, expression)                                                      \
    SIMT_INLINE unsigned name##N(unsigned a) {                                                     \
        return simt::lanesOf<N, T>(a, 0, [](int x, int) { return (int)(expression); });            \
    }
// A comparison: a mask of ones, or a 1.
#define SIMT_PACKED_COMPARE(name, N, T, expression)                                                \
    SIMT_PACKED(__vcmp##name, N, T, (expression) ? -1 : 0)                                         \
    SIMT_PACKED(__vset##name, N, T, (expression) ? 1 : 0)
#define SIMT_PACKED_ALL(N, S, U, low, high, top)                                                   \
    SIMT_PACKED_1(__vabs, N, S, x < 0 ? -x : x)                                                    \
    SIMT_PACKED_1(__vabsss, N, S, x == low ? high : x < 0 ? -x : x)                                \
    SIMT_PACKED_1(__vneg, N, S, -x)                                                                \
    SIMT_PACKED_1(__vnegss, N, S, x == low ? high : -x)                                            \
    SIMT_PACKED(__vadd, N, U, x + y)                                                               \
    SIMT_PACKED(__vaddss, N, S, simt::clampTo(x + y, low, high))                                   \
    SIMT_PACKED(__vaddus, N, U, simt::clampTo(x + y, 0, top))                                      \
    SIMT_PACKED(__vsub, N, U, x - y)                                                               \
    SIMT_PACKED(__vsubss, N, S, simt::clampTo(x - y, low, high))                                   \
    SIMT_PACKED(__vsubus, N, U, simt::clampTo(x - y, 0, top))                                      \
    SIMT_PACKED(__vavgs, N, S, (x + y + (x + y >= 0)) >> 1)                                        \
    SIMT_PACKED(__vavgu, N, U, (x + y + 1) >> 1)                                                   \
    SIMT_PACKED(__vhaddu, N, U, (x + y) >> 1)                                                      \
    SIMT_PACKED(__vabsdiffs, N, S, x > y ? x - y : y - x)                                          \
    SIMT_PACKED(__vabsdiffu, N, U, x > y ? x - y : y - x)                                          \
    SIMT_PACKED(__vmaxs, N, S, x > y ? x : y)                                                      \
    SIMT_PACKED(__vmaxu, N, U, x > y ? x : y)                                                      \
    SIMT_PACKED(__vmins, N, S, x < y ? x : y)                                                      \
    SIMT_PACKED(__vminu, N, U, x < y ? x : y)                                                      \
    SIMT_PACKED_COMPARE(eq, N, U, x == y)                                                          \
    SIMT_PACKED_COMPARE(ne, N, U, x != y)                                                          \
    SIMT_PACKED_COMPARE(ges, N, S, x >= y)                                                         \
    SIMT_PACKED_COMPARE(geu, N, U, x >= y)                                                         \
    SIMT_PACKED_COMPARE(gts, N, S, x > y)                                                          \
    SIMT_PACKED_COMPARE(gtu, N, U, x > y)                                                          \
    SIMT_PACKED_COMPARE(les, N, S, x <= y)                                                         \
    SIMT_PACKED_COMPARE(leu, N, U, x <= y)                                                         \
    SIMT_PACKED_COMPARE(lts, N, S, x < y)                                                          \
    SIMT_PACKED_COMPARE(ltu, N, U, x < y)                                                          \
    SIMT_INLINE unsigned __vsads##N(unsigned a, unsigned b) {                                      \
        return simt::sumOf<N, S>(a, b, [](int x, int y) { return x > y ? x - y : y - x; });        \
    }                                                                                              \
    SIMT_INLINE unsigned __vsadu##N(unsigned a, unsigned b) {                                      \
        return simt::sumOf<N, U>(a, b, [](int x, int y) { return x > y ? x - y : y - x; });        \
    }
SIMT_PACKED_ALL(4, signed char, unsigned char, -128, 127, 255)
SIMT_PACKED_ALL(2, short, unsigned short, -32768, 32767, 65535)
