// warp.h - operations that the lanes of a warp do together.
#pragma once

extern "C" {
// Waits for all lanes of the mask, then does one of the kinds below.
void simt_warp(unsigned mask, int kind, const void *in, void *out, int size, int source, int line);
unsigned simt_lane();
unsigned simt_alive();  // the lanes that have not returned
unsigned simt_active(); // those at this very place
}

namespace simt {
enum { SyncWarp = 1, Shuffle, Ballot, Match, Together };

// Gathering is what a lane brings to a meeting of kind Together: the last lane
// to arrive calls work once, with every lane's `mine`, null for those that take
// no part. Where all32 names the operation, a missing lane stops the kernel.
// runtime/collective.cpp knows this layout.
struct Gathering {
    void (*work)(void *const *lanes);
    void *mine;
    const char *all32;
};
SIMT_INLINE void simt_together(unsigned mask, const Gathering &g, int line) {
    simt_warp(mask, Together, &g, nullptr, 0, 0, line);
}

// shuffleAny is for the cooperative groups, which shuffle structs as well.
template <class T> SIMT_INLINE T shuffleAny(unsigned mask, T v, int source, int line) {
    T r;
    simt_warp(mask, Shuffle, &v, &r, sizeof(T), source, line);
    return r;
}
template <class T> SIMT_INLINE T shuffle(unsigned mask, T v, int source, int line) {
    static_assert(sizeof(T) <= 4 || std::is_arithmetic_v<T>,
                  "CUDA shuffles numbers and half2: shuffle a vector's members one by one");
    return shuffleAny(mask, v, source, line);
}

template <class T> struct Reduction {
    T in, out;
};

template <class F, class T>
SIMT_UNSEEN __attribute__((noinline)) void reduceLanes(void *const *lanes) {
    T all{};
    bool first = true;
    for (int l = 0; l < 32; l++) {
        if (!lanes[l]) continue;
        T v = ((Reduction<T> *)lanes[l])->in;
        all = first ? v : F::combine(all, v);
        first = false;
    }
    for (int l = 0; l < 32; l++)
        if (lanes[l]) ((Reduction<T> *)lanes[l])->out = all;
}

template <class F, class T> SIMT_INLINE T reduce(unsigned mask, T v, int line) {
    Reduction<T> mine = {v, v};
    simt_together(mask, {reduceLanes<F, T>, &mine, nullptr}, line);
    return mine.out;
}
} // namespace simt

SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
    simt_warp(mask, simt::SyncWarp, nullptr, nullptr, 0, 0, line);
}
SIMT_INLINE unsigned __activemask() {
    return simt_active();
}

template <class T>
SIMT_INLINE T __shfl_sync(unsigned mask, T v, int source, int width = 32,
                          int line = __builtin_LINE()) {
    int lane = (int)simt_lane();
    return simt::shuffle(mask, v, (lane & ~(width - 1)) | (source & (width - 1)), line);
}
template <class T>
SIMT_INLINE T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32,
                              int line = __builtin_LINE()) {
    int lane = (int)simt_lane(), source = lane ^ bits;
    if ((source & ~(width - 1)) > (lane & ~(width - 1))) source = lane;
    return simt::shuffle(mask, v, source, line);
}
template <class T>
SIMT_INLINE T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32,
                               int line = __builtin_LINE()) {
    int lane = (int)simt_lane(), source = lane + (int)delta;
    if ((source & ~(width - 1)) != (lane & ~(width - 1))) source = lane;
    return simt::shuffle(mask, v, source, line);
}
template <class T>
SIMT_INLINE T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32,
                             int line = __builtin_LINE()) {
    int lane = (int)simt_lane(), source = lane - (int)delta;
    if (source < (lane & ~(width - 1))) source = lane;
    return simt::shuffle(mask, v, source, line);
}

SIMT_INLINE unsigned __ballot_sync(unsigned mask, int p, int line = __builtin_LINE()) {
    unsigned r;
    simt_warp(mask, simt::Ballot, &p, &r, sizeof p, 0, line);
    return r;
}
SIMT_INLINE int __any_sync(unsigned mask, int p, int line = __builtin_LINE()) {
    return __ballot_sync(mask, p, line) != 0;
}
SIMT_INLINE int __all_sync(unsigned mask, int p, int line = __builtin_LINE()) {
    return __ballot_sync(mask, !p, line) == 0;
}
SIMT_INLINE int __uni_sync(unsigned mask, int p, int line = __builtin_LINE()) {
    unsigned all = __ballot_sync(mask, 1, line), yes = __ballot_sync(mask, p, line);
    return yes == 0 || yes == all;
}
template <class T>
SIMT_INLINE unsigned __match_any_sync(unsigned mask, T v, int line = __builtin_LINE()) {
    unsigned r;
    simt_warp(mask, simt::Match, &v, &r, sizeof(T), 0, line);
    return r;
}
template <class T>
SIMT_INLINE unsigned __match_all_sync(unsigned mask, T v, int *all, int line = __builtin_LINE()) {
    unsigned same = __match_any_sync(mask, v, line);
    *all = __all_sync(mask, same == (mask & simt_alive()), line);
    return *all ? same : 0;
}

#define SIMT_REDUCE(name, T, expression)                                                           \
    namespace simt {                                                                               \
    struct name##_##T {                                                                            \
        SIMT_UNSEEN static T combine(T a, T b) {                                                   \
            return expression;                                                                     \
        }                                                                                          \
    };                                                                                             \
    }                                                                                              \
    SIMT_INLINE T __reduce_##name##_sync(unsigned mask, T v, int line = __builtin_LINE()) {        \
        return simt::reduce<simt::name##_##T>(mask, v, line);                                      \
    }
SIMT_REDUCE(add, unsigned, a + b)
SIMT_REDUCE(min, unsigned, a < b ? a : b)
SIMT_REDUCE(max, unsigned, a > b ? a : b)
SIMT_REDUCE(and, unsigned, a &b)
SIMT_REDUCE(or, unsigned, a | b)
SIMT_REDUCE(xor, unsigned, a ^ b)
SIMT_REDUCE(add, int, (int)((unsigned)a + (unsigned)b))
SIMT_REDUCE(min, int, a < b ? a : b)
SIMT_REDUCE(max, int, a > b ? a : b)
