// atomics.h - each reports one atomic access, then works without
// instrumentation. The types are CUDA's: what nvcc would refuse is refused.
#pragma once

extern "C" {
void simt_atomic(const volatile void *p, int size);
void simt_atomic_done();
void simt_compares(const volatile void *p); // it is a compare-and-swap
void simt_strong(const volatile void *p);   // before a relaxed, acquiring or releasing access
void simt_yield();
}

namespace simt {
template <class T> struct Same {
    typedef T type;
};
template <class T, class... Of> constexpr bool oneOf = (std::is_same_v<T, Of> || ...);

template <int N> struct BitsOf;
template <> struct BitsOf<2> {
    typedef unsigned short type;
};
template <> struct BitsOf<4> {
    typedef unsigned type;
};
template <> struct BitsOf<8> {
    typedef unsigned long long type;
};

// simt_update replaces *p by next(*p), whatever other blocks do meanwhile.
template <class T, class F> SIMT_UNSEEN __attribute__((noinline)) T simt_update(T *p, F next) {
    typedef typename BitsOf<sizeof(T)>::type __attribute__((may_alias)) Bits;
    Bits seen = __atomic_load_n((Bits *)p, __ATOMIC_RELAXED), wanted;
    T old;
    do {
        __builtin_memcpy((void *)&old, &seen, sizeof old);
        T value = next(old);
        __builtin_memcpy(&wanted, (void *)&value, sizeof wanted);
    } while (!__atomic_compare_exchange_n((Bits *)p, &seen, wanted, true, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));
    return old;
}
} // namespace simt

#define SIMT_ATOMIC_SCOPED(name, expression, types, ...)                                           \
    template <class T> SIMT_INLINE T name(T *p, typename simt::Same<T>::type v) {                  \
        static_assert(simt::oneOf<T, __VA_ARGS__>, "CUDA has " #name " for " types " only");       \
        simt_atomic(p, sizeof(T));                                                                 \
        T old = simt::simt_update(p, [=](T old) -> T { return expression; });                      \
        simt_atomic_done();                                                                        \
        simt_yield();                                                                              \
        return old;                                                                                \
    }
#define SIMT_ATOMIC(name, expression, types, ...)                                                  \
    SIMT_ATOMIC_SCOPED(name, expression, types, __VA_ARGS__)                                       \
    SIMT_ATOMIC_SCOPED(name##_block, expression, types, __VA_ARGS__)                               \
    SIMT_ATOMIC_SCOPED(name##_system, expression, types, __VA_ARGS__)

typedef unsigned long long simt_ull;
struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;

SIMT_ATOMIC(
    atomicAdd, (T)(old + v),
    "int, unsigned, unsigned long long, float, double, half, half2 and their bfloat16 twins", int,
    unsigned, simt_ull, float, double, __half, __half2, __nv_bfloat16, __nv_bfloat162)
// A vector is several additions, each atomic: so says CUDA, which has them in global memory.
#define SIMT_ATOMIC_VECTOR(name, T, N)                                                             \
    SIMT_INLINE T name(T *p, T v) {                                                                \
        simt_atomic(p, sizeof(T));                                                                 \
        T old;                                                                                     \
        for (int i = 0; i < N; i++) {                                                              \
            float add = (&v.x)[i];                                                                 \
            (&old.x)[i] =                                                                          \
                simt::simt_update(&p->x + i, [=](float old) -> float { return old + add; });       \
        }                                                                                          \
        simt_atomic_done();                                                                        \
        simt_yield();                                                                              \
        return old;                                                                                \
    }
SIMT_ATOMIC_VECTOR(atomicAdd, float2, 2)
SIMT_ATOMIC_VECTOR(atomicAdd, float4, 4)

SIMT_ATOMIC(atomicSub, (T)(old - v), "int and unsigned", int, unsigned)
SIMT_ATOMIC(atomicExch, v, "int, unsigned, unsigned long long and float", int, unsigned, simt_ull,
            float)
SIMT_ATOMIC(atomicMax, old < v ? v : old, "int, unsigned, long long and unsigned long long", int,
            unsigned, long long, simt_ull)
SIMT_ATOMIC(atomicMin, v < old ? v : old, "int, unsigned, long long and unsigned long long", int,
            unsigned, long long, simt_ull)
SIMT_ATOMIC(atomicAnd, (T)(old &v), "int, unsigned and unsigned long long", int, unsigned, simt_ull)
SIMT_ATOMIC(atomicOr, (T)(old | v), "int, unsigned and unsigned long long", int, unsigned, simt_ull)
SIMT_ATOMIC(atomicXor, (T)(old ^ v), "int, unsigned and unsigned long long", int, unsigned,
            simt_ull)
SIMT_ATOMIC(atomicInc, old >= v ? 0 : old + 1, "unsigned", unsigned)
SIMT_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1, "unsigned", unsigned)

#define SIMT_ATOMIC_CAS(name)                                                                      \
    template <class T>                                                                             \
    SIMT_INLINE T name(T *p, typename simt::Same<T>::type expected,                                \
                       typename simt::Same<T>::type v) {                                           \
        static_assert(simt::oneOf<T, int, unsigned, simt_ull, unsigned short>,                     \
                      "CUDA has " #name                                                            \
                      " for int, unsigned, unsigned long long and unsigned short only");           \
        simt_compares(p);                                                                          \
        simt_atomic(p, sizeof(T));                                                                 \
        T old = simt::simt_update(p, [=](T old) -> T { return old == expected ? v : old; });       \
        simt_atomic_done();                                                                        \
        simt_yield();                                                                              \
        return old;                                                                                \
    }
SIMT_ATOMIC_CAS(atomicCAS)
SIMT_ATOMIC_CAS(atomicCAS_block)
SIMT_ATOMIC_CAS(atomicCAS_system)
