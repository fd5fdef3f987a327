// cooperative_groups.h - thread blocks, tiles, and groups of lanes that come about as a
// kernel runs. Tiles of several warps that are no whole block are not simulated.
#pragma once
#include "simt.h"
#include "cooperative_groups/block.h"
#include "cooperative_groups/cluster.h"
#include "cooperative_groups/grid.h"

namespace cooperative_groups {

// block_tile_memory is what tiles of several warps meet in: here they need none.
template <unsigned MaxBlockSize = 1024> struct block_tile_memory {
    char unused;
};
template <unsigned N> SIMT_INLINE thread_block this_thread_block(block_tile_memory<N> &) {
    return {};
}

namespace simt_detail {
// Lanes are some of a warp's: what all groups within a warp can do. G has mask(), first
// to last, and rank().
template <class G> class Lanes {
    const G &self() const { return static_cast<const G &>(*this); }
    unsigned mask() const { return self().mask(); }

public:
    // lane is the warp's lane of a rank.
    int lane(unsigned rank) const {
        unsigned m = mask();
        for (; rank && m; rank--) m &= m - 1;
        return m ? __builtin_ctz(m) : (int)simt_lane();
    }
    // packed has a bit for each rank, of a mask that has one for each lane.
    unsigned packed(unsigned lanes) const {
        unsigned r = 0, rank = 0;
        for (unsigned m = mask(); m; m &= m - 1, rank++)
            if (lanes & (m & -m)) r |= 1u << rank;
        return r;
    }
    void sync(int line = __builtin_LINE()) const { __syncwarp(mask(), line); }
    template <class T> T shfl(T v, int rank, int line = __builtin_LINE()) const {
        return simt::shuffleAny(mask(), v, lane((unsigned)rank % self().size()), line);
    }
    template <class T> T shfl_up(T v, unsigned delta, int line = __builtin_LINE()) const {
        unsigned r = self().thread_rank();
        return simt::shuffleAny(mask(), v, r < delta ? (int)simt_lane() : lane(r - delta), line);
    }
    template <class T> T shfl_down(T v, unsigned delta, int line = __builtin_LINE()) const {
        unsigned r = self().thread_rank() + delta;
        return simt::shuffleAny(mask(), v, r >= self().size() ? (int)simt_lane() : lane(r), line);
    }
    template <class T> T shfl_xor(T v, unsigned bits, int line = __builtin_LINE()) const {
        unsigned r = self().thread_rank() ^ bits;
        return simt::shuffleAny(mask(), v, r >= self().size() ? (int)simt_lane() : lane(r), line);
    }
    int any(int p, int line = __builtin_LINE()) const { return __any_sync(mask(), p, line); }
    int all(int p, int line = __builtin_LINE()) const { return __all_sync(mask(), p, line); }
    unsigned ballot(int p, int line = __builtin_LINE()) const {
        return packed(__ballot_sync(mask(), p, line));
    }
    template <class T> unsigned match_any(T v, int line = __builtin_LINE()) const {
        return packed(__match_any_sync(mask(), v, line));
    }
    template <class T> unsigned match_all(T v, int &all, int line = __builtin_LINE()) const {
        return packed(__match_all_sync(mask(), v, &all, line));
    }
};
} // namespace simt_detail

// thread_block_tile is N lanes of a warp that lie side by side.
template <unsigned N, class Parent = void, bool OneWarp = (N <= 32)>
class thread_block_tile : public simt_detail::Lanes<thread_block_tile<N, Parent, true>> {
    static_assert(N >= 1 && (N & (N - 1)) == 0, "a tile has a power of two of threads");
    static unsigned first() { return simt_lane() & ~(N - 1); }

public:
    thread_block_tile() = default;
    template <class Other> thread_block_tile(const thread_block_tile<N, Other, true> &) {}
    static unsigned mask() { return (N == 32 ? ~0u : (1u << (N & 31)) - 1) << first(); }
    static unsigned thread_rank() { return simt_lane() & (N - 1); }
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned meta_group_rank() { return parentRank() / N; }
    static unsigned meta_group_size() { return (parentSize() + N - 1) / N; }
    template <class T> T shfl(T v, int rank, int line = __builtin_LINE()) const {
        return simt::shuffleAny(mask(), v, (int)(first() | ((unsigned)rank & (N - 1))), line);
    }
    template <class T> T shfl_up(T v, unsigned delta, int line = __builtin_LINE()) const {
        return simt::shuffleAny(mask(), v, (int)(simt_lane() - (thread_rank() < delta ? 0 : delta)),
                                line);
    }
    template <class T> T shfl_down(T v, unsigned delta, int line = __builtin_LINE()) const {
        return simt::shuffleAny(
            mask(), v, (int)(simt_lane() + (thread_rank() + delta >= N ? 0 : delta)), line);
    }
    template <class T> T shfl_xor(T v, unsigned bits, int line = __builtin_LINE()) const {
        return simt::shuffleAny(
            mask(), v,
            (int)((thread_rank() ^ bits) >= N ? simt_lane() : first() | (thread_rank() ^ bits)),
            line);
    }
    unsigned packed(unsigned lanes) const { return (lanes & mask()) >> first(); }

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

// A tile of several warps is the whole block, or the kernel stops.
template <unsigned N, class Parent> class thread_block_tile<N, Parent, false> {
public:
    template <class Other> thread_block_tile(const thread_block_tile<N, Other, false> &) {}
    explicit thread_block_tile(int line = __builtin_LINE()) {
        if (thread_block::size() != N)
            simt_trap("the simulator's tiles have at most 32 threads, or all of the block", line);
    }
    void sync(int line = __builtin_LINE()) const { __syncthreads(line); }
    static unsigned thread_rank() { return thread_block::thread_rank(); }
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned meta_group_rank() { return 0; }
    static unsigned meta_group_size() { return 1; }
    int any(int p, int line = __builtin_LINE()) const { return __syncthreads_or(p, line); }
    int all(int p, int line = __builtin_LINE()) const { return __syncthreads_and(p, line); }
};

// coalesced_group is lanes that have come to one place, or a part of such a group.
class coalesced_group : public simt_detail::Lanes<coalesced_group> {
    unsigned lanes, metaRank, metaSize;

public:
    explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned count = 1)
        : lanes(mask), metaRank(rank), metaSize(count) {}
    unsigned mask() const { return lanes; }
    unsigned thread_rank() const {
        return (unsigned)__builtin_popcount(lanes & ((1u << simt_lane()) - 1));
    }
    unsigned size() const { return (unsigned)__builtin_popcount(lanes); }
    unsigned num_threads() const { return size(); }
    unsigned meta_group_rank() const { return metaRank; }
    unsigned meta_group_size() const { return metaSize; }
};
SIMT_INLINE coalesced_group coalesced_threads() {
    return coalesced_group(simt_active());
}

// thread_group is any of them, as a kernel's functions take it: a block, or lanes.
class thread_group {
    unsigned lanes = 0; // 0: the block

public:
    thread_group(const thread_block &) {}
    template <unsigned N, class P>
    thread_group(const thread_block_tile<N, P, true> &tile) : lanes(tile.mask()) {}
    template <unsigned N, class P> thread_group(const thread_block_tile<N, P, false> &) {}
    thread_group(const coalesced_group &group) : lanes(group.mask()) {}
    unsigned thread_rank() const {
        return lanes ? coalesced_group(lanes).thread_rank() : thread_block::thread_rank();
    }
    unsigned size() const { return lanes ? coalesced_group(lanes).size() : thread_block::size(); }
    unsigned num_threads() const { return size(); }
    void sync(int line = __builtin_LINE()) const {
        if (lanes)
            __syncwarp(lanes, line);
        else
            __syncthreads(line);
    }
    unsigned mask() const { return lanes; }
};

template <unsigned N, class P>
SIMT_INLINE thread_block_tile<N, P> tiled_partition(const P &, int line = __builtin_LINE()) {
    if constexpr (N <= 32)
        return {};
    else
        return thread_block_tile<N, P>(line);
}
template <unsigned N, unsigned M, class P>
SIMT_INLINE thread_block_tile<N, thread_block_tile<M, P>>
tiled_partition(const thread_block_tile<M, P> &) {
    static_assert(N <= M, "a tile is a part of its group: it cannot have more threads");
    return {};
}
// A size that is known at run time only: the group's members, so many at a time.
template <class G>
SIMT_INLINE thread_group tiled_partition(const G &group, unsigned size,
                                         int line = __builtin_LINE()) {
    thread_group all = group;
    if (size == all.size()) return all;
    if (size > 32 || (size & (size - 1)) || !size)
        simt_trap("the simulator's tiles have 1, 2, 4, 8, 16 or 32 threads, or all of the group",
                  line);
    unsigned from = all.thread_rank() / size * size, mask = 0, rank = 0;
    unsigned lanes = all.mask() ? all.mask() : ~0u;
    if (!all.mask()) from %= 32;
    for (; lanes; lanes &= lanes - 1, rank++)
        if (rank >= from && rank < from + size) mask |= lanes & -lanes;
    return coalesced_group(mask);
}
// Those with the same predicate, or the same label.
template <class G>
SIMT_INLINE coalesced_group binary_partition(const G &group, bool p, int line = __builtin_LINE()) {
    unsigned yes = __ballot_sync(group.mask(), p, line);
    return coalesced_group(p ? yes : group.mask() & ~yes & simt_alive(), p, 2);
}
template <class G, class T>
SIMT_INLINE coalesced_group labeled_partition(const G &group, T label,
                                              int line = __builtin_LINE()) {
    unsigned same = __match_any_sync(group.mask(), label, line), mine = same & -same;
    unsigned firsts = __ballot_sync(group.mask(), mine >> simt_lane() & 1, line);
    return coalesced_group(same, (unsigned)__builtin_popcount(firsts & (mine - 1)),
                           (unsigned)__builtin_popcount(firsts));
}

template <class G> SIMT_INLINE void sync(const G &g, int line = __builtin_LINE()) {
    g.sync(line);
}
template <class G> SIMT_INLINE unsigned thread_rank(const G &g) {
    return g.thread_rank();
}
template <class G> SIMT_INLINE unsigned group_size(const G &g) {
    return g.size();
}

// One of the group's members does it; the others get what it returns.
template <class G, class F>
SIMT_INLINE auto invoke_one_broadcast(const G &group, F work, int line = __builtin_LINE()) {
    decltype(work()) v{};
    if (group.thread_rank() == 0) v = work();
    return group.shfl(v, 0, line);
}
template <class G, class F> SIMT_INLINE void invoke_one(const G &group, F work) {
    if (group.thread_rank() == 0) work();
}

} // namespace cooperative_groups
