// best.cuh: the largest of all blocks' numbers, and where it is.
#pragma once

#include "gate.cuh"

struct Best {
    float value;
    int column;
};
// The better of two: of equal ones the lower column. NaN comes as infinity in column -1.
__device__ Best better(Best a, Best b) {
    return b.value > a.value || (b.value == a.value && b.column < a.column) ? b : a;
}
__device__ Best bestOfWarp(Best best) {
    for (int lanes = 16; lanes > 0; lanes /= 2)
        best = better(best, Best{__shfl_xor_sync(0xffffffffu, best.value, lanes),
                                 __shfl_xor_sync(0xffffffffu, best.column, lanes)});
    return best;
}

// The block's threads have largest each, and one thread of the grid, in the block that comes last,
// gets the largest of all, and true. best and bestAt have a place for each block, and arrived is 0.
__device__ bool bestOfGrid(Best &largest, float *best, int *bestAt, unsigned *arrived) {
    __shared__ Best bests[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    largest = bestOfWarp(largest);
    if (lane == 0) bests[warp] = largest;
    meetBlock(); // bests are there
    if (warp > 0) return false;
    for (int w = 0; w < WARPS; w++) largest = better(largest, bests[w]);
    unsigned earlier = 0;
    if (lane == 0) {
        best[blockIdx.x] = largest.value, bestAt[blockIdx.x] = largest.column;
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                     : "=r"(earlier)
                     : "l"(arrived)
                     : "memory");
    }
    __syncwarp(); // what lane 0 has come to know, and its own, the other lanes know as well
    earlier = __shfl_sync(0xffffffffu, earlier, 0);
    if (earlier + 1 < gridDim.x) return false;
    for (int i = lane; i < gridDim.x; i += 32)
        largest = better(largest, Best{__ldcg(best + i), __ldcg(bestAt + i)});
    largest = bestOfWarp(largest);
    return lane == 0;
}
