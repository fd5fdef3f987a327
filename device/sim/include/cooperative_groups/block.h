// cooperative_groups/block.h - the threads of a block. Included by cooperative_groups.h.
#pragma once

namespace cooperative_groups {

class thread_block {
public:
    void sync(int line = __builtin_LINE()) const { __syncthreads(line); }
    void barrier_arrive() const {}
    void barrier_wait(int line = __builtin_LINE()) const { __syncthreads(line); }
    static unsigned thread_rank() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static dim3 dim_threads() { return group_dim(); }
};
SIMT_INLINE thread_block this_thread_block() {
    return {};
}

} // namespace cooperative_groups
