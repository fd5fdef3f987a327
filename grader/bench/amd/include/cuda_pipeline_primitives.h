// cuda_pipeline_primitives.h - copies into shared memory that go on by themselves. Before gfx950 no
// AMD GPU has any for 16 bytes: here a thread copies at once, and there is nothing to wait for.
#pragma once
__device__ __forceinline__ void __pipeline_memcpy_async(void *to, const void *from, size_t bytes) {
    if (bytes == 16)
        *(uint4 *)to = *(const uint4 *)from;
    else
        memcpy(to, from, bytes);
}
__device__ __forceinline__ void __pipeline_commit() {}
__device__ __forceinline__ void __pipeline_wait_prior(int) {}
