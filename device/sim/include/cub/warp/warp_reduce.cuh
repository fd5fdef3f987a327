// cub/warp/warp_reduce.cuh - reductions of a warp, or of each 2, 4, 8 or 16 lanes of it.
#pragma once
#include "../simt_common.h"

namespace cub {
template <class T, int LANES = 32, int = 0> class WarpReduce {
    static_assert(LANES == 1 || LANES == 2 || LANES == 4 || LANES == 8 || LANES == 16 ||
                      LANES == 32,
                  "the simulator's cub::WarpReduce has 1, 2, 4, 8, 16 or 32 lanes");

public:
    struct TempStorage : simt_detail::Nothing {};
    SIMT_CUB explicit WarpReduce(TempStorage &) {}

    // The result is the first lane's.
    template <class Op>
    SIMT_CUB T Reduce(T v, Op op, int valid = LANES, simt_detail::Here here = {__builtin_LINE()}) {
        return simt_detail::warpReduce<LANES>(v, op, valid, here.line);
    }
    SIMT_CUB T Sum(T v, int valid = LANES, simt_detail::Here here = {__builtin_LINE()}) {
        return simt_detail::warpReduce<LANES>(v, cub::Sum(), valid, here.line);
    }
};
} // namespace cub
