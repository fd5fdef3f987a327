// memory.h - loads and stores with cache hints, questions about addresses,
// clocks, and a kernel's last words.
#pragma once

extern "C" {
int simt_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void simt_trap(const char *what, int line);
long long simt_clock();
// The offset in the block's shared memory, or -1 for an address elsewhere.
long long simt_shared_offset(const void *p);
void *simt_shared_address(unsigned long long offset);
int simt_space(const void *p); // 1 shared, 2 global, 3 the module's, 4 local, 5 shared of
                               // another block of the cluster, 0 none
}

#define SIMT_LOAD(name)                                                                            \
    template <class T> SIMT_INLINE T name(const T *p) {                                            \
        return *p;                                                                                 \
    }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
#define SIMT_STORE(name)                                                                           \
    template <class T> SIMT_INLINE void name(T *p, typename simt::Same<T>::type v) {               \
        *p = v;                                                                                    \
    }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)

SIMT_INLINE unsigned __isShared(const void *p) {
    return simt_space(p) == 1;
}
SIMT_INLINE unsigned __isClusterShared(const void *p) {
    return simt_space(p) == 1 || simt_space(p) == 5;
}
SIMT_INLINE unsigned __isGlobal(const void *p) {
    return simt_space(p) == 2 || simt_space(p) == 3;
}
SIMT_INLINE unsigned __isLocal(const void *p) {
    return simt_space(p) == 4;
}
SIMT_INLINE unsigned __isConstant(const void *) {
    return 0; // constants are variables of the module like others
}
SIMT_INLINE unsigned __isGridConstant(const void *) {
    return 0;
}
SIMT_INLINE size_t __cvta_generic_to_shared(const void *p) {
    return (size_t)simt_shared_offset(p);
}
SIMT_INLINE void *__cvta_shared_to_generic(size_t offset) {
    return simt_shared_address(offset);
}
SIMT_INLINE size_t __cvta_generic_to_global(const void *p) {
    return (size_t)p;
}
SIMT_INLINE void *__cvta_global_to_generic(size_t p) {
    return (void *)p;
}

SIMT_INLINE long long clock64() {
    return simt_clock();
}
SIMT_INLINE int simt_clock32() {
    return (int)simt_clock();
}
#define clock simt_clock32
SIMT_INLINE void __nanosleep(unsigned) {
    simt_yield();
}

#define printf simt_printf
SIMT_INLINE void __trap(int line = __builtin_LINE()) {
    simt_trap("__trap()", line);
}
SIMT_INLINE void __brkpt() {}
SIMT_INLINE void __prof_trigger(int) {}
#include "assert.h"
