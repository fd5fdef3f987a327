// clusters_mbarriers.cu - mbarriers and the copy engine between a cluster's blocks (clusters.cu).
#include <cooperative_groups.h>
#include <stdint.h>
namespace cg = cooperative_groups;

#define AT(p) (uint32_t) __cvta_generic_to_shared(p)
#define RELAXED asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define WAIT asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")

// --- mbarriers of another block

#define INIT(b, n) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(AT(b)), "r"(n))
#define FENCE_INIT asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory")
#define UNTIL(b, phase)                                                                            \
    asm volatile("{ .reg .pred p;\nAGAIN:\n"                                                       \
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"         \
                 "@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(AT(b)),                                \
                 "r"(phase)                                                                        \
                 : "memory")
#define ARRIVE_AT(b, rank)                                                                         \
    asm volatile("{ .reg .b32 far;\nmapa.shared::cluster.u32 far, %0, %1;\n"                       \
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [far];\n}" ::"r"(AT(b)),  \
                 "r"(rank)                                                                         \
                 : "memory")

extern "C" __global__ void hands_over_unasked(const float *x, float *y) {
    __shared__ float mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x, other = cluster.block_rank() ^ 1;
    if (threadIdx.x == 0) {
        INIT(&full, 64);
        FENCE_INIT;
    }
#ifdef BUG
    mine[threadIdx.x] = 0;
    cluster.sync();
#else
    RELAXED;
    WAIT;
#endif
    cluster.map_shared_rank(mine, other)[threadIdx.x] = x[i];
    ARRIVE_AT(&full, other);
#ifndef BUG
    UNTIL(&full, 0);
#endif
    y[i] = mine[63 - threadIdx.x]; // want: race
#ifdef BUG
    UNTIL(&full, 0);
#endif
    cluster.sync();
}
extern "C" __global__ void known_barrier(const float *x, float *y) {
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) INIT(&full, 64);
    cluster.sync();
    if (cluster.block_rank()) ARRIVE_AT(&full, 0);
    cluster.sync();
    y[blockIdx.x * 64 + threadIdx.x] = x[0];
}
extern "C" __global__ void unknown_barrier(const float *x, float *y) {
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    if (threadIdx.x == 0) INIT(&full, 64);
    __syncthreads();
    ARRIVE_AT(&full, cluster.block_rank()); // its own
    UNTIL(&full, 0);
    cluster.sync();
    if (threadIdx.x == 0 && cluster.block_rank() == 0) INIT(&full, 64);
    __syncthreads();
    if (cluster.block_rank()) ARRIVE_AT(&full, 0); // want: race
    cluster.sync();
    y[blockIdx.x * 64 + threadIdx.x] = x[0];
}
extern "C" __global__ void waits_for_anothers(const float *x, float *y) {
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) INIT(&full, 64);
    cluster.sync();
#ifdef BUG
    UNTIL(cluster.map_shared_rank(&full, cluster.block_rank() ^ 1), 0); // want: bad mbarrier
#else
    ARRIVE_AT(&full, cluster.block_rank() ^ 1);
    UNTIL(&full, 0);
#endif
    y[blockIdx.x * 64 + threadIdx.x] = x[0];
#ifndef BUG
    cluster.sync();
#endif
}
extern "C" __global__ void stores_unwaited(const float *x, float *y) {
    __shared__ float mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x, other = cluster.block_rank() ^ 1;
#ifdef BUG
    mine[threadIdx.x] = 0;
#endif
    if (threadIdx.x == 0) {
        INIT(&full, 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(AT(&full)));
    }
    cluster.sync();
    asm volatile(
        "{ .reg .b32 to, b;\nmapa.shared::cluster.u32 to, %0, %2;\n"
        "mapa.shared::cluster.u32 b, %1, %2;\n"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [to], %3, [b];\n}" ::"r"(
            AT(mine + threadIdx.x)),
        "r"(AT(&full)), "r"(other), "f"(x[i])
        : "memory");
#ifndef BUG
    UNTIL(&full, 0);
#endif
    y[i] = mine[63 - threadIdx.x]; // want: race
#ifdef BUG
    UNTIL(&full, 0);
#endif
    cluster.sync();
}

// --- The copy engine

#define ANNOUNCE(b, bytes)                                                                         \
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(AT(b)), "r"(bytes) \
                 : "memory")
#define FETCH_FOR(to, from, b, mask)                                                               \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."              \
                 "multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(AT(to)),                    \
                 "l"(from), "r"(AT(b)), "h"((uint16_t)(mask))                                      \
                 : "memory")
#define BOTH_READY(b)                                                                              \
    if (threadIdx.x == 0) {                                                                        \
        INIT(b, 1);                                                                                \
        FENCE_INIT;                                                                                \
        ANNOUNCE(b, 256);                                                                          \
    }                                                                                              \
    cluster.sync();

extern "C" __global__ void fetches_for_both(const float *x, float *y) {
    __shared__ __align__(128) float mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    BOTH_READY(&full)
    if (threadIdx.x == 0 && cluster.block_rank() == 0) FETCH_FOR(mine, x, &full, 3);
    UNTIL(&full, 0);
    y[blockIdx.x * 64 + threadIdx.x] = mine[threadIdx.x];
    cluster.sync();
}
extern "C" __global__ void fetches_unwaited(const float *x, float *y) {
    __shared__ __align__(128) float mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    BOTH_READY(&full)
    if (threadIdx.x == 0 && cluster.block_rank() == 0) FETCH_FOR(mine, x, &full, 3);
    cluster.sync();
    y[blockIdx.x * 64 + threadIdx.x] = mine[threadIdx.x]; // want: not waited for
    UNTIL(&full, 0);
    cluster.sync();
}
extern "C" __global__ void fetches_for_nobody(const float *x, float *y) {
    __shared__ __align__(128) float mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    BOTH_READY(&full)
    if (threadIdx.x == 0 && cluster.block_rank() == 0)
        FETCH_FOR(mine, x, &full, 5); // want: bad rank
    UNTIL(&full, 0);
    y[blockIdx.x * 64 + threadIdx.x] = mine[threadIdx.x];
}
extern "C" __global__ void refills_unasked(const float *x, float *y) {
    __shared__ __align__(128) float mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    BOTH_READY(&full)
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0 && cluster.block_rank() == 0)
            FETCH_FOR(mine, x + 64 * round, &full, 3);
        UNTIL(&full, round);
        y[blockIdx.x * 64 + threadIdx.x] = mine[threadIdx.x]; // want: not waited for
        __syncthreads();
        if (threadIdx.x == 0 && round == 0) ANNOUNCE(&full, 256);
    }
    cluster.sync();
}
extern "C" __global__ void refills_when_told(const float *x, float *y) {
    __shared__ __align__(128) float mine[64];
    __shared__ uint64_t full, empty;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) INIT(&empty, 128);
    BOTH_READY(&full)
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0 && cluster.block_rank() == 0) {
            if (round) UNTIL(&empty, 0);
            FETCH_FOR(mine, x + 64 * round, &full, 3);
        }
        UNTIL(&full, round);
        y[blockIdx.x * 64 + threadIdx.x] = mine[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0 && round == 0) ANNOUNCE(&full, 256);
        __syncthreads();
        if (round == 0) ARRIVE_AT(&empty, 0);
    }
    cluster.sync();
}
#define SEND(to, from, b, other)                                                                   \
    asm volatile("{ .reg .b32 to, b;\nmapa.shared::cluster.u32 to, %0, %3;\n"                      \
                 "mapa.shared::cluster.u32 b, %2, %3;\n"                                           \
                 "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "         \
                 "[to], [%1], 256, [b];\n}" ::"r"(AT(to)),                                         \
                 "r"(AT(from)), "r"(AT(b)), "r"(other)                                             \
                 : "memory")
#define FENCE_ASYNC asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

extern "C" __global__ void sends_to_neighbour_without_fence(const float *x, float *y) {
    __shared__ __align__(128) float mine[64], theirs[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = x[i];
#ifndef BUG
    FENCE_ASYNC;
#endif
    BOTH_READY(&full)
    if (threadIdx.x == 0)
        SEND(theirs, mine, &full, cluster.block_rank() ^ 1); // want: no proxy fence
    UNTIL(&full, 0);
    y[i] = theirs[threadIdx.x];
    cluster.sync();
}
