// scan.h - cooperative_groups::inclusive_scan and exclusive_scan over a tile.
#pragma once
#include "reduce.h"

namespace cooperative_groups {

template <class G, class T, class F>
SIMT_INLINE T inclusive_scan(const G &tile, T v, F combine, int line = __builtin_LINE()) {
    for (unsigned d = 1; d < tile.size(); d *= 2) {
        T before = tile.shfl_up(v, d, line);
        if (tile.thread_rank() >= d) v = combine(before, v);
    }
    return v;
}
template <class G, class T>
SIMT_INLINE T inclusive_scan(const G &tile, T v, int line = __builtin_LINE()) {
    return inclusive_scan(tile, v, plus<T>(), line);
}
// The first thread gets T{}.
template <class G, class T, class F>
SIMT_INLINE T exclusive_scan(const G &tile, T v, F combine, int line = __builtin_LINE()) {
    T before = tile.shfl_up(inclusive_scan(tile, v, combine, line), 1, line);
    return tile.thread_rank() ? before : T{};
}
template <class G, class T>
SIMT_INLINE T exclusive_scan(const G &tile, T v, int line = __builtin_LINE()) {
    return exclusive_scan(tile, v, plus<T>(), line);
}

} // namespace cooperative_groups
