// reduce.h - cooperative_groups::reduce over a tile.
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
SIMT_INLINE T reduce(const thread_block_tile<N, P> &tile, T v, F combine,
                     int line = __builtin_LINE()) {
    for (unsigned bits = N / 2; bits; bits /= 2) v = combine(v, tile.shfl_xor(v, bits, line));
    return v;
}

} // namespace cooperative_groups
