// qualifiers.h - where functions and variables live.
#pragma once

#ifdef SIMT_MARKS // they stay where they are, to be read (hostside/)
#define __global__ __global__
#define __device__ __device__
#define __host__ __host__
#define __constant__ __constant__
#define __managed__ __managed__
#define __grid_constant__ __grid_constant__
#define __noinline__ __noinline__
#define __launch_bounds__ __launch_bounds__
#define __cluster_dims__ __cluster_dims__
#else
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __noinline__ __attribute__((__noinline__))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#endif
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((__always_inline__))
#define __inline_hint__ inline
#define __align__(n) __attribute__((__aligned__(n)))
// nvcc takes `__shared__ alignas(16) float s[64];`, C++ would not: a GNU
// attribute may stand anywhere. The argument is a number or a type.
template <class T> constexpr size_t simt_alignment() {
    return __alignof__(T);
}
template <size_t N> constexpr size_t simt_alignment() {
    return N;
}
#ifndef SIMT_MARKS
#define alignas(x) __attribute__((__aligned__(simt_alignment<x>())))
#endif
#define __builtin_align__(n) __attribute__((__aligned__(n)))

// A block's shared memory is the thread-local storage of the OS thread that
// runs the block. `extern __shared__ T s[];` stays undefined, and is resolved
// to the dynamic window when the module is linked.
#ifdef __clang__
#define __shared__ thread_local
#else
// Types with constructors, such as half, would get a guarded initialiser without
// __constinit; clang++ sees that there is nothing to do, and would not take it.
#define __shared__ __constinit thread_local
#endif

// Code of the shim itself that the checks must not see.
#ifdef __clang__
#define SIMT_UNSEEN __attribute__((__disable_sanitizer_instrumentation__))
#else
#define SIMT_UNSEEN __attribute__((__no_sanitize__("thread")))
#endif
#define SIMT_INLINE static inline __attribute__((__always_inline__))

// A function that has a CUDA name but that the simulator lacks: calling it does
// not compile, and the message says why.
#define SIMT_LACKING(message) __attribute__((__error__(message)))

#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif
#define __assume(condition) __builtin_assume(condition)
