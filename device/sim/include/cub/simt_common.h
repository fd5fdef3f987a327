// cub/simt_common.h - what CUB's collectives share here: functors, who a thread is, and steps of a
// warp. What they leave in shared memory, and where they meet, is as in CUB: storage that is used
// again without a barrier races.
#pragma once
#include "../simt.h"

// Findings are at the kernel's line: all is inlined there.
#define SIMT_CUB __attribute__((__always_inline__)) inline

namespace cub {
struct Sum {
    template <class T> SIMT_CUB T operator()(const T &a, const T &b) const { return (T)(a + b); }
};
struct Max {
    template <class T> SIMT_CUB T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
struct Min {
    template <class T> SIMT_CUB T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};

namespace simt_detail {
// Where a kernel calls.
struct Here {
    int line;
};
struct Nothing {
    int unused;
};

// Room for n of a type, whatever its constructors: shared memory begins undefined.
template <class T, int N> struct Room {
    __attribute__((__aligned__(__alignof__(T)))) unsigned char bytes[N * sizeof(T)];
    SIMT_CUB T &at(int i) { return ((T *)bytes)[i]; }
};

template <int X, int Y> SIMT_INLINE int linearThread() {
    return (int)(threadIdx.x + X * (threadIdx.y + Y * threadIdx.z));
}

// The lanes of a group of so many that a thread's is in, and its own place there.
template <int LANES> SIMT_INLINE unsigned groupMask() {
    return LANES == 32 ? ~0u : ((1u << LANES % 32) - 1) << simt_lane() / LANES * LANES;
}

// warpReduce is right in the first lane: the others have parts. Only the first `valid` count.
template <int LANES, class T, class Op> SIMT_INLINE T warpReduce(T v, Op op, int valid, int line) {
    const int lane = (int)simt_lane(), place = lane % LANES;
    for (int d = 1; d < LANES; d *= 2) {
        const bool there = place + d < LANES && place + d < valid;
        T other = simt::shuffle(groupMask<LANES>(), v, there ? lane + d : lane, line);
        if (there) v = op(v, other);
    }
    return v;
}

// warpScan is inclusive.
template <int LANES, class T, class Op> SIMT_INLINE T warpScan(T v, Op op, int line) {
    const int lane = (int)simt_lane(), place = lane % LANES;
    for (int d = 1; d < LANES; d *= 2) {
        T other = simt::shuffle(groupMask<LANES>(), v, place >= d ? lane - d : lane, line);
        if (place >= d) v = op(other, v);
    }
    return v;
}
// What the lane before has.
template <int LANES, class T> SIMT_INLINE T fromBefore(T v, int line) {
    const int lane = (int)simt_lane();
    return simt::shuffle(groupMask<LANES>(), v, lane % LANES ? lane - 1 : lane, line);
}
} // namespace simt_detail
} // namespace cub
