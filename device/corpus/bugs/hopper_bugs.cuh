// hopper_bugs.cuh - what the files of planted bugs share. A kernel with an #ifdef BUG is a bug, and
// its twin without BUG; the other bugs are beside their twins. Blocks have 256 threads, two
// warpgroups. map is a tensor of 64 rows of 64 halves, in a box of the same size, swizzled by 128;
// x and y hold 4096 halves and 8192 floats.
#pragma once
#include <cuda.h>
#include <cuda_fp16.h>
#include <stdint.h>

// Macros, so that a finding's line is that of the kernel.
#define AT(p) (uint32_t) __cvta_generic_to_shared(p)
#define INIT(b, n) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(AT(b)), "r"(n))
#define FENCE_INIT asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory")
#define FENCE_ASYNC asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define ANNOUNCE(b, bytes)                                                                         \
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(AT(b)), "r"(bytes) \
                 : "memory")
#define ARRIVE(b) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(AT(b)) : "memory")
#define ARRIVE_TIMES(b, n)                                                                         \
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(AT(b)), "r"(n) : "memory")
#define WAIT(b, phase)                                                                             \
    asm volatile("{ .reg .pred p;\nAGAIN:\n"                                                       \
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"                         \
                 "@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(AT(b)),                                \
                 "r"(phase)                                                                        \
                 : "memory")
#define FETCH_AT(to, map, column, row, b)                                                          \
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "    \
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(AT(to)),                                      \
                 "l"(map), "r"(AT(b)), "r"(column), "r"(row)                                       \
                 : "memory")
#define FETCH(to, map, row, b) FETCH_AT(to, map, 0, row, b)
#define SEND_BOX(map, row, from)                                                                   \
    asm volatile(                                                                                  \
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),  \
        "r"(AT(from)), "r"(0), "r"(row)                                                            \
        : "memory")
#define SEND(to, from, bytes)                                                                      \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),          \
                 "r"(AT(from)), "r"(bytes)                                                         \
                 : "memory")
#define SEND_COMMIT asm volatile("cp.async.bulk.commit_group;")
#define SEND_WAIT asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define FINISH asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")
#define MULTIPLY(d, a, b)                                                                          \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, " \
                 "1, 1, 0, 0;"                                                                     \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
                 : "l"(a), "l"(b))
#define NAMED(id, n) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory")
#define NAMED_ARRIVE(id, n) asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory")

__device__ uint64_t described(const void *p, uint64_t swizzle) {
    return AT(p) / 16 | (uint64_t)1 << 16 | (uint64_t)64 << 32 | swizzle << 62;
}
__device__ uint64_t described(const void *p) {
    return described(p, 1);
}
constexpr int TILE = 64 * 64 * 2; // bytes
typedef half Tile[64 * 64];

// A barrier for one arrival, known to all; a tile that is on its way.
#define READY(b)                                                                                   \
    if (threadIdx.x == 0) {                                                                        \
        INIT(&b, 1);                                                                               \
        FENCE_INIT;                                                                                \
    }                                                                                              \
    __syncthreads();
#define FILLING(tile, b)                                                                           \
    READY(b)                                                                                       \
    if (threadIdx.x == 0) {                                                                        \
        ANNOUNCE(&b, TILE);                                                                        \
        FETCH(tile, &map, 0, &b);                                                                  \
    }
