// vectors.h - int2, float4 and the like. Copies of 8 and 16 bytes go through
// one wide move, so that the compiler cannot split what a GPU does in one
// transaction, and the counts see one access.
#pragma once

namespace simt {
typedef long long Wide8 __attribute__((may_alias));
typedef float Wide16 __attribute__((vector_size(16), may_alias));
template <int N> struct WideOf;
template <> struct WideOf<8> {
    typedef Wide8 type;
};
template <> struct WideOf<16> {
    typedef Wide16 type;
};
} // namespace simt

#define SIMT_WIDE_COPY(T, bytes)                                                                   \
    T() = default;                                                                                 \
    __attribute__((always_inline)) T(const T &o) {                                                 \
        *(simt::WideOf<bytes>::type *)this = *(const simt::WideOf<bytes>::type *)&o;               \
    }                                                                                              \
    __attribute__((always_inline)) T &operator=(const T &o) {                                      \
        *(simt::WideOf<bytes>::type *)this = *(const simt::WideOf<bytes>::type *)&o;               \
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
    };                                                                                             \
    SIMT_INLINE T make_##T(E x, E y) {                                                             \
        return {x, y};                                                                             \
    }
#define SIMT_VECTOR3(T, E)                                                                         \
    struct T {                                                                                     \
        E x, y, z;                                                                                 \
    };                                                                                             \
    SIMT_INLINE T make_##T(E x, E y, E z) {                                                        \
        return {x, y, z};                                                                          \
    }
#define SIMT_VECTOR4(T, E)                                                                         \
    struct alignas(4 * sizeof(E)) T {                                                              \
        E x, y, z, w;                                                                              \
    };                                                                                             \
    SIMT_INLINE T make_##T(E x, E y, E z, E w) {                                                   \
        return {x, y, z, w};                                                                       \
    }
#define SIMT_WIDE2(T, E, bytes)                                                                    \
    struct alignas(bytes) T {                                                                      \
        E x, y;                                                                                    \
        SIMT_WIDE_COPY(T, bytes)                                                                   \
        constexpr T(E a, E b = {}) : x(a), y(b) {}                                                 \
    };                                                                                             \
    SIMT_INLINE T make_##T(E x, E y) {                                                             \
        return T(x, y);                                                                            \
    }
#define SIMT_WIDE4(T, E, bytes)                                                                    \
    struct alignas(bytes) T {                                                                      \
        E x, y, z, w;                                                                              \
        SIMT_WIDE_COPY(T, bytes)                                                                   \
        constexpr T(E a, E b = {}, E c = {}, E d = {}) : x(a), y(b), z(c), w(d) {}                 \
    };                                                                                             \
    SIMT_INLINE T make_##T(E x, E y, E z, E w) {                                                   \
        return T(x, y, z, w);                                                                      \
    }

SIMT_VECTOR1(float1, float)
SIMT_VECTOR1(int1, int)
SIMT_VECTOR1(uint1, unsigned)
SIMT_VECTOR2(char2, signed char)
SIMT_VECTOR2(uchar2, unsigned char)
SIMT_VECTOR2(short2, short)
SIMT_VECTOR2(ushort2, unsigned short)
SIMT_WIDE2(float2, float, 8)
SIMT_WIDE2(int2, int, 8)
SIMT_WIDE2(uint2, unsigned, 8)
SIMT_WIDE2(double2, double, 16)
SIMT_WIDE2(longlong2, long long, 16)
SIMT_WIDE2(ulonglong2, unsigned long long, 16)
SIMT_VECTOR3(float3, float)
SIMT_VECTOR3(int3, int)
SIMT_VECTOR3(uint3, unsigned)
SIMT_VECTOR3(double3, double)
SIMT_VECTOR4(char4, signed char)
SIMT_VECTOR4(uchar4, unsigned char)
SIMT_WIDE4(short4, short, 8)
SIMT_WIDE4(ushort4, unsigned short, 8)
SIMT_WIDE4(float4, float, 16)
SIMT_WIDE4(int4, int, 16)
SIMT_WIDE4(uint4, unsigned, 16)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 u) : x(u.x), y(u.y), z(u.z) {}
    operator uint3() const { return uint3{x, y, z}; }
};
