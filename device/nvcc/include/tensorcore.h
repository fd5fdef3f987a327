// tensorcore.h - single instructions of the tensor cores, for NVIDIA's compiler. The simulator has
// a header of the same name, which does the same in C++ and checks it.
//
// All 32 lanes of a warp call these functions together, at one place of the program: never in a
// branch that only some lanes take. Each lane holds its part of every matrix in registers of 32
// bits. With g = lane / 4 and t = lane % 4, and two halves (or bfloat16) in a register, the one
// with the lower index in the lower bits:
//
//   a [16 × 16]  a[0]: row g, columns 2t, 2t+1       a[2]: row g, columns 2t+8, 2t+9
//                a[1]: row g+8, columns 2t, 2t+1     a[3]: row g+8, columns 2t+8, 2t+9
//   b [16 × 8]   b[0]: rows 2t, 2t+1 of column g     b[1]: rows 2t+8, 2t+9 of column g
//   d [16 × 8]   d[0], d[1]: row g, columns 2t, 2t+1; d[2], d[3]: row g+8, the same columns
//
// tf32 has one number in a register, and half the depth:
//
//   a [16 × 8]   a[0]: row g, column t    a[1]: row g+8, column t
//                a[2]: row g, column t+4  a[3]: row g+8, column t+4
//   b [8 × 8]    b[0]: row t, column g    b[1]: row t+4, column g
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "tensorcore.h needs a GPU of compute capability 8.0 (Ampere) or newer"
#endif

#define FLASHLAB_MMA(name, shape, type)                                                            \
    __device__ __forceinline__ void name(float(&d)[4], const unsigned(&a)[4], unsigned b0,         \
                                         unsigned b1) {                                            \
        asm volatile("mma.sync.aligned." shape ".row.col.f32." type "." type ".f32 "               \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));              \
    }                                                                                              \
    __device__ __forceinline__ void name(float(&d)[4], const unsigned(&a)[4],                      \
                                         const unsigned(&b)[2]) {                                  \
        name(d, a, b[0], b[1]);                                                                    \
    }

// d [16 × 8] += a [16 × 16] · b [16 × 8] of halves.
FLASHLAB_MMA(mma_f16, "m16n8k16", "f16")
// d [16 × 8] += a [16 × 16] · b [16 × 8] of bfloat16.
FLASHLAB_MMA(mma_bf16, "m16n8k16", "bf16")
// d [16 × 8] += a [16 × 8] · b [8 × 8] of tf32: floats rounded by to_tf32, or else cut off.
FLASHLAB_MMA(mma_tf32, "m16n8k8", "tf32")
#undef FLASHLAB_MMA

// x rounded to tf32, 8 bits of exponent and 10 of fraction: to the nearest, ties away from zero.
__device__ __forceinline__ unsigned to_tf32(float x) {
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}

// Four matrices of 8 × 8 halves from shared memory into fragments. Lane i names row i % 8 of
// matrix i / 8: 16 bytes, at a multiple of 16. r[j] is then of matrix j: row g, columns 2t, 2t+1.
// For matrices of tf32 the same moves rows of 4 numbers: row g, column t.
__device__ __forceinline__ void load_matrix(unsigned (&r)[4], const void *row) {
    unsigned address = (unsigned)__cvta_generic_to_shared(row);
    // "memory": what was written to shared memory before must be there.
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

// The same, each matrix transposed: r[j] has rows 2t, 2t+1 of column g.
__device__ __forceinline__ void load_matrix_transposed(unsigned (&r)[4], const void *row) {
    unsigned address = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}
