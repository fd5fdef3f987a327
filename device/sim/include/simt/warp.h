// warp.h - operations that the lanes of a warp do together.
#pragma once

extern "C" {
// Waits for all lanes of the mask, then does one of the kinds below.
void simt_warp(unsigned mask, int kind, const void *in, void *out, int size, int source, int line);
unsigned simt_lane();
unsigned simt_active();
}

namespace simt {
enum { SyncWarp = 1, Shuffle, Ballot, Match };

template <class T> SIMT_INLINE T shuffle(unsigned mask, T v, int source, int line) {
    T r;
    simt_warp(mask, Shuffle, &v, &r, sizeof(T), source, line);
    return r;
}

template <class T, class F> SIMT_INLINE T reduce(unsigned mask, T v, F combine, int line) {
    T all = v;
    bool first = true;
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1) {
            T other = shuffle(mask, v, i, line);
            all = first ? other : combine(all, other);
            first = false;
        }
    return all;
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
template <class T>
SIMT_INLINE unsigned __match_any_sync(unsigned mask, T v, int line = __builtin_LINE()) {
    unsigned r;
    simt_warp(mask, simt::Match, &v, &r, sizeof(T), 0, line);
    return r;
}
SIMT_INLINE unsigned __reduce_add_sync(unsigned mask, unsigned v, int line = __builtin_LINE()) {
    return simt::reduce(
        mask, v, [](unsigned a, unsigned b) { return a + b; }, line);
}
SIMT_INLINE unsigned __reduce_max_sync(unsigned mask, unsigned v, int line = __builtin_LINE()) {
    return simt::reduce(
        mask, v, [](unsigned a, unsigned b) { return a > b ? a : b; }, line);
}
SIMT_INLINE unsigned __reduce_min_sync(unsigned mask, unsigned v, int line = __builtin_LINE()) {
    return simt::reduce(
        mask, v, [](unsigned a, unsigned b) { return a < b ? a : b; }, line);
}
