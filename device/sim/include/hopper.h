// hopper.h - Hopper's instructions by their names. device/nvcc/include has the header of the same
// name for NVIDIA's compiler, and says there what each is for. Here they call the runtime, as
// inline PTX does once it is translated (device/sim/ptx); each brings the line of its caller.
#pragma once
#include "simt.h"

#include "cuda.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/hopper.h"
#include "simt/ptx.h"

#define SIMT_MEMBER inline __attribute__((always_inline))

struct Mbarrier {
    uint64_t state;

    SIMT_MEMBER void init(int arrivals, int line = __builtin_LINE()) {
        simt_mbarrier_init(this, (unsigned)arrivals, line);
    }
    SIMT_MEMBER void arrive(int line = __builtin_LINE()) {
        simt_mbarrier_arrive(this, 1, 0, 0, line);
    }
    SIMT_MEMBER void arrive_expect_tx(int bytes, int line = __builtin_LINE()) {
        simt_mbarrier_arrive(this, 1, (unsigned)bytes, 0, line);
    }
    SIMT_MEMBER void wait(int parity, int line = __builtin_LINE()) {
        while (!simt_mbarrier_wait(this, (unsigned)parity, 1, line))
            ;
    }
};
#undef SIMT_MEMBER

SIMT_INLINE void fence_mbarrier_init() {
    simt_fence_mbarrier_init();
}
SIMT_INLINE void fence_proxy_async() {
    simt_fence_proxy();
}
SIMT_INLINE void named_barrier_sync(int barrier, int threads, int line = __builtin_LINE()) {
    simt_named_barrier((unsigned)barrier, (unsigned)threads, 1, line);
}
SIMT_INLINE void named_barrier_arrive(int barrier, int threads, int line = __builtin_LINE()) {
    simt_named_barrier((unsigned)barrier, (unsigned)threads, 0, line);
}

SIMT_INLINE void bulk_load(void *to, const void *from, int bytes, const Mbarrier &full,
                           int line = __builtin_LINE()) {
    simt_bulk_load(to, from, (unsigned)bytes, (void *)&full, 0, line);
}
SIMT_INLINE void bulk_prefetch(const void *, int) {}

namespace simt::types {
struct Line { // no coordinate
    int number;
    constexpr Line(int n) : number(n) {}
};
} // namespace simt::types
SIMT_INLINE void tma_load(void *to, const CUtensorMap &map, const Mbarrier &full, int c0, int c1,
                          simt::types::Line line = __builtin_LINE()) {
    simt_tensor_load(2, to, &map, c0, c1, 0, 0, 0, (void *)&full, 0, line.number);
}
SIMT_INLINE void tma_load(void *to, const CUtensorMap &map, const Mbarrier &full, int c0, int c1,
                          int c2, simt::types::Line line = __builtin_LINE()) {
    simt_tensor_load(3, to, &map, c0, c1, c2, 0, 0, (void *)&full, 0, line.number);
}

SIMT_INLINE void tma_store(const CUtensorMap &map, const void *from, int c0, int c1, int c2,
                           simt::types::Line line = __builtin_LINE()) {
    simt_tensor_store(3, &map, c0, c1, c2, 0, 0, from, line.number);
}
SIMT_INLINE void bulk_commit() {
    simt_bulk_commit();
}
template <int Left> SIMT_INLINE void bulk_wait() {
    simt_bulk_wait(Left);
}
template <int Left> SIMT_INLINE void bulk_wait_read() {
    simt_bulk_wait(Left);
}
SIMT_INLINE void store_matrix(void *row, const unsigned (&r)[4], int line = __builtin_LINE()) {
    simt_stmatrix(row, 4, 0, r[0], r[1], r[2], r[3], line);
}

template <int Swizzle = 128>
SIMT_INLINE uint64_t matrix_descriptor(const void *p, int nextColumns = 0) {
    static_assert(Swizzle == 128 || Swizzle == 64 || Swizzle == 32, "rows of 128, 64 or 32 bytes");
    constexpr uint64_t mode = Swizzle == 128 ? 1 : Swizzle == 64 ? 2 : 3;
    return (__cvta_generic_to_shared(p) & 0x3ffff) / 16 | (uint64_t)(nextColumns / 16) << 16 |
           (uint64_t)(8 * Swizzle / 16) << 32 | mode << 62;
}

enum Major { K_MAJOR, MN_MAJOR };

SIMT_INLINE void wgmma_fence(int line = __builtin_LINE()) {
    simt_wgmma_fence(line);
}
SIMT_INLINE void wgmma_commit(int line = __builtin_LINE()) {
    simt_wgmma_commit(line);
}

namespace simt::hopper {
// The numbers are those of runtime/wgmma.h.
template <class Type> struct Factor;
template <> struct Factor<__half> {
    typedef float Sum;
    static constexpr unsigned code = 0 << 9 | 0 << 12 | 0 << 15;
};
template <> struct Factor<__nv_bfloat16> {
    typedef float Sum;
    static constexpr unsigned code = 1 << 9 | 1 << 12 | 0 << 15;
};
template <> struct Factor<int8_t> {
    typedef int Sum;
    static constexpr unsigned code = 5 << 9 | 5 << 12 | 2 << 15;
};
template <int Width, class Type, Major OfB> constexpr unsigned form(bool fromRegisters) {
    static_assert(Width == 8 || Width == 16 || Width == 32 || Width == 64 || Width == 96 ||
                      Width == 128 || Width == 160 || Width == 192 || Width == 256,
                  "wgmma<N, Type>: N is 8, 16, 32, 64, 96, 128, 160, 192 or 256; for others write "
                  "inline PTX");
    static_assert(OfB == K_MAJOR || sizeof(Type) == 2, "only halves are taken by columns");
    return Width | Factor<Type>::code | (unsigned)fromRegisters << 17 |
           (unsigned)(OfB == MN_MAJOR) << 19;
}
// Each sum by its own address: clang instruments an element of a local array only where that leaves
// the function.
template <class Sum, size_t N, size_t... I>
SIMT_INLINE void multiply(unsigned form, uint64_t a, uint64_t b, const uint32_t *words, bool add,
                          Sum (&d)[N], std::index_sequence<I...>, int line) {
    simt_wgmma(form, a, b, words[0], words[1], words[2], words[3], add, line,
               simt::ptx::place(d[I])...);
}
} // namespace simt::hopper

template <int Width, class Type, Major OfB = K_MAJOR>
SIMT_INLINE void wgmma(typename simt::hopper::Factor<Type>::Sum (&d)[Width / 2], uint64_t a,
                       uint64_t b, bool add = true, int line = __builtin_LINE()) {
    constexpr uint32_t none[4] = {};
    simt::hopper::multiply(simt::hopper::form<Width, Type, OfB>(false), a, b, none, add, d,
                           std::make_index_sequence<Width / 2>(), line);
}
template <int Width, class Type, Major OfB = K_MAJOR>
SIMT_INLINE void wgmma(typename simt::hopper::Factor<Type>::Sum (&d)[Width / 2], const uint32_t *a,
                       uint64_t b, bool add = true, int line = __builtin_LINE()) {
    simt::hopper::multiply(simt::hopper::form<Width, Type, OfB>(true), 0, b, a, add, d,
                           std::make_index_sequence<Width / 2>(), line);
}

// nvcc's header names the sums, so that they are not read too early; here that is a finding.
template <int Left> SIMT_INLINE void wgmma_wait(int line = __builtin_LINE()) {
    simt_wgmma_wait(Left, line);
}
template <int Left, class Sums> SIMT_INLINE void wgmma_wait(Sums &, int line = __builtin_LINE()) {
    simt_wgmma_wait(Left, line);
}

template <int Registers> SIMT_INLINE void setmaxnreg_inc(int line = __builtin_LINE()) {
    simt_setmaxnreg(Registers, 1, line);
}
template <int Registers> SIMT_INLINE void setmaxnreg_dec(int line = __builtin_LINE()) {
    simt_setmaxnreg(Registers, 0, line);
}
