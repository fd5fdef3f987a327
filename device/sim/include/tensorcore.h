// tensorcore.h - single instructions of the tensor cores. device/nvcc/include has the header of the
// same name for NVIDIA's compiler, and says there who holds what. Here the lanes of a warp meet,
// and the last to arrive computes for all (runtime/tensorcore.cpp): products are exact, and sums
// are cut off as Hopper's tensor cores are found to do (runtime/tensorsum.h).
#pragma once
#include "simt.h"

namespace simt {
// Fragments travel in registers: the checks look at memory, and would cost more than the product.
struct FourFloats {
    float x, y, z, w;
};
struct FourWords {
    unsigned x, y, z, w;
};
} // namespace simt

extern "C" {
// The number is that of a lane's share of the products, for the counts.
#define SIMT_PRODUCT(name)                                                                         \
    simt::FourFloats name(unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,         \
                          unsigned b1, float d0, float d1, float d2, float d3, int line);
SIMT_PRODUCT(simt_multiply_64_half)
SIMT_PRODUCT(simt_multiply_64_bfloat16)
SIMT_PRODUCT(simt_multiply_32_tf32)
#undef SIMT_PRODUCT
simt::FourWords simt_load_matrix(const void *row, int transposed, int line);
}

#define SIMT_MMA(name, multiply)                                                                   \
    SIMT_INLINE void name(float(&d)[4], const unsigned(&a)[4], unsigned b0, unsigned b1,           \
                          int line = __builtin_LINE()) {                                           \
        simt::FourFloats sum =                                                                     \
            multiply(a[0], a[1], a[2], a[3], b0, b1, d[0], d[1], d[2], d[3], line);                \
        d[0] = sum.x, d[1] = sum.y, d[2] = sum.z, d[3] = sum.w;                                    \
    }                                                                                              \
    SIMT_INLINE void name(float(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2],              \
                          int line = __builtin_LINE()) {                                           \
        name(d, a, b[0], b[1], line);                                                              \
    }
SIMT_MMA(mma_f16, simt_multiply_64_half)
SIMT_MMA(mma_bf16, simt_multiply_64_bfloat16)
SIMT_MMA(mma_tf32, simt_multiply_32_tf32)
#undef SIMT_MMA

// To the nearest of tf32's 10 bits of fraction, ties away from zero.
SIMT_INLINE unsigned to_tf32(float x) {
    unsigned u = simt::bits<unsigned>(x);
    if ((u & 0x7f800000u) == 0x7f800000u) return u; // infinity, NaN
    return (u + 0x1000u) & 0xffffe000u;
}

SIMT_INLINE void load_matrix(unsigned (&r)[4], const void *row, int line = __builtin_LINE()) {
    simt::FourWords w = simt_load_matrix(row, 0, line);
    r[0] = w.x, r[1] = w.y, r[2] = w.z, r[3] = w.w;
}
SIMT_INLINE void load_matrix_transposed(unsigned (&r)[4], const void *row,
                                        int line = __builtin_LINE()) {
    simt::FourWords w = simt_load_matrix(row, 1, line);
    r[0] = w.x, r[1] = w.y, r[2] = w.z, r[3] = w.w;
}
