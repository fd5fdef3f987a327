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

// Stores are never held back here; a fence only tells that the block makes what
// it wrote known (runtime/fences.h).
extern "C" {
void simt_fence();
void simt_fence_block();
void simt_fence_acquire(); // behind a load
}
SIMT_INLINE void __threadfence() {
    simt_fence();
}
SIMT_INLINE void __threadfence_block() {
    simt_fence_block();
}
SIMT_INLINE void __threadfence_system() {
    simt_fence();
}
