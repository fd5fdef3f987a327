// hopper_bugs.cu - planted bugs of Hopper's instructions, each beside a twin without it. Blocks
// have 256 threads, two warpgroups. map is a tensor of 64 rows of 64 halves, in a box of the same
// size, swizzled by 128; x and y hold 4096 halves and 8192 floats.
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
#define FETCH(to, map, row, b)                                                                     \
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "    \
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(AT(to)),                                      \
                 "l"(map), "r"(AT(b)), "r"(0), "r"(row)                                            \
                 : "memory")
#define SEND(to, from, bytes)                                                                      \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),          \
                 "r"(AT(from)), "r"(bytes)                                                         \
                 : "memory")
#define SEND_COMMIT asm volatile("cp.async.bulk.commit_group;")
#define SEND_WAIT asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define BEGIN asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
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

// --- Data before its barrier's phase

extern "C" __global__ void reads_in_time(const __grid_constant__ CUtensorMap map, const half *x,
                                         float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void reads_early(const __grid_constant__ CUtensorMap map, const half *x,
                                       float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    y[threadIdx.x] = __half2float(tile[threadIdx.x]); // want: not waited for
    WAIT(&full, 0);
}
extern "C" __global__ void only_one_waits(const __grid_constant__ CUtensorMap map, const half *x,
                                          float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    if (threadIdx.x == 0) WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]); // want: race
}
extern "C" __global__ void one_waits_for_its_warp(const __grid_constant__ CUtensorMap map,
                                                  const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    if (threadIdx.x % 32 == 0) WAIT(&full, 0);
    __syncwarp();
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void one_waits_without_its_warp(const __grid_constant__ CUtensorMap map,
                                                      const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    if (threadIdx.x % 32 == 0) WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]); // want: race
}
extern "C" __global__ void multiplies_in_time(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    WAIT(&full, 0);
    float d[4] = {0, 0, 0, 0};
    BEGIN;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void multiplies_early(const __grid_constant__ CUtensorMap map, const half *x,
                                            float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    float d[4] = {0, 0, 0, 0};
    BEGIN;
    MULTIPLY(d, described(tile), described(tile)); // want: not waited for
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
    WAIT(&full, 0);
}
extern "C" __global__ void never_waited_for(const __grid_constant__ CUtensorMap map, const half *x,
                                            float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    READY(full)
    if (threadIdx.x) return;
    ANNOUNCE(&full, TILE);
    FETCH(tile, &map, 0, &full); // want: not waited for
}

// --- Phases

#define TWO_ROUNDS(second)                                                                         \
    READY(full)                                                                                    \
    for (int i = 0; i < 2; i++) {                                                                  \
        if (threadIdx.x == 0) {                                                                    \
            ANNOUNCE(&full, TILE);                                                                 \
            FETCH(tile, &map, 0, &full);                                                           \
        }                                                                                          \
        WAIT(&full, i ? second : 0);
extern "C" __global__ void flips_its_phase(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    TWO_ROUNDS(1)
    y[256 * i + threadIdx.x] = __half2float(tile[threadIdx.x]);
    __syncthreads();
}
}
extern "C" __global__ void keeps_its_phase(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    TWO_ROUNDS(0)
    y[256 * i + threadIdx.x] = __half2float(tile[threadIdx.x]); // want: stale phase
    __syncthreads();
}
WAIT(&full, 1);
}
extern "C" __global__ void waits_for_ever(const __grid_constant__ CUtensorMap map, const half *x,
                                          float *y) {
    __shared__ uint64_t empty;
    READY(empty)
    if (threadIdx.x == 0) WAIT(&empty, 0); // want: deadlock
    y[threadIdx.x] = 1;
}
extern "C" __global__ void passes_the_first_time(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    __shared__ uint64_t empty;
    READY(empty)
    if (threadIdx.x == 0) WAIT(&empty, 1);
    y[threadIdx.x] = 1;
}

// --- Bytes and arrivals

extern "C" __global__ void announces_too_much(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    READY(full)
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE + 16);
        FETCH(tile, &map, 0, &full);
    }
    WAIT(&full, 0); // want: transaction bytes
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void announces_too_little(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    READY(full)
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE / 2); // want: transaction bytes
        FETCH(tile, &map, 0, &full);
    }
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void announces_one_of_two(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    __shared__ __align__(1024) Tile tile[2];
    __shared__ uint64_t full;
    READY(full)
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE); // want: transaction bytes
        FETCH(tile[0], &map, 0, &full);
        FETCH(tile[1], &map, 32, &full);
    }
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[0][threadIdx.x]);
}
extern "C" __global__ void announces_both(const __grid_constant__ CUtensorMap map, const half *x,
                                          float *y) {
    __shared__ __align__(1024) Tile tile[2];
    __shared__ uint64_t full;
    READY(full)
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, 2 * TILE);
        FETCH(tile[0], &map, 0, &full);
        FETCH(tile[1], &map, 32, &full); // half of it is outside, and counts
    }
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[1][4096 - 256 + threadIdx.x]);
}
extern "C" __global__ void too_many_arrive(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    __shared__ uint64_t full;
    if (threadIdx.x == 0) INIT(&full, 2);
    __syncthreads();
    if (threadIdx.x == 0) ARRIVE_TIMES(&full, 3); // want: too many arrivals
    y[threadIdx.x] = 1;
}
extern "C" __global__ void not_initialised(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    __shared__ uint64_t full;
    ARRIVE(&full); // want: no mbarrier
    y[threadIdx.x] = 1;
}
extern "C" __global__ void initialised_unseen(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ uint64_t full;
    if (threadIdx.x == 0) INIT(&full, 256);
    ARRIVE(&full); // want: race
    WAIT(&full, 0);
    y[threadIdx.x] = 1;
}

// --- Handed over without a fence

extern "C" __global__ void multiplies_what_it_wrote(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    for (int i = threadIdx.x; i < 4096; i += 256) tile[i] = x[i];
    FENCE_ASYNC;
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    BEGIN;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void fences_after_the_barrier(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    for (int i = threadIdx.x; i < 4096; i += 256) tile[i] = x[i];
    __syncthreads();
    FENCE_ASYNC;
    float d[4] = {0, 0, 0, 0};
    BEGIN;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void multiplies_without_fence(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    for (int i = threadIdx.x; i < 4096; i += 256) tile[i] = x[i];
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    BEGIN;
    MULTIPLY(d, described(tile), described(tile)); // want: no proxy fence
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void sends_what_it_wrote(const __grid_constant__ CUtensorMap map,
                                               const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024);
    SEND_COMMIT;
    SEND_WAIT;
}
extern "C" __global__ void sends_without_fence(const __grid_constant__ CUtensorMap map,
                                               const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024); // want: no proxy fence
    SEND_COMMIT;
    SEND_WAIT;
}
extern "C" __global__ void sends_without_barrier(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[255 - threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    if (threadIdx.x != 255) return;
    SEND(y, row, 1024); // want: race
    SEND_COMMIT;
    SEND_WAIT;
}
extern "C" __global__ void barrier_without_fence(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    if (threadIdx.x == 0) INIT(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE);
        FETCH(tile, &map, 0, &full); // want: no proxy fence
    }
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}

// --- Buffers in use

extern "C" __global__ void refills_while_multiplying(const __grid_constant__ CUtensorMap map,
                                                     const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    WAIT(&full, 0);
    float d[4] = {0, 0, 0, 0};
    BEGIN;
    MULTIPLY(d, described(tile), described(tile)); // want: race
    COMMIT;
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE);
        FETCH(tile, &map, 0, &full);
    }
    FINISH;
    WAIT(&full, 1);
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
// The second warpgroup's first thread refills when the first warpgroup's warps have arrived.
#define RING(before, after)                                                                        \
    __shared__ __align__(1024) Tile tile;                                                          \
    __shared__ uint64_t full, empty;                                                               \
    if (threadIdx.x == 0) {                                                                        \
        INIT(&full, 1);                                                                            \
        INIT(&empty, 4);                                                                           \
        FENCE_INIT;                                                                                \
    }                                                                                              \
    __syncthreads();                                                                               \
    if (threadIdx.x >= 128) {                                                                      \
        if (threadIdx.x > 128) return;                                                             \
        for (int i = 0; i < 3; i++) {                                                              \
            WAIT(&empty, (i & 1) ^ 1);                                                             \
            ANNOUNCE(&full, TILE);                                                                 \
            FETCH(tile, &map, 0, &full);                                                           \
        }                                                                                          \
        return;                                                                                    \
    }                                                                                              \
    float d[4] = {0, 0, 0, 0};                                                                     \
    for (int i = 0; i < 3; i++) {                                                                  \
        WAIT(&full, i & 1);                                                                        \
        BEGIN;                                                                                     \
        MULTIPLY(d, described(tile), described(tile));                                             \
        COMMIT;                                                                                    \
        before;                                                                                    \
        FINISH;                                                                                    \
        after;                                                                                     \
    }                                                                                              \
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
extern "C" __global__ void arrives_when_done(const __grid_constant__ CUtensorMap map, const half *x,
                                             float *y) {
    RING(, if (threadIdx.x % 32 == 0) ARRIVE(&empty))
}
extern "C" __global__ void arrives_too_soon(const __grid_constant__ CUtensorMap map, const half *x,
                                            float *y) {
    RING(if (threadIdx.x % 32 == 0) ARRIVE(&empty), ) // want: race
}
extern "C" __global__ void two_copies_at_once(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 8192;" ::"r"(AT(&full)));
        FETCH(tile, &map, 0, &full); // want: two copies
    }
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void changes_what_it_sends(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024); // want: changed on its way
    SEND_COMMIT;
    row[0] = 7;
    SEND_WAIT;
}
extern "C" __global__ void sends_and_leaves(const __grid_constant__ CUtensorMap map, const half *x,
                                            float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024); // want: not waited for
    SEND_COMMIT;
}
extern "C" __global__ void sends_in_no_group(const __grid_constant__ CUtensorMap map, const half *x,
                                             float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024); // want: not committed
    SEND_WAIT;
}
extern "C" __global__ void sends_past_the_end(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y + 8192 - 128, row, 1024); // want: out of bounds
    SEND_COMMIT;
    SEND_WAIT;
}

// --- Sums

#define PRODUCT                                                                                    \
    __shared__ __align__(1024) Tile tile;                                                          \
    __shared__ uint64_t full;                                                                      \
    FILLING(tile, full)                                                                            \
    WAIT(&full, 0);                                                                                \
    float d[4] = {0, 0, 0, 0};
extern "C" __global__ void uses_sums_early(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    PRODUCT
    BEGIN;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    y[threadIdx.x] = d[1]; // want: sums on their way
    FINISH;
}
extern "C" __global__ void changes_sums_early(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    PRODUCT
    BEGIN;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    d[1] = 0; // want: sums on their way
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void commits_nothing(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    PRODUCT
    BEGIN;
    MULTIPLY(d, described(tile), described(tile));
    FINISH;
    y[threadIdx.x] = d[1]; // want: not committed
}
extern "C" __global__ void fences_nothing(const __grid_constant__ CUtensorMap map, const half *x,
                                          float *y) {
    PRODUCT
    MULTIPLY(d, described(tile), described(tile)); // want: no wgmma.fence
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void another_swizzle(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    PRODUCT
    BEGIN;
    MULTIPLY(d, described(tile, 2), described(tile, 2)); // want: wrong swizzle
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void different_descriptors(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    PRODUCT
    BEGIN;
    MULTIPLY(d, described(tile + threadIdx.x / 64 * 1024), described(tile)); // want: bad descriptor
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void beyond_shared_memory(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    PRODUCT
    BEGIN;
    MULTIPLY(d, described(tile) | 0x3fff, described(tile)); // want: out of bounds
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void a_warp_is_missing(const __grid_constant__ CUtensorMap map, const half *x,
                                             float *y) {
    PRODUCT
    BEGIN;
    if (threadIdx.x % 128 < 96) MULTIPLY(d, described(tile), described(tile)); // want: deadlock
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}

// --- Named barriers, registers

extern "C" __global__ void one_writes_for_the_other(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ float row[128];
    if (threadIdx.x < 128) {
        row[threadIdx.x] = threadIdx.x;
        NAMED_ARRIVE(1, 256);
        return;
    }
    NAMED(1, 256);
    y[threadIdx.x] = row[255 - threadIdx.x];
}
extern "C" __global__ void arrives_before_it_writes(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ float row[128];
    if (threadIdx.x < 128) {
        NAMED_ARRIVE(1, 256);
        row[threadIdx.x] = threadIdx.x;
        return;
    }
    NAMED(1, 256);
    y[threadIdx.x] = row[255 - threadIdx.x]; // want: race
}
extern "C" __global__ void half_a_block_waits(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    if (threadIdx.x < 128) NAMED(1, 256); // want: deadlock
    y[threadIdx.x] = 1;
}
extern "C" __global__ void each_half_by_itself(const __grid_constant__ CUtensorMap map,
                                               const half *x, float *y) {
    __shared__ float row[256];
    row[threadIdx.x] = threadIdx.x;
    NAMED(1 + threadIdx.x / 128, 128);
    y[threadIdx.x] = row[threadIdx.x ^ 127];
}
extern "C" __global__ void wrong_half(const __grid_constant__ CUtensorMap map, const half *x,
                                      float *y) {
    __shared__ float row[256];
    row[threadIdx.x] = threadIdx.x;
    NAMED(1 + threadIdx.x / 128, 128);
    y[threadIdx.x] = row[threadIdx.x ^ 128]; // want: race
}
extern "C" __global__ void two_counts(const __grid_constant__ CUtensorMap map, const half *x,
                                      float *y) {
    if (threadIdx.x < 128)
        NAMED(1, 256);
    else
        NAMED(1, 128); // want: bad barrier
    y[threadIdx.x] = 1;
}
extern "C" __global__ void gives_registers_away(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    if (threadIdx.x < 128)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    y[threadIdx.x] = 1;
}
