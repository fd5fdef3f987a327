// hopper.h - Hopper's instructions by their names. device/nvcc/include has the header of the same
// name for NVIDIA's compiler, and says there what each is for. Here they call the runtime, as
// inline PTX does once it is translated (device/sim/ptx); each brings the line of its caller.
#pragma once
#include "simt.h"

#include "cuda.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/hopper.h"

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

namespace flashlab {
struct Line { // no coordinate
    int number;
    constexpr Line(int n) : number(n) {}
};
} // namespace flashlab
SIMT_INLINE void tma_load(void *to, const CUtensorMap &map, const Mbarrier &full, int c0, int c1,
                          flashlab::Line line = __builtin_LINE()) {
    simt_tensor_load(2, to, &map, c0, c1, 0, 0, 0, (void *)&full, 0, line.number);
}
SIMT_INLINE void tma_load(void *to, const CUtensorMap &map, const Mbarrier &full, int c0, int c1,
                          int c2, flashlab::Line line = __builtin_LINE()) {
    simt_tensor_load(3, to, &map, c0, c1, c2, 0, 0, (void *)&full, 0, line.number);
}

template <int SWIZZLE = 128>
SIMT_INLINE uint64_t matrix_descriptor(const void *p, int nextColumns = 0) {
    static_assert(SWIZZLE == 128 || SWIZZLE == 64 || SWIZZLE == 32, "rows of 128, 64 or 32 bytes");
    constexpr uint64_t mode = SWIZZLE == 128 ? 1 : SWIZZLE == 64 ? 2 : 3;
    return (__cvta_generic_to_shared(p) & 0x3ffff) / 16 | (uint64_t)(nextColumns / 16) << 16 |
           (uint64_t)(8 * SWIZZLE / 16) << 32 | mode << 62;
}

enum class Major { K, MN };

SIMT_INLINE void wgmma_fence(int line = __builtin_LINE()) {
    simt_wgmma_fence(line);
}
SIMT_INLINE void wgmma_commit(int line = __builtin_LINE()) {
    simt_wgmma_commit(line);
}

namespace flashlab {
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
template <int N, class Type, Major B> constexpr unsigned form(bool fromRegisters) {
    static_assert(N == 8 || N == 16 || N == 32 || N == 64 || N == 96 || N == 128 || N == 160 ||
                      N == 192 || N == 256,
                  "wgmma<N, Type>: N is 8, 16, 32, 64, 96, 128, 160, 192 or 256; for others write "
                  "inline PTX");
    static_assert(B == Major::K || sizeof(Type) == 2, "only halves are taken by columns");
    return N | Factor<Type>::code | (unsigned)fromRegisters << 17 |
           (unsigned)(B == Major::MN) << 19;
}
} // namespace flashlab

template <int N, class Type, Major B = Major::K>
SIMT_INLINE void wgmma(typename flashlab::Factor<Type>::Sum (&d)[N / 2], uint64_t a, uint64_t b,
                       bool add = true, int line = __builtin_LINE()) {
    simt_wgmma_array(flashlab::form<N, Type, B>(false), a, b, 0, 0, 0, 0, add, d, line);
}
template <int N, class Type, Major B = Major::K>
SIMT_INLINE void wgmma(typename flashlab::Factor<Type>::Sum (&d)[N / 2], const uint32_t *a,
                       uint64_t b, bool add = true, int line = __builtin_LINE()) {
    simt_wgmma_array(flashlab::form<N, Type, B>(true), 0, b, a[0], a[1], a[2], a[3], add, d, line);
}

// nvcc's header names the sums, so that they are not read too early; here that is a finding.
template <int LEFT> SIMT_INLINE void wgmma_wait(int line = __builtin_LINE()) {
    simt_wgmma_wait(LEFT, line);
}
template <int LEFT, class Sums> SIMT_INLINE void wgmma_wait(Sums &, int line = __builtin_LINE()) {
    simt_wgmma_wait(LEFT, line);
}

template <int REGISTERS> SIMT_INLINE void setmaxnreg_inc(int line = __builtin_LINE()) {
    simt_setmaxnreg(REGISTERS, 1, line);
}
template <int REGISTERS> SIMT_INLINE void setmaxnreg_dec(int line = __builtin_LINE()) {
    simt_setmaxnreg(REGISTERS, 0, line);
}
