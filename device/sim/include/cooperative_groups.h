// cooperative_groups.h - thread blocks and tiles of warps. Groups whose members
// depend on where threads happen to be (coalesced_threads) and barriers over the
// whole grid are not simulated, and calling them does not compile.
#pragma once
#include "simt.h"

namespace cooperative_groups {

class thread_block {
public:
    void sync(int line = __builtin_LINE()) const { __syncthreads(line); }
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

// thread_block_tile is N lanes of a warp that lie side by side.
template <unsigned N, class Parent = thread_block> class thread_block_tile {
    static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0,
                  "the simulator's tiles have 1, 2, 4, 8, 16 or 32 threads");
    static unsigned first() { return simt_lane() & ~(N - 1); }
    static unsigned mask() { return (N == 32 ? ~0u : (1u << (N & 31)) - 1) << first(); }

public:
    static unsigned thread_rank() { return simt_lane() & (N - 1); }
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned meta_group_rank() { return parentRank() / N; }
    static unsigned meta_group_size() { return (parentSize() + N - 1) / N; }

    void sync(int line = __builtin_LINE()) const { __syncwarp(mask(), line); }
    template <class T> T shfl(T v, int rank, int line = __builtin_LINE()) const {
        return __shfl_sync(mask(), v, rank, N, line);
    }
    template <class T> T shfl_up(T v, unsigned delta, int line = __builtin_LINE()) const {
        return __shfl_up_sync(mask(), v, delta, N, line);
    }
    template <class T> T shfl_down(T v, unsigned delta, int line = __builtin_LINE()) const {
        return __shfl_down_sync(mask(), v, delta, N, line);
    }
    template <class T> T shfl_xor(T v, unsigned bits, int line = __builtin_LINE()) const {
        return __shfl_xor_sync(mask(), v, (int)bits, N, line);
    }
    int any(int p, int line = __builtin_LINE()) const { return __any_sync(mask(), p, line); }
    int all(int p, int line = __builtin_LINE()) const { return __all_sync(mask(), p, line); }
    unsigned ballot(int p, int line = __builtin_LINE()) const {
        return __ballot_sync(mask(), p, line) >> first();
    }
    template <class T> unsigned match_any(T v, int line = __builtin_LINE()) const {
        return __match_any_sync(mask(), v, line) >> first();
    }
    template <class T> unsigned match_all(T v, int &all, int line = __builtin_LINE()) const {
        return __match_all_sync(mask(), v, &all, line) >> first();
    }

private:
    static unsigned parentRank() {
        if constexpr (std::is_same_v<Parent, thread_block> || std::is_same_v<Parent, void>)
            return thread_block::thread_rank();
        else
            return Parent::thread_rank();
    }
    static unsigned parentSize() {
        if constexpr (std::is_same_v<Parent, thread_block> || std::is_same_v<Parent, void>)
            return thread_block::size();
        else
            return Parent::size();
    }
};

template <unsigned N> SIMT_INLINE thread_block_tile<N, thread_block> tiled_partition(thread_block) {
    return {};
}
template <unsigned N, unsigned M, class P>
SIMT_INLINE thread_block_tile<N, thread_block_tile<M, P>> tiled_partition(thread_block_tile<M, P>) {
    static_assert(N <= M, "a tile is a part of its group: it cannot have more threads");
    return {};
}

template <class G> SIMT_INLINE void sync(const G &g, int line = __builtin_LINE()) {
    g.sync(line);
}

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
    static bool is_valid() { return false; }
    SIMT_LACKING(
        "the simulator has no barrier over the grid: end the kernel, and launch a second one")
    void sync() const;
};
SIMT_INLINE grid_group this_grid() {
    return {};
}

class coalesced_group {
public:
    static unsigned thread_rank();
    static unsigned size();
    static unsigned num_threads();
    static unsigned meta_group_rank();
    static unsigned meta_group_size();
    void sync() const;
    template <class T> T shfl(T, int) const;
    template <class T> T shfl_up(T, unsigned) const;
    template <class T> T shfl_down(T, unsigned) const;
    int any(int) const;
    int all(int) const;
    unsigned ballot(int) const;
};
SIMT_LACKING(
    "the simulator has no coalesced_threads(): use tiled_partition, or __ballot_sync with a mask")
coalesced_group coalesced_threads();
class cluster_group {
public:
    void sync() const;
    static unsigned block_rank();
    static unsigned num_blocks();
    template <class T> T *map_shared_rank(T *, unsigned) const;
};
SIMT_LACKING("the simulator has no thread block clusters")
cluster_group this_cluster();

} // namespace cooperative_groups
