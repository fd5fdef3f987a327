// reduce.h - cooperative_groups::reduce over a tile, or any lanes.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

#define SIMT_GROUP_OPERATION(name, expression)                                                     \
    template <class T = void> struct name {                                                        \
        SIMT_UNSEEN T operator()(T a, T b) const {                                                 \
            return expression;                                                                     \
        }                                                                                          \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <class T> SIMT_UNSEEN T operator()(T a, T b) const {                              \
            return expression;                                                                     \
        }                                                                                          \
    };
SIMT_GROUP_OPERATION(plus, (T)(a + b))
SIMT_GROUP_OPERATION(less, b < a ? b : a)
SIMT_GROUP_OPERATION(greater, a < b ? b : a)
SIMT_GROUP_OPERATION(bit_and, (T)(a &b))
SIMT_GROUP_OPERATION(bit_or, (T)(a | b))
SIMT_GROUP_OPERATION(bit_xor, (T)(a ^ b))
#undef SIMT_GROUP_OPERATION

template <unsigned N, class P, class T, class F>
SIMT_INLINE T reduce(const thread_block_tile<N, P, true> &tile, T v, F combine,
                     int line = __builtin_LINE()) {
    for (unsigned bits = N / 2; bits; bits /= 2) v = combine(v, tile.shfl_xor(v, bits, line));
    return v;
}
// Of a group that need not be a power of two the first has it all, and tells the others.
template <class T, class F>
SIMT_INLINE T reduce(const coalesced_group &group, T v, F combine, int line = __builtin_LINE()) {
    unsigned n = group.size();
    for (unsigned d = 1; d < n; d *= 2) {
        T other = group.shfl_down(v, d, line);
        if (group.thread_rank() + d < n) v = combine(v, other);
    }
    return group.shfl(v, 0, line);
}
// A tile of several warps meets in shared memory.
template <unsigned N, class P, class T, class F>
SIMT_INLINE T reduce(const thread_block_tile<N, P, false> &tile, T v, F combine,
                     int line = __builtin_LINE()) {
    __shared__ char parts[N / 32 * sizeof(T)] __attribute__((aligned(16)));
    v = reduce(thread_block_tile<32>(), v, combine, line);
    if (tile.thread_rank() % 32 == 0) ((T *)parts)[tile.thread_rank() / 32] = v;
    tile.sync(line);
    T all = ((T *)parts)[0];
    for (unsigned i = 1; i < N / 32; i++) all = combine(all, ((T *)parts)[i]);
    tile.sync(line);
    return all;
}

} // namespace cooperative_groups
