// clusters.cu - Thread block clusters, as Clusters in clusters.go checks them on every device.
// Launches have 8 blocks of 64 threads, in clusters of 2 or 4.
#include <cooperative_groups.h>
#include <cuda.h>
#include <stdint.h>
namespace cg = cooperative_groups;

#define AT(p) (uint32_t) __cvta_generic_to_shared(p)

__device__ void prepare(uint64_t *b, unsigned arrivals, unsigned bytes) {
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(AT(b)), "r"(arrivals));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        if (bytes)
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(AT(b)),
                         "r"(bytes)
                         : "memory");
    }
    cg::this_cluster().sync();
}
__device__ void until(uint64_t *b, unsigned parity) {
    asm volatile("{ .reg .pred p;\nAGAIN:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(AT(b)),
                 "r"(parity)
                 : "memory");
}

// Where a thread is, in numbers of the cluster.
extern "C" __global__ void places(const float *x, float *y) {
    cg::cluster_group cluster = cg::this_cluster();
    uint32_t rank, count, id, place, address, back;
    __shared__ float mine[4];
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(place));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(AT(mine)), "r"(count - 1));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(back) : "r"(address));
    bool same = rank == cluster.block_rank() && count == cluster.num_blocks() &&
                place == cluster.block_index().x && cluster.dim_blocks().x == count &&
                cluster.query_shared_rank(cluster.map_shared_rank(mine, 0)) == 0;
    y[blockIdx.x * 64 + threadIdx.x] =
        same ? (float)(1000 * id + 100 * rank + 10 * count + back + 10000 * cluster.thread_rank())
             : -1.f;
    cluster.sync();
}

// Each block adds all the cluster's parts up.
extern "C" __global__ void shares(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = x[i];
    cluster.sync();
    float sum = 0;
    for (int r = 0; r < cluster.num_blocks(); r++)
        sum += cluster.map_shared_rank(mine, r)[63 - threadIdx.x];
    y[i] = sum;
    cluster.sync();
}

// All threads of a cluster add to block 0's.
extern "C" __global__ void adds_up(const float *x, float *y) {
    __shared__ float sum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), x[blockIdx.x * 64 + threadIdx.x]);
    cluster.sync();
    y[blockIdx.x * 64 + threadIdx.x] = cluster.block_rank() == 0 ? sum : 0;
}

// Threads write to the next block, and arrive at its mbarrier.
extern "C" __global__ void hands_over(const float *x, float *y) {
    __shared__ float mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    prepare(&full, 64, 0);
    uint32_t to, b;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(AT(mine + threadIdx.x)), "r"(next));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(b) : "r"(AT(&full)), "r"(next));
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(x[i]) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(b)
                 : "memory");
    until(&full, 0);
    y[i] = mine[63 - threadIdx.x];
    cluster.sync();
}

extern "C" __global__ void stores_asynchronously(const float *x, float *y) {
    __shared__ float mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    prepare(&full, 1, 256);
    uint32_t to, b;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(AT(mine + threadIdx.x)), "r"(next));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(b) : "r"(AT(&full)), "r"(next));
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to),
        "r"(__float_as_uint(x[i])), "r"(b)
        : "memory");
    until(&full, 0);
    y[i] = mine[63 - threadIdx.x];
    cluster.sync();
}

// The copy engine brings the same to all blocks of a cluster, or takes it from one to the next.
extern "C" __global__ void fetches_for_all(const float *x, float *y) {
    __shared__ __align__(128) float mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    prepare(&full, 1, 256);
    if (threadIdx.x == 0 && cluster.block_rank() == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
                     "cluster [%0], [%1], 256, [%2], %3;" ::"r"(AT(mine)),
                     "l"(x + blockIdx.x * 64), "r"(AT(&full)),
                     "h"((uint16_t)((1 << cluster.num_blocks()) - 1))
                     : "memory");
    until(&full, 0);
    y[blockIdx.x * 64 + threadIdx.x] = mine[63 - threadIdx.x];
    cluster.sync();
}
extern "C" __global__ void sends(const float *x, float *y) {
    __shared__ __align__(128) float mine[64], theirs[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    mine[threadIdx.x] = x[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    prepare(&full, 1, 256);
    uint32_t to, b;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(AT(theirs)), "r"(next));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(b) : "r"(AT(&full)), "r"(next));
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], "
                     "[%1], 256, [%2];" ::"r"(to),
                     "r"(AT(mine)), "r"(b)
                     : "memory");
    until(&full, 0);
    y[i] = theirs[63 - threadIdx.x];
    cluster.sync();
}

// The size of its clusters is the kernel's own.
extern "C" __global__ void __cluster_dims__(4, 1, 1) of_its_own(const float *x, float *y) {
    y[blockIdx.x * 64 + threadIdx.x] = cg::this_cluster().num_blocks();
}
