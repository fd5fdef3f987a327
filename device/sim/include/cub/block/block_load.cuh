// cub/block/block_load.cuh - loads of several items a thread.
#pragma once
#include "../simt_common.h"

namespace cub {
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE, // here as BLOCK_LOAD_DIRECT
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED // here as BLOCK_LOAD_WARP_TRANSPOSE
};

template <class T, int X, int N, BlockLoadAlgorithm A = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1,
          int = 0>
class BlockLoad {
    static constexpr int threads = X * Y * Z;
    static constexpr bool byWarps = A >= BLOCK_LOAD_WARP_TRANSPOSE,
                          passes = A == BLOCK_LOAD_TRANSPOSE || byWarps,
                          strides = passes || A == BLOCK_LOAD_STRIPED;
    typedef simt_detail::Here Here;

public:
    typedef simt_detail::Room<T, passes ? threads * N : 1> TempStorage;
    SIMT_CUB explicit BlockLoad(TempStorage &room) : items(room) {}
    SIMT_CUB BlockLoad() : items(own()) {}

    template <class From>
    SIMT_CUB void Load(From from, T (&to)[N], Here here = {__builtin_LINE()}) {
        load(from, to, threads * N, here.line);
    }
    template <class From>
    SIMT_CUB void Load(From from, T (&to)[N], int valid, Here here = {__builtin_LINE()}) {
        load(from, to, valid, here.line);
    }
    template <class From, class Other>
    SIMT_CUB void Load(From from, T (&to)[N], int valid, Other other,
                       Here here = {__builtin_LINE()}) {
        for (int i = 0; i < N; i++) to[i] = other;
        load(from, to, valid, here.line);
    }

private:
    TempStorage &items;
    SIMT_CUB static TempStorage &own() {
        __shared__ TempStorage room;
        return room;
    }
    // place is where in the block's data a thread's i-th item is.
    SIMT_CUB static int place(int thread, int i, bool striped) {
        const int first = byWarps ? thread / 32 * 32 : 0, together = byWarps ? 32 : threads;
        return striped ? first * N + i * together + thread - first : thread * N + i;
    }
    template <class From> SIMT_CUB void load(From from, T (&to)[N], int valid, int line) {
        const int thread = simt_detail::linearThread<X, Y>();
        for (int i = 0; i < N; i++)
            if (int at = place(thread, i, strides); at < valid) to[i] = from[at];
        if constexpr (passes) {
            for (int i = 0; i < N; i++) items.at(place(thread, i, true)) = to[i];
            byWarps ? __syncwarp(~0u, line) : __syncthreads(line);
            for (int i = 0; i < N; i++) to[i] = items.at(place(thread, i, false));
        }
    }
};
} // namespace cub
