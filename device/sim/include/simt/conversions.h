// conversions.h - between numbers, in all four directions of rounding, and
// between numbers and bits.
#pragma once

#define SIMT_CONVERSION(suffix, direction)                                                         \
    SIMT_INLINE int __float2int_##suffix(float f) {                                                \
        return simt::toInteger<int>(simt::integral(f, direction), 0);                              \
    }                                                                                              \
    SIMT_INLINE unsigned __float2uint_##suffix(float f) {                                          \
        return simt::toInteger<unsigned>(simt::integral(f, direction), 0);                         \
    }                                                                                              \
    SIMT_INLINE long long __float2ll_##suffix(float f) {                                           \
        return simt::toInteger<long long>(simt::integral(f, direction), LLONG_MIN);                \
    }                                                                                              \
    SIMT_INLINE unsigned long long __float2ull_##suffix(float f) {                                 \
        return simt::toInteger<unsigned long long>(simt::integral(f, direction), 1ull << 63);      \
    }                                                                                              \
    SIMT_INLINE int __double2int_##suffix(double f) {                                              \
        return simt::toInteger<int>(simt::integral(f, direction), INT_MIN);                        \
    }                                                                                              \
    SIMT_INLINE unsigned __double2uint_##suffix(double f) {                                        \
        return simt::toInteger<unsigned>(simt::integral(f, direction), 1u << 31);                  \
    }                                                                                              \
    SIMT_INLINE long long __double2ll_##suffix(double f) {                                         \
        return simt::toInteger<long long>(simt::integral(f, direction), LLONG_MIN);                \
    }                                                                                              \
    SIMT_INLINE unsigned long long __double2ull_##suffix(double f) {                               \
        return simt::toInteger<unsigned long long>(simt::integral(f, direction), 1ull << 63);      \
    }                                                                                              \
    SIMT_INLINE float __int2float_##suffix(int i) {                                                \
        return simt::toFloat(simt::fromInteger(i), direction);                                     \
    }                                                                                              \
    SIMT_INLINE float __uint2float_##suffix(unsigned i) {                                          \
        return simt::toFloat(simt::fromInteger(i), direction);                                     \
    }                                                                                              \
    SIMT_INLINE float __ll2float_##suffix(long long i) {                                           \
        return simt::toFloat(simt::fromInteger(i), direction);                                     \
    }                                                                                              \
    SIMT_INLINE float __ull2float_##suffix(unsigned long long i) {                                 \
        return simt::toFloat(simt::fromInteger(i), direction);                                     \
    }                                                                                              \
    SIMT_INLINE float __double2float_##suffix(double d) {                                          \
        return simt::toFloat(d, direction);                                                        \
    }
SIMT_CONVERSION(rn, simt::Nearest)
SIMT_CONVERSION(rz, simt::TowardZero)
SIMT_CONVERSION(ru, simt::Upward)
SIMT_CONVERSION(rd, simt::Downward)

SIMT_INLINE double __int2double_rn(int i) {
    return (double)i;
}
SIMT_INLINE double __uint2double_rn(unsigned i) {
    return (double)i;
}
SIMT_INLINE double __ll2double_rn(long long i) {
    return (double)i;
}
SIMT_INLINE double __ull2double_rn(unsigned long long i) {
    return (double)i;
}

SIMT_INLINE int __float_as_int(float f) {
    return simt::bits<int>(f);
}
SIMT_INLINE unsigned __float_as_uint(float f) {
    return simt::bits<unsigned>(f);
}
SIMT_INLINE float __int_as_float(int i) {
    return simt::bits<float>(i);
}
SIMT_INLINE float __uint_as_float(unsigned i) {
    return simt::bits<float>(i);
}
SIMT_INLINE long long __double_as_longlong(double d) {
    return simt::bits<long long>(d);
}
SIMT_INLINE double __longlong_as_double(long long i) {
    return simt::bits<double>(i);
}
SIMT_INLINE int __double2hiint(double d) {
    return (int)(simt::bits<long long>(d) >> 32);
}
SIMT_INLINE int __double2loint(double d) {
    return (int)simt::bits<long long>(d);
}
SIMT_INLINE double __hiloint2double(int high, int low) {
    return simt::bits<double>((long long)high << 32 | (unsigned)low);
}
