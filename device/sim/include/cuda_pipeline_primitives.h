// cuda_pipeline_primitives.h - asynchronous copies from global to shared memory.
// The copy is made where it is waited for, so that reading too early shows.
#pragma once
#include "simt.h"

extern "C" {
void simt_copy_async(void *to, const void *from, size_t bytes, size_t zeros, int line);
void simt_copy_commit();
void simt_copy_wait(size_t groupsLeft);
}

SIMT_INLINE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zfill = 0,
                                         int line = __builtin_LINE()) {
    simt_copy_async(to, from, bytes, zfill, line);
}
SIMT_INLINE void __pipeline_commit() {
    simt_copy_commit();
}
SIMT_INLINE void __pipeline_wait_prior(size_t prior) {
    simt_copy_wait(prior);
}
