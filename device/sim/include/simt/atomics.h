// atomics.h - each reports one atomic access; the work itself needs no lock,
// for one CUDA thread runs at a time.
#pragma once

extern "C" {
void simt_atomic(const volatile void *p, int size);
void simt_yield();
}

namespace simt {
template <class T> struct Same {
    typedef T type;
};

template <class T, class F> SIMT_UNSEEN __attribute__((noinline)) T update(T *p, F next) {
    T old = *p;
    *p = next(old);
    return old;
}
} // namespace simt

#define SIMT_ATOMIC(name, expression)                                                              \
    template <class T> SIMT_INLINE T name(T *p, typename simt::Same<T>::type v) {                  \
        simt_atomic(p, sizeof(T));                                                                 \
        T old = simt::update(p, [=](T old) -> T { return expression; });                           \
        simt_yield();                                                                              \
        return old;                                                                                \
    }
SIMT_ATOMIC(atomicAdd, (T)(old + v))
SIMT_ATOMIC(atomicSub, (T)(old - v))
SIMT_ATOMIC(atomicExch, v)
SIMT_ATOMIC(atomicMax, old < v ? v : old)
SIMT_ATOMIC(atomicMin, v < old ? v : old)
SIMT_ATOMIC(atomicAnd, (T)(old &v))
SIMT_ATOMIC(atomicOr, (T)(old | v))
SIMT_ATOMIC(atomicXor, (T)(old ^ v))
SIMT_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
SIMT_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)

template <class T>
SIMT_INLINE T atomicCAS(T *p, typename simt::Same<T>::type expected,
                        typename simt::Same<T>::type v) {
    simt_atomic(p, sizeof(T));
    T old = simt::update(p, [=](T old) -> T { return old == expected ? v : old; });
    simt_yield();
    return old;
}
