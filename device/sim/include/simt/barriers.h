// barriers.h - __syncthreads and its voting forms, and memory fences.
#pragma once

extern "C" void simt_barrier(int line, int vote, int predicate, int *result);

SIMT_INLINE void __syncthreads(int line = __builtin_LINE()) {
    simt_barrier(line, 0, 0, nullptr);
}
SIMT_INLINE int __syncthreads_and(int p, int line = __builtin_LINE()) {
    int r;
    simt_barrier(line, 1, p, &r);
    return r;
}
SIMT_INLINE int __syncthreads_or(int p, int line = __builtin_LINE()) {
    int r;
    simt_barrier(line, 2, p, &r);
    return r;
}
SIMT_INLINE int __syncthreads_count(int p, int line = __builtin_LINE()) {
    int r;
    simt_barrier(line, 3, p, &r);
    return r;
}

namespace simt {
// A fence keeps the compiler from moving accesses, and the host's processor
// too, where blocks run on several OS threads.
SIMT_UNSEEN __attribute__((noinline)) static void fence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
} // namespace simt
SIMT_INLINE void __threadfence() {
    simt::fence();
}
SIMT_INLINE void __threadfence_block() {
    simt::fence();
}
SIMT_INLINE void __threadfence_system() {
    simt::fence();
}
