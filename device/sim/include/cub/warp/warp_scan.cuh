// cub/warp/warp_scan.cuh - scans of a warp, or of each 2, 4, 8 or 16 lanes of it.
#pragma once
#include "../simt_common.h"

namespace cub {
template <class T, int LANES = 32, int = 0> class WarpScan {
    static_assert(LANES == 1 || LANES == 2 || LANES == 4 || LANES == 8 || LANES == 16 ||
                      LANES == 32,
                  "the simulator's cub::WarpScan has 1, 2, 4, 8, 16 or 32 lanes");
    typedef simt_detail::Here Here;

public:
    struct TempStorage : simt_detail::Nothing {};
    SIMT_CUB explicit WarpScan(TempStorage &) {}

    template <class Op>
    SIMT_CUB void InclusiveScan(T in, T &out, Op op, Here here = {__builtin_LINE()}) {
        out = simt_detail::warpScan<LANES>(in, op, here.line);
    }
    template <class Op>
    SIMT_CUB void ExclusiveScan(T in, T &out, T first, Op op, Here here = {__builtin_LINE()}) {
        T before = simt_detail::fromBefore<LANES>(simt_detail::warpScan<LANES>(in, op, here.line),
                                                  here.line);
        out = simt_lane() % LANES ? op(first, before) : first;
    }
    SIMT_CUB void InclusiveSum(T in, T &out, Here here = {__builtin_LINE()}) {
        InclusiveScan(in, out, cub::Sum(), here);
    }
    SIMT_CUB void InclusiveSum(T in, T &out, T &all, Here here = {__builtin_LINE()}) {
        InclusiveScan(in, out, cub::Sum(), here);
        all = Broadcast(out, LANES - 1, here);
    }
    SIMT_CUB void ExclusiveSum(T in, T &out, Here here = {__builtin_LINE()}) {
        ExclusiveScan(in, out, T(), cub::Sum(), here);
    }
    SIMT_CUB void ExclusiveSum(T in, T &out, T &all, Here here = {__builtin_LINE()}) {
        ExclusiveScan(in, out, T(), cub::Sum(), here);
        all = Broadcast((T)(out + in), LANES - 1, here);
    }
    SIMT_CUB T Broadcast(T v, unsigned from, Here here = {__builtin_LINE()}) {
        const int lane = (int)simt_lane();
        return simt::shuffle(simt_detail::groupMask<LANES>(), v, lane / LANES * LANES + (int)from,
                             here.line);
    }
};
} // namespace cub
