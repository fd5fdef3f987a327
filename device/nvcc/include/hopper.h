// hopper.h - Hopper's instructions by their names, for NVIDIA's compiler: barriers in shared
// memory, the copy engine, products of warpgroups. The simulator has a header of the same name,
// which does the same in C++ and checks it. A task's kernels may include it where they may hold
// inline PTX.
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#error "hopper.h needs a GPU of compute capability 9.0 (Hopper), compiled for sm_90a"
#endif

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

namespace flashlab {
__device__ __forceinline__ uint32_t at(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}
} // namespace flashlab

// --- Barriers

// A barrier in shared memory, for threads and copies. Its phases are numbered 0, 1, 2 ..., and a
// phase ends when all arrivals and all announced bytes are there.
struct Mbarrier {
    uint64_t state;

    // One thread does this, then fence_mbarrier_init, and the block meets before others use it.
    __device__ __forceinline__ void init(int arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                     :
                     : "r"(flashlab::at(this)), "r"(arrivals));
    }
    // An arrival may overtake loads of this thread before it that the copy engine must not
    // overtake: fence_proxy_async stands between them.
    __device__ __forceinline__ void arrive() {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                     :
                     : "r"(flashlab::at(this))
                     : "memory");
    }
    // Arrives, and announces so many bytes, which copies bring.
    __device__ __forceinline__ void arrive_expect_tx(int bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :
                     : "r"(flashlab::at(this)), "r"(bytes)
                     : "memory");
    }
    // Waits for the end of the current phase if its number is even (parity 0) or odd (1). Before
    // phase 0, a phase of parity 1 counts as over.
    __device__ __forceinline__ void wait(int parity) {
        for (uint32_t over = 0; !over;)
            asm volatile("{\n"
                         ".reg .pred p;\n"
                         "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, p;\n"
                         "}"
                         : "=r"(over)
                         : "r"(flashlab::at(this)), "r"(parity)
                         : "memory");
    }
};

// The copy engine sees barriers that this thread has initialised.
__device__ __forceinline__ void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}
// The copy engine and wgmma see what this thread has stored to shared memory, and come after what
// it has loaded.
__device__ __forceinline__ void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}
// One of the block's barriers 1 to 15, for so many threads: whole warps. __syncthreads() is 0.
__device__ __forceinline__ void named_barrier_sync(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}
// Counts this warp's threads without waiting.
__device__ __forceinline__ void named_barrier_arrive(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

// --- The copy engine. One thread asks; the barrier gets the bytes.

// From device memory; addresses and bytes are multiples of 16.
__device__ __forceinline__ void bulk_load(void *to, const void *from, int bytes,
                                          const Mbarrier &full) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];"
                 :
                 : "r"(flashlab::at(to)), "l"(from), "r"(bytes), "r"(flashlab::at(&full))
                 : "memory");
}
// Asks the L2 cache for what somebody will read soon: 0 bytes are nothing.
__device__ __forceinline__ void bulk_prefetch(const void *from, int bytes) {
    if (bytes > 0)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(from), "r"(bytes));
}

// A box of a tensor (TMA), from these coordinates on, the innermost first. What lies outside the
// tensor arrives as zeros. It goes to a multiple of 128, or of 1024 if the map swizzles by 128:
// then of line n the 16 bytes of number p are where those of p ^ n % 8 would be.
#define FLASHLAB_BOX(rank, coordinates)                                                            \
    asm volatile("cp.async.bulk.tensor." rank                                                      \
                 ".shared::cluster.global.mbarrier::complete_tx::bytes"                            \
                 " [%0], [%1, {" coordinates "}], [%2];"                                           \
                 :                                                                                 \
                 : "r"(flashlab::at(to)), "l"(&map), "r"(flashlab::at(&full))FLASHLAB_COORDINATES  \
                 : "memory")
#define FLASHLAB_COORDINATES , "r"(c0), "r"(c1)
__device__ __forceinline__ void tma_load(void *to, const CUtensorMap &map, const Mbarrier &full,
                                         int c0, int c1) {
    FLASHLAB_BOX("2d", "%3, %4");
}
#undef FLASHLAB_COORDINATES
#define FLASHLAB_COORDINATES , "r"(c0), "r"(c1), "r"(c2)
__device__ __forceinline__ void tma_load(void *to, const CUtensorMap &map, const Mbarrier &full,
                                         int c0, int c1, int c2) {
    FLASHLAB_BOX("3d", "%3, %4, %5");
}
#undef FLASHLAB_COORDINATES
#undef FLASHLAB_BOX

// A box on its way out, from a multiple of 128 (1024 if swizzled): what lies outside the tensor is
// left out. fence_proxy_async stands behind the stores that made it.
__device__ __forceinline__ void tma_store(const CUtensorMap &map, const void *from, int c0, int c1,
                                          int c2) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];"
                 :
                 : "l"(&map), "r"(flashlab::at(from)), "r"(c0), "r"(c1), "r"(c2)
                 : "memory");
}
// This thread's stores since the last commit are a group.
__device__ __forceinline__ void bulk_commit() {
    asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}
// Waits until all of this thread's groups but the last Left are done; or only until they have read
// shared memory, which may then be written again.
template <int Left> __device__ __forceinline__ void bulk_wait() {
    asm volatile("cp.async.bulk.wait_group %0;" : : "n"(Left) : "memory");
}
template <int Left> __device__ __forceinline__ void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(Left) : "memory");
}

// Four matrices of 8 x 8 halves from registers to shared memory, load_matrix the other way round:
// lane i names row i % 8 of matrix i / 8.
__device__ __forceinline__ void store_matrix(void *row, const unsigned (&r)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(flashlab::at(row)), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}

// --- Products of warpgroups. Its 128 threads call all of this together.

// A matrix in shared memory. Its bits: where it begins; how far the next block of columns is, where
// it is MN-major; how far the next eight rows are; the swizzle. Lengths count 16 bytes, so the next
// 16 halves of K-major rows are at + 2.
template <int Swizzle = 128>
__device__ __forceinline__ uint64_t matrix_descriptor(const void *p, int nextColumns = 0) {
    static_assert(Swizzle == 128 || Swizzle == 64 || Swizzle == 32, "rows of 128, 64 or 32 bytes");
    return flashlab::at(p) % (1 << 18) / 16 | (uint64_t)(nextColumns / 16) << 16 |
           (uint64_t)(8 * Swizzle / 16) << 32 |
           (uint64_t)(Swizzle == 128  ? 1
                      : Swizzle == 64 ? 2
                                      : 3)
               << 62;
}

// How b lies in shared memory: its rows run along the sum (K), as those of a always do here, or
// along the columns of d (MN).
enum Major { K_MAJOR, MN_MAJOR };

// Registers that were written before are seen by the products that follow.
__device__ __forceinline__ void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
__device__ __forceinline__ void wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}

namespace flashlab {
// Nothing that reads or writes these may move to the other side.
template <int Width> __device__ __forceinline__ void pin(float (&d)[Width]) {
#pragma unroll
    for (int i = 0; i < Width; i++) asm volatile("" : "+f"(d[i])::"memory");
}
template <int Width> __device__ __forceinline__ void pin(int (&d)[Width]) {
#pragma unroll
    for (int i = 0; i < Width; i++) asm volatile("" : "+r"(d[i])::"memory");
}
template <int High, int Width> __device__ __forceinline__ void pin(float (&d)[High][Width]) {
#pragma unroll
    for (int i = 0; i < High; i++) pin(d[i]);
}
} // namespace flashlab

// Waits until all groups of products but the last so many are done. Name their sums, an array or an
// array of arrays, or the compiler may read them before.
template <int Left> __device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(Left) : "memory");
}
template <int Left, class Sums> __device__ __forceinline__ void wgmma_wait(Sums &sums) {
    wgmma_wait<Left>();
    flashlab::pin(sums);
}

// wgmma<N, Type>(d, a, b, add): d [64 x N] = a [64 x 32 bytes] * b [N x 32 bytes]^T, plus d if add.
// Type is __half, __nv_bfloat16 (sums are float) or int8_t (int). b is a descriptor; a is one, or
// four registers: of the warp's 16 rows, with g = lane / 4 and t = lane % 4, 4 bytes from 4t on of
// row g, of row g + 8, and the same 16 bytes further on. Number 4j + 2h + c of d is that of column
// 8j + 2t + c in row g + 8h.
namespace flashlab {
template <class Type> struct Sum {
    typedef float type;
};
template <> struct Sum<int8_t> {
    typedef int type;
};
template <int Width, class Type> struct Product {
    static_assert(Width < 0,
                  "wgmma<N, Type>: N is 8, 16, 32, 64, 96, 128, 160, 192 or 256, and Type "
                  "__half, __nv_bfloat16 or int8_t; for others write inline PTX");
};
} // namespace flashlab

template <int Width, class Type, Major OfB = K_MAJOR>
__device__ __forceinline__ void wgmma(typename flashlab::Sum<Type>::type (&d)[Width / 2],
                                      uint64_t a, uint64_t b, bool add = true) {
    static_assert(OfB == K_MAJOR || sizeof(Type) == 2, "only halves are taken by columns");
    flashlab::Product<Width, Type>::template shared<OfB == MN_MAJOR>(d, a, b, add);
}
template <int Width, class Type, Major OfB = K_MAJOR>
__device__ __forceinline__ void wgmma(typename flashlab::Sum<Type>::type (&d)[Width / 2],
                                      const uint32_t *a, uint64_t b, bool add = true) {
    static_assert(OfB == K_MAJOR || sizeof(Type) == 2, "only halves are taken by columns");
    flashlab::Product<Width, Type>::template registers<OfB == MN_MAJOR>(d, a, b, add);
}

// d's registers as asm takes them, c(d[i]) each, and as it names them.
// clang-format off
#define FLASHLAB_D4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define FLASHLAB_D16(c, i) FLASHLAB_D4(c, i), FLASHLAB_D4(c, i + 4), FLASHLAB_D4(c, i + 8), FLASHLAB_D4(c, i + 12)
#define FLASHLAB_D32(c, i) FLASHLAB_D16(c, i), FLASHLAB_D16(c, i + 16)
#define FLASHLAB_OF8(c) FLASHLAB_D4(c, 0)
#define FLASHLAB_OF16(c) FLASHLAB_D4(c, 0), FLASHLAB_D4(c, 4)
#define FLASHLAB_OF32(c) FLASHLAB_D16(c, 0)
#define FLASHLAB_OF64(c) FLASHLAB_D32(c, 0)
#define FLASHLAB_OF96(c) FLASHLAB_D32(c, 0), FLASHLAB_D16(c, 32)
#define FLASHLAB_OF128(c) FLASHLAB_D32(c, 0), FLASHLAB_D32(c, 32)
#define FLASHLAB_OF160(c) FLASHLAB_OF128(c), FLASHLAB_D16(c, 64)
#define FLASHLAB_OF192(c) FLASHLAB_OF128(c), FLASHLAB_D32(c, 64)
#define FLASHLAB_OF256(c) FLASHLAB_OF192(c), FLASHLAB_D32(c, 96)
#define FLASHLAB_TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define FLASHLAB_TO30 FLASHLAB_TEN() FLASHLAB_TEN(1) FLASHLAB_TEN(2)
#define FLASHLAB_TO60 FLASHLAB_TO30 FLASHLAB_TEN(3) FLASHLAB_TEN(4) FLASHLAB_TEN(5)
#define FLASHLAB_TO90 FLASHLAB_TO60 FLASHLAB_TEN(6) FLASHLAB_TEN(7) FLASHLAB_TEN(8)
#define FLASHLAB_TO120 FLASHLAB_TO90 FLASHLAB_TEN(9) FLASHLAB_TEN(10) FLASHLAB_TEN(11)
// What follows the predicate: signs, and whether b is transposed, which is operand r.
#define FLASHLAB_SHARED(r) ", 1, 1, 0, %" #r
#define FLASHLAB_REGISTERS(r) ", 1, 1, %" #r
#define FLASHLAB_NOTHING(r)
// clang-format on
// r0 and so on are the numbers of the operands behind d.
#define FLASHLAB_PRODUCT(N, Type, c, form, SHARED, REGISTERS, names, r0, r1, r2, r3, r4, r5, r6)   \
    template <> struct Product<N, Type> {                                                          \
        template <bool Transposed>                                                                 \
        static __device__ __forceinline__ void shared(Sum<Type>::type (&d)[N / 2], uint64_t a,     \
                                                      uint64_t b, int add) {                       \
            asm volatile("{ .reg .pred p;\n"                                                       \
                         "setp.ne.b32 p, %" #r2 ", 0;\n"                                           \
                         "wgmma.mma_async.sync.aligned.m64n" #N form " {" names "}, %" #r0         \
                         ", %" #r1 ", p" SHARED(r3) "; }"                                          \
                         : FLASHLAB_OF##N(c)                                                       \
                         : "l"(a), "l"(b), "r"(add), "n"(Transposed));                             \
        }                                                                                          \
        template <bool Transposed>                                                                 \
        static __device__ __forceinline__ void registers(Sum<Type>::type (&d)[N / 2],              \
                                                         const uint32_t *a, uint64_t b, int add) { \
            asm volatile("{ .reg .pred p;\n"                                                       \
                         "setp.ne.b32 p, %" #r5 ", 0;\n"                                           \
                         "wgmma.mma_async.sync.aligned.m64n" #N form " {" names "}, {%" #r0        \
                         ",%" #r1 ",%" #r2 ",%" #r3 "}, %" #r4 ", p" REGISTERS(r6) "; }"           \
                         : FLASHLAB_OF##N(c)                                                       \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add),           \
                           "n"(Transposed));                                                       \
        }                                                                                          \
    };
#define FLASHLAB_PRODUCTS(N, ...)                                                                  \
    FLASHLAB_PRODUCT(N, __half, "+f", "k16.f32.f16.f16", FLASHLAB_SHARED, FLASHLAB_REGISTERS,      \
                     __VA_ARGS__)                                                                  \
    FLASHLAB_PRODUCT(N, __nv_bfloat16, "+f", "k16.f32.bf16.bf16", FLASHLAB_SHARED,                 \
                     FLASHLAB_REGISTERS, __VA_ARGS__)                                              \
    FLASHLAB_PRODUCT(N, int8_t, "+r", "k32.s32.s8.s8", FLASHLAB_NOTHING, FLASHLAB_NOTHING,         \
                     __VA_ARGS__)
namespace flashlab {
// clang-format off
FLASHLAB_PRODUCTS(8, "%0,%1,%2,%3", 4, 5, 6, 7, 8, 9, 10)
FLASHLAB_PRODUCTS(16, "%0,%1,%2,%3,%4,%5,%6,%7", 8, 9, 10, 11, 12, 13, 14)
FLASHLAB_PRODUCTS(32, FLASHLAB_TEN() "%10,%11,%12,%13,%14,%15", 16, 17, 18, 19, 20, 21, 22)
FLASHLAB_PRODUCTS(64, FLASHLAB_TO30 "%30,%31", 32, 33, 34, 35, 36, 37, 38)
FLASHLAB_PRODUCTS(96, FLASHLAB_TO30 FLASHLAB_TEN(3) "%40,%41,%42,%43,%44,%45,%46,%47", 48, 49, 50, 51, 52, 53, 54)
FLASHLAB_PRODUCTS(128, FLASHLAB_TO60 "%60,%61,%62,%63", 64, 65, 66, 67, 68, 69, 70)
FLASHLAB_PRODUCTS(160, FLASHLAB_TO60 FLASHLAB_TEN(6) "%70,%71,%72,%73,%74,%75,%76,%77,%78,%79",
                  80, 81, 82, 83, 84, 85, 86)
FLASHLAB_PRODUCTS(192, FLASHLAB_TO90 "%90,%91,%92,%93,%94,%95", 96, 97, 98, 99, 100, 101, 102)
FLASHLAB_PRODUCTS(256, FLASHLAB_TO120 "%120,%121,%122,%123,%124,%125,%126,%127", 128, 129, 130, 131, 132, 133, 134)
// clang-format on
} // namespace flashlab

// --- Registers of a warpgroup's threads: it takes more, or gives up what it does not need.

template <int Registers> __device__ __forceinline__ void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(Registers));
}
template <int Registers> __device__ __forceinline__ void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(Registers));
}
