// vectors.h - int2, float4 and the like. Copies of 2 to 16 bytes go through
// one wide move, so that the compiler cannot split what a GPU does in one
// transaction, and the counts see one access.
#pragma once

namespace simt {
// clang splits a move of integers into those of the members, but not of vectors.
template <int N> struct WideOf;
template <> struct WideOf<2> {
    typedef unsigned short type __attribute__((may_alias));
};
#ifdef __clang__
template <> struct WideOf<4> {
    typedef short type __attribute__((vector_size(4), may_alias));
};
template <> struct WideOf<8> {
    typedef float type __attribute__((vector_size(8), may_alias));
};
#else
template <> struct WideOf<4> {
    typedef unsigned type __attribute__((may_alias));
};
template <> struct WideOf<8> {
    typedef long long type __attribute__((may_alias));
};
#endif
template <> struct WideOf<16> {
    typedef float type __attribute__((vector_size(16), may_alias));
};

template <int Bytes> SIMT_INLINE void moveWide(void *to, const void *from) {
    if constexpr (Bytes <= 16) {
        typedef typename WideOf<Bytes>::type Wide;
        *(Wide *)to = *(const Wide *)from;
    } else { // a GPU's widest access has 16 bytes
        moveWide<16>(to, from);
        moveWide<Bytes - 16>((char *)to + 16, (const char *)from + 16);
    }
}
} // namespace simt

#define SIMT_WIDE_COPY(T, bytes)                                                                   \
    T() = default;                                                                                 \
    __attribute__((always_inline)) T(const T &o) {                                                 \
        simt::moveWide<bytes>(this, &o);                                                           \
    }                                                                                              \
    __attribute__((always_inline)) T &operator=(const T &o) {                                      \
        simt::moveWide<bytes>(this, &o);                                                           \
        return *this;                                                                              \
    }

#define SIMT_VECTOR1(T, E)                                                                         \
    struct T {                                                                                     \
        E x;                                                                                       \
    };                                                                                             \
    SIMT_INLINE T make_##T(E x) {                                                                  \
        return {x};                                                                                \
    }
#define SIMT_VECTOR2(T, E)                                                                         \
    struct alignas(2 * sizeof(E)) T {                                                              \
        E x, y;                                                                                    \
        SIMT_WIDE_COPY(T, 2 * sizeof(E))                                                           \
        constexpr __attribute__((always_inline)) T(E a, E b = {}) : x(a), y(b) {}                  \
    };                                                                                             \
    SIMT_INLINE T make_##T(E x, E y) {                                                             \
        return T(x, y);                                                                            \
    }
#define SIMT_VECTOR3(T, E)                                                                         \
    struct T {                                                                                     \
        E x, y, z;                                                                                 \
    };                                                                                             \
    SIMT_INLINE T make_##T(E x, E y, E z) {                                                        \
        return {x, y, z};                                                                          \
    }
#define SIMT_VECTOR4(T, E)                                                                         \
    struct alignas(sizeof(E) == 8 ? 16 : 4 * sizeof(E)) T {                                        \
        E x, y, z, w;                                                                              \
        SIMT_WIDE_COPY(T, 4 * sizeof(E))                                                           \
        constexpr __attribute__((always_inline)) T(E a, E b = {}, E c = {}, E d = {})              \
            : x(a), y(b), z(c), w(d) {}                                                            \
    };                                                                                             \
    SIMT_INLINE T make_##T(E x, E y, E z, E w) {                                                   \
        return T(x, y, z, w);                                                                      \
    }
#define SIMT_VECTORS(name, E)                                                                      \
    SIMT_VECTOR1(name##1, E)                                                                       \
    SIMT_VECTOR2(name##2, E)                                                                       \
    SIMT_VECTOR3(name##3, E)                                                                       \
    SIMT_VECTOR4(name##4, E)

SIMT_VECTORS(char, signed char)
SIMT_VECTORS(uchar, unsigned char)
SIMT_VECTORS(short, short)
SIMT_VECTORS(ushort, unsigned short)
SIMT_VECTORS(int, int)
SIMT_VECTORS(uint, unsigned)
SIMT_VECTORS(long, long)
SIMT_VECTORS(ulong, unsigned long)
SIMT_VECTORS(longlong, long long)
SIMT_VECTORS(ulonglong, unsigned long long)
SIMT_VECTORS(float, float)
SIMT_VECTORS(double, double)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 u) : x(u.x), y(u.y), z(u.z) {}
    operator uint3() const { return uint3{x, y, z}; }
};
