// cub/block/block_store.cuh - stores of several items a thread.
#pragma once
#include "../simt_common.h"

namespace cub {
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE, // here as BLOCK_STORE_DIRECT
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED // here as BLOCK_STORE_WARP_TRANSPOSE
};

template <class T, int X, int N, BlockStoreAlgorithm A = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1,
          int = 0>
class BlockStore {
    static constexpr int threads = X * Y * Z;
    static constexpr bool byWarps = A >= BLOCK_STORE_WARP_TRANSPOSE,
                          passes = A == BLOCK_STORE_TRANSPOSE || byWarps,
                          strides = passes || A == BLOCK_STORE_STRIPED;
    typedef simt_detail::Here Here;

public:
    typedef simt_detail::Room<T, passes ? threads * N : 1> TempStorage;
    SIMT_CUB explicit BlockStore(TempStorage &room) : items(room) {}
    SIMT_CUB BlockStore() : items(own()) {}

    template <class To> SIMT_CUB void Store(To to, T (&from)[N], Here here = {__builtin_LINE()}) {
        store(to, from, threads * N, here.line);
    }
    template <class To>
    SIMT_CUB void Store(To to, T (&from)[N], int valid, Here here = {__builtin_LINE()}) {
        store(to, from, valid, here.line);
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
    template <class To> SIMT_CUB void store(To to, T (&from)[N], int valid, int line) {
        const int thread = simt_detail::linearThread<X, Y>();
        if constexpr (passes) {
            for (int i = 0; i < N; i++) items.at(place(thread, i, false)) = from[i];
            byWarps ? __syncwarp(~0u, line) : __syncthreads(line);
            for (int i = 0; i < N; i++) from[i] = items.at(place(thread, i, true));
        }
        for (int i = 0; i < N; i++)
            if (int at = place(thread, i, strides); at < valid) to[at] = from[i];
    }
};
} // namespace cub
