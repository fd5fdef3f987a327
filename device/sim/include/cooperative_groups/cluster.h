// cooperative_groups/cluster.h - the blocks of a cluster. Included by cooperative_groups.h.
#pragma once
#include "block.h"

namespace cooperative_groups {

class cluster_group {
public:
    struct arrival_token {};
    static arrival_token barrier_arrive(int line = __builtin_LINE()) {
        simt_cluster_arrive(1, line);
        return {};
    }
    static void barrier_wait(int line = __builtin_LINE()) { simt_cluster_wait(line); }
    static void barrier_wait(arrival_token &&, int line = __builtin_LINE()) {
        simt_cluster_wait(line);
    }
    static void sync(int line = __builtin_LINE()) {
        simt_cluster_arrive(1, line);
        simt_cluster_wait(line);
    }
    static unsigned block_rank() { return __clusterRelativeBlockRank(); }
    static dim3 block_index() { return __clusterRelativeBlockIdx(); }
    static unsigned num_blocks() { return __clusterSizeInBlocks(); }
    static dim3 dim_blocks() { return __clusterDim(); }
    static unsigned thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static unsigned num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned size() { return num_threads(); }
    static dim3 thread_index() {
        dim3 b = block_index();
        return dim3(b.x * blockDim.x + threadIdx.x, b.y * blockDim.y + threadIdx.y,
                    b.z * blockDim.z + threadIdx.z);
    }
    static dim3 dim_threads() {
        dim3 d = dim_blocks();
        return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
    }
    template <class T> static T *map_shared_rank(T *p, int rank, int line = __builtin_LINE()) {
        return (T *)simt_map_shared((const void *)p, (unsigned)rank, line);
    }
    template <class T> static unsigned query_shared_rank(const T *p, int line = __builtin_LINE()) {
        return simt_shared_rank((const void *)p, line);
    }
};
SIMT_INLINE cluster_group this_cluster() {
    return {};
}

} // namespace cooperative_groups
