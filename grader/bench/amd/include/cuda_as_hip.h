// cuda_as_hip.h - CUDA's names in HIP's words. hipcc reads it ahead of a kernel (-include), so that
// the same .cu file is compiled for an AMD GPU. It has what the kernels of the course use beyond
// what HIP names as CUDA does, and no more.
#pragma once
#include <hip/hip_runtime.h>

// HIP 5 has shuffles and votes without a mask: all lanes of a wavefront that are here take part. So
// a mask that leaves lanes out, or a wavefront of 64 where a kernel thinks of 32, changes what a
// vote or a shuffle means.
#define __shfl_sync(mask, ...) __shfl(__VA_ARGS__)
#define __shfl_xor_sync(mask, ...) __shfl_xor(__VA_ARGS__)
#define __shfl_up_sync(mask, ...) __shfl_up(__VA_ARGS__)
#define __shfl_down_sync(mask, ...) __shfl_down(__VA_ARGS__)
#define __any_sync(mask, yes) __any(yes)
#define __all_sync(mask, yes) __all(yes)
#define __ballot_sync(mask, yes) __ballot(yes)

// A wavefront's lanes run in step, so this only keeps the compiler from moving memory accesses
// across.
__device__ __forceinline__ void __syncwarp(unsigned long long = ~0ull) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// Loads and stores that a cache need not keep. HIP has those of halves, and these of numbers and
// vectors are beside them.
template <typename T> __device__ __forceinline__ T __ldcs(const T *p) {
    return *p;
}
template <typename T> __device__ __forceinline__ void __stcs(T *p, T x) {
    *p = x;
}
// One that sees what other blocks have written: past the cache of a processor.
template <typename T> __device__ __forceinline__ T __ldcg(const T *p) {
    return *(const volatile T *)p;
}
