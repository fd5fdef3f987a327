// cub/block/block_reduce.cuh - reductions of a block. All algorithms are the one by warps.
#pragma once
#include "../simt_common.h"

namespace cub {
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1,
          int = 0>
class BlockReduce {
    static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;
    typedef simt_detail::Here Here;

public:
    typedef simt_detail::Room<T, warps> TempStorage;
    SIMT_CUB explicit BlockReduce(TempStorage &room) : parts(room) {}
    SIMT_CUB BlockReduce() : parts(own()) {}

    // The result is the first thread's.
    template <class Op> SIMT_CUB T Reduce(T v, Op op, int valid, Here here = {__builtin_LINE()}) {
        const int thread = simt_detail::linearThread<X, Y>(), warp = thread / 32;
        if (valid > threads) valid = threads;
        v = simt_detail::warpReduce<32>(v, op, valid - warp * 32, here.line);
        if (thread % 32 == 0) parts.at(warp) = v;
        __syncthreads(here.line);
        if (thread == 0)
            for (int w = 1; w * 32 < valid; w++) v = op(v, parts.at(w));
        return v;
    }
    template <class Op> SIMT_CUB T Reduce(T v, Op op, Here here = {__builtin_LINE()}) {
        return Reduce(v, op, threads, here);
    }
    template <int N, class Op>
    SIMT_CUB T Reduce(T (&items)[N], Op op, Here here = {__builtin_LINE()}) {
        T v = items[0];
        for (int i = 1; i < N; i++) v = op(v, items[i]);
        return Reduce(v, op, threads, here);
    }
    SIMT_CUB T Sum(T v, Here here = {__builtin_LINE()}) {
        return Reduce(v, cub::Sum(), threads, here);
    }
    SIMT_CUB T Sum(T v, int valid, Here here = {__builtin_LINE()}) {
        return Reduce(v, cub::Sum(), valid, here);
    }
    template <int N> SIMT_CUB T Sum(T (&items)[N], Here here = {__builtin_LINE()}) {
        return Reduce(items, cub::Sum(), here);
    }

private:
    TempStorage &parts;
    SIMT_CUB static TempStorage &own() {
        __shared__ TempStorage room;
        return room;
    }
};
} // namespace cub
