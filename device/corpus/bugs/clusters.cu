// clusters.cu - Thread block clusters. A kernel with an #ifdef BUG is a planted bug, and its twin
// without BUG; the other bugs are beside their twins. "want:" is a finding of that line. Launches
// have 4 blocks of 64 threads, in clusters of 2.
#include <cooperative_groups.h>
#include <stdint.h>
namespace cg = cooperative_groups;

#define AT(p) (uint32_t) __cvta_generic_to_shared(p)

// --- A neighbour's shared memory, between barriers of the cluster

extern "C" __global__ void swaps(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = x[i];
    cluster.sync();
    float *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    y[i] = theirs[63 - threadIdx.x];
    cluster.sync();
}
extern "C" __global__ void swaps_at_once(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = x[i];
    __syncthreads();
    float *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    y[i] = theirs[63 - threadIdx.x]; // want: not begun
    cluster.sync();
}
extern "C" __global__ void returns_early(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = x[i];
    cluster.sync();
    float *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    y[i] = theirs[63 - threadIdx.x]; // want: may have ended
}
extern "C" __global__ void fills_too_late(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = 0;
    cluster.sync();
    mine[threadIdx.x] = x[i];
    __syncthreads();
    float *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    y[i] = theirs[63 - threadIdx.x]; // want: race
    cluster.sync();
}
extern "C" __global__ void writes_to_it(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    cluster.sync();
    cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x] = x[i];
    cluster.sync();
    y[i] = mine[63 - threadIdx.x];
}
extern "C" __global__ void writes_without_barrier(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = 0;
    cluster.sync();
    cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = mine[63 - threadIdx.x]; // want: race
    cluster.sync();
}
extern "C" __global__ void rounds_with_one_barrier(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    float sum = x[i];
    float *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    for (int round = 0; round < 3; round++) {
        mine[threadIdx.x] = sum;
        cluster.sync();
        sum += theirs[threadIdx.x]; // want: race
#ifndef BUG
        cluster.sync();
#endif
    }
#ifdef BUG
    cluster.sync();
#endif
    y[i] = sum;
}
extern "C" __global__ void adds_up(const float *x, float *y) {
    __shared__ float sum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), x[blockIdx.x * 64 + threadIdx.x]);
    cluster.sync();
    if (cluster.block_rank() == 0)
        y[blockIdx.x * 64 + threadIdx.x] = sum;
    else
        y[blockIdx.x * 64 + threadIdx.x] = 0;
}
extern "C" __global__ void adds_plainly(const float *x, float *y) {
    __shared__ float sum;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
#ifdef BUG
    if (threadIdx.x == 0) *cluster.map_shared_rank(&sum, 0) += x[blockIdx.x * 64]; // want: race
#else
    if (threadIdx.x == 0) atomicAdd(cluster.map_shared_rank(&sum, 0), x[blockIdx.x * 64]);
#endif
    cluster.sync();
    y[blockIdx.x * 64 + threadIdx.x] = sum;
}
extern "C" __global__ void up_to_the_end(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = x[threadIdx.x];
    cluster.sync();
    float *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    y[blockIdx.x * 64 + threadIdx.x] = theirs[threadIdx.x];
    cluster.sync();
}
extern "C" __global__ void one_past_the_end(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = x[threadIdx.x];
    cluster.sync();
    float *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    y[blockIdx.x * 64 + threadIdx.x] = theirs[threadIdx.x + 1]; // want: out of bounds
    cluster.sync();
}
extern "C" __global__ void no_such_rank(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = x[threadIdx.x];
    cluster.sync();
    float *theirs = cluster.map_shared_rank(mine, cluster.block_rank() + 1); // want: bad rank
    y[blockIdx.x * 64 + threadIdx.x] = theirs[threadIdx.x];
    cluster.sync();
}

// --- arrive and wait, apart

#define ARRIVE asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define RELAXED asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define WAIT asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")

extern "C" __global__ void arrives_and_waits(const float *x, float *y) {
    __shared__ float mine[64];
    uint32_t rank, far;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = x[i];
    ARRIVE;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(AT(mine)), "r"(rank ^ 1));
    WAIT;
    float v;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(far + 4 * (63 - threadIdx.x)));
    ARRIVE;
    y[i] = v;
    WAIT;
}
extern "C" __global__ void writes_between(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = 0;
    ARRIVE;
    mine[threadIdx.x] = x[i];
    WAIT;
    y[i] = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x]; // want: race
    cluster.sync();
}
extern "C" __global__ void arrives_relaxed(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = x[i];
    RELAXED;
    WAIT;
    y[i] = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x]; // want: race
    cluster.sync();
}
extern "C" __global__ void relaxed_behind_a_fence(const float *x, float *y) {
    __shared__ float mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    mine[threadIdx.x] = x[i];
    __threadfence();
    RELAXED;
    WAIT;
    y[i] = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
}
extern "C" __global__ void waits_without_arriving(const float *x, float *y) {
    cg::this_cluster().sync();
#ifndef BUG
    ARRIVE;
#endif
    WAIT; // want: bad barrier
    y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void half_arrives(const float *x, float *y) {
#ifdef BUG
    if (threadIdx.x < 32) cg::this_cluster().sync();
#else
    cg::this_cluster().sync();
#endif
    __syncthreads(); // want: deadlock
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void one_block_returns(const float *x, float *y) {
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 1) return;
    cluster.sync(); // those that have returned are not waited for
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
}

// --- Device memory between blocks of a cluster

extern "C" __global__ void through_memory(const float *x, float *y) {
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    y[1024 + i] = x[i];
    cluster.sync();
    y[i] = y[1024 + (i ^ 64)];
}
extern "C" __global__ void through_memory_at_once(const float *x, float *y) {
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    cluster.sync();
    y[1024 + i] = x[i];
    y[i] = y[1024 + (i ^ 64)]; // want: race
}
extern "C" __global__ void through_memory_of_others(const float *x, float *y) {
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 64 + threadIdx.x;
    y[1024 + i] = x[i];
    cluster.sync();
    y[i] = y[1024 + (i ^ 128)]; // want: race
}
