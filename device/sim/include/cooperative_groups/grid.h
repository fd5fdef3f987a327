// cooperative_groups/grid.h - all threads of a launch. Included by cooperative_groups.h.
#pragma once
#include "block.h"

extern "C" {
void simt_grid_barrier(int line);
int simt_cooperative();
}

namespace cooperative_groups {

class grid_group {
public:
    static unsigned long long block_rank() {
        return blockIdx.x + (unsigned long long)gridDim.x *
                                (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static unsigned long long size() { return num_blocks() * thread_block::size(); }
    static unsigned long long num_threads() { return size(); }
    static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static dim3 dim_blocks() { return group_dim(); }
    static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    // Only a cooperative launch has such barriers.
    static bool is_valid() { return simt_cooperative(); }
    void sync(int line = __builtin_LINE()) const { simt_grid_barrier(line); }
    void barrier_arrive() const {}
    void barrier_wait(int line = __builtin_LINE()) const { simt_grid_barrier(line); }
};
SIMT_INLINE grid_group this_grid() {
    return {};
}

} // namespace cooperative_groups
