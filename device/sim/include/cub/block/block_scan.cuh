// cub/block/block_scan.cuh - scans of a block. All algorithms are the one by warps.
#pragma once
#include "../simt_common.h"

namespace cub {
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0>
class BlockScan {
    static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;
    typedef simt_detail::Here Here;

public:
    typedef simt_detail::Room<T, warps> TempStorage;
    SIMT_CUB explicit BlockScan(TempStorage &room) : parts(room) {}
    SIMT_CUB BlockScan() : parts(own()) {}

    template <class Op>
    SIMT_CUB void InclusiveScan(T in, T &out, Op op, T &all, Here here = {__builtin_LINE()}) {
        T before;
        bool any = scan(in, out, before, op, all, here.line);
        if (any) out = op(before, out);
    }
    template <class Op>
    SIMT_CUB void InclusiveScan(T in, T &out, Op op, Here here = {__builtin_LINE()}) {
        T all;
        InclusiveScan(in, out, op, all, here);
    }
    template <class Op>
    SIMT_CUB void ExclusiveScan(T in, T &out, T first, Op op, T &all,
                                Here here = {__builtin_LINE()}) {
        T upTo, before;
        bool any = scan(in, upTo, before, op, all, here.line);
        T inWarp = simt_detail::fromBefore<32>(upTo, here.line);
        out = any ? op(first, before) : first;
        if (thread() % 32) out = op(out, inWarp);
    }
    template <class Op>
    SIMT_CUB void ExclusiveScan(T in, T &out, T first, Op op, Here here = {__builtin_LINE()}) {
        T all;
        ExclusiveScan(in, out, first, op, all, here);
    }
    SIMT_CUB void InclusiveSum(T in, T &out, Here here = {__builtin_LINE()}) {
        InclusiveScan(in, out, cub::Sum(), here);
    }
    SIMT_CUB void InclusiveSum(T in, T &out, T &all, Here here = {__builtin_LINE()}) {
        InclusiveScan(in, out, cub::Sum(), all, here);
    }
    SIMT_CUB void ExclusiveSum(T in, T &out, Here here = {__builtin_LINE()}) {
        ExclusiveScan(in, out, T(), cub::Sum(), here);
    }
    SIMT_CUB void ExclusiveSum(T in, T &out, T &all, Here here = {__builtin_LINE()}) {
        ExclusiveScan(in, out, T(), cub::Sum(), all, here);
    }

    // Of several items a thread, one behind another.
    template <int N, class Op>
    SIMT_CUB void ExclusiveScan(T (&in)[N], T (&out)[N], T first, Op op, T &all,
                                Here here = {__builtin_LINE()}) {
        T sum = in[0];
        for (int i = 1; i < N; i++) sum = op(sum, in[i]);
        ExclusiveScan(sum, sum, first, op, all, here);
        for (int i = 0; i < N; i++) {
            T next = op(sum, in[i]);
            out[i] = sum, sum = next;
        }
    }
    template <int N, class Op>
    SIMT_CUB void InclusiveScan(T (&in)[N], T (&out)[N], Op op, T &all,
                                Here here = {__builtin_LINE()}) {
        T sum = in[0], upTo, before;
        for (int i = 1; i < N; i++) sum = op(sum, in[i]);
        bool any = scan(sum, upTo, before, op, all, here.line);
        T inWarp = simt_detail::fromBefore<32>(upTo, here.line);
        if (thread() % 32) before = any ? op(before, inWarp) : inWarp, any = true;
        for (int i = 0; i < N; i++) {
            before = any ? op(before, in[i]) : in[i], any = true;
            out[i] = before;
        }
    }
    template <int N, class Op>
    SIMT_CUB void InclusiveScan(T (&in)[N], T (&out)[N], Op op, Here here = {__builtin_LINE()}) {
        T all;
        InclusiveScan(in, out, op, all, here);
    }
    template <int N, class Op>
    SIMT_CUB void ExclusiveScan(T (&in)[N], T (&out)[N], T first, Op op,
                                Here here = {__builtin_LINE()}) {
        T all;
        ExclusiveScan(in, out, first, op, all, here);
    }
    template <int N>
    SIMT_CUB void InclusiveSum(T (&in)[N], T (&out)[N], Here here = {__builtin_LINE()}) {
        InclusiveScan(in, out, cub::Sum(), here);
    }
    template <int N>
    SIMT_CUB void InclusiveSum(T (&in)[N], T (&out)[N], T &all, Here here = {__builtin_LINE()}) {
        InclusiveScan(in, out, cub::Sum(), all, here);
    }
    template <int N>
    SIMT_CUB void ExclusiveSum(T (&in)[N], T (&out)[N], Here here = {__builtin_LINE()}) {
        ExclusiveScan(in, out, T(), cub::Sum(), here);
    }
    template <int N>
    SIMT_CUB void ExclusiveSum(T (&in)[N], T (&out)[N], T &all, Here here = {__builtin_LINE()}) {
        ExclusiveScan(in, out, T(), cub::Sum(), all, here);
    }

private:
    TempStorage &parts;
    SIMT_CUB static TempStorage &own() {
        __shared__ TempStorage room;
        return room;
    }
    SIMT_CUB static int thread() { return simt_detail::linearThread<X, Y>(); }

    // scan leaves what a thread's warp has up to it, and what all warps before have, if there are
    // any.
    template <class Op> SIMT_CUB bool scan(T in, T &upTo, T &before, Op op, T &all, int line) {
        const int warp = thread() / 32;
        upTo = simt_detail::warpScan<32>(in, op, line);
        if (thread() % 32 == 31 || thread() == threads - 1) parts.at(warp) = upTo;
        __syncthreads(line);
        all = parts.at(0);
        for (int w = 1; w < warps; w++) {
            if (w == warp) before = all;
            all = op(all, parts.at(w));
        }
        return warp > 0;
    }
};
} // namespace cub
