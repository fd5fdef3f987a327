// memcpy_async.h - cooperative_groups::memcpy_async of bytes, shared out among
// the threads of the group, and wait, which ends in the group's barrier.
#pragma once
#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {

template <class G, class T>
SIMT_INLINE void memcpy_async(const G &group, T *to, const T *from, size_t bytes,
                              int line = __builtin_LINE()) {
    size_t piece = 16;
    while (piece > 1 && (((size_t)to | (size_t)from | bytes) & (piece - 1))) piece /= 2;
    for (size_t at = group.thread_rank() * piece; at < bytes; at += group.size() * piece) {
        if (piece >= 4)
            simt_copy_async((char *)to + at, (const char *)from + at, piece, 0, line);
        else
            for (size_t i = at; i < at + piece; i++) ((char *)to)[i] = ((const char *)from)[i];
    }
    simt_copy_commit();
}
template <class G> SIMT_INLINE void wait(const G &group, int line = __builtin_LINE()) {
    simt_copy_wait(0);
    group.sync(line);
}
template <unsigned Left, class G>
SIMT_INLINE void wait_prior(const G &group, int line = __builtin_LINE()) {
    simt_copy_wait(Left);
    group.sync(line);
}

} // namespace cooperative_groups
