// ptx_memory.h - inline PTX's loads, stores and asynchronous copies.
#pragma once
#include "../cuda_pipeline_primitives.h"
#include "hopper.h"

namespace simt::ptx {

SIMT_INLINE char *generic(unsigned long long a) {
    return (char *)a;
}
SIMT_INLINE char *shared(unsigned long long a) {
    return (char *)simt_shared_address((unsigned)a);
}
template <class T, int n> struct Values {
    T v[n];
};
// All of a vector is one access.
template <class T, int n> SIMT_INLINE Values<T, n> load(const char *p) {
    Values<T, n> r;
    if constexpr (n == 1)
        r.v[0] = *(const T *)p;
    else
        moveWide<n * sizeof(T)>(&r, p);
    return r;
}
template <class T, int n> SIMT_INLINE void store(char *p, const Values<T, n> &v) {
    if constexpr (n == 1)
        *(T *)p = v.v[0];
    else
        moveWide<n * sizeof(T)>(p, &v);
}
// The same as volatile, by which the simulator knows a flag: still one access.
template <class T, int n> struct Whole {
    static_assert(n * sizeof(T) <= 16, "a GPU's widest access has 16 bytes");
    typedef typename WideOf<n * sizeof(T)>::type type;
};
template <class T> struct Whole<T, 1> {
    typedef T type;
};
// Who waits for a flag lets others run first. With checks a hook notices that; kernels without have
// no hooks.
SIMT_INLINE void letOthersRun() {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIMT_HAS_HOOKS
#endif
#endif
#if !defined(__SANITIZE_THREAD__) && !defined(SIMT_HAS_HOOKS)
    simt_yield();
#endif
}
template <class T, int n> SIMT_INLINE Values<T, n> loadVolatile(const char *p) {
    letOthersRun();
    const typename Whole<T, n>::type whole = *(const volatile typename Whole<T, n>::type *)p;
    Values<T, n> r;
    __builtin_memcpy(&r, &whole, sizeof r);
    return r;
}
template <class T, int n> SIMT_INLINE void storeVolatile(char *p, const Values<T, n> &v) {
    typename Whole<T, n>::type whole;
    __builtin_memcpy(&whole, &v, sizeof whole);
    *(volatile typename Whole<T, n>::type *)p = whole;
}

// Relaxed, acquire and release: two such accesses do not race.
template <class T, int n> SIMT_INLINE Values<T, n> loadStrong(const char *p) {
    simt_strong(p);
    return loadVolatile<T, n>(p);
}
template <class T, int n> SIMT_INLINE void storeStrong(char *p, const Values<T, n> &v) {
    simt_strong(p);
    storeVolatile<T, n>(p, v);
}

template <class T, int n>
SIMT_INLINE void storeAsync(char *to, const Values<T, n> &v, char *barrier,
                            int line = __builtin_LINE()) {
    simt_store_async(to, &v, sizeof v, barrier, line);
}

SIMT_INLINE void copyAsync(unsigned long long to, unsigned long long from, unsigned bytes,
                           unsigned taken, int line = __builtin_LINE()) {
    simt_copy_async(shared(to), generic(from), bytes, bytes - taken, line);
}
SIMT_INLINE void waitForAllCopies() {
    simt_copy_commit();
    simt_copy_wait(0);
}

} // namespace simt::ptx
