// gate.cuh: how the threads of a persistent kernel's block wait for one another, and what falls to
// it.
#pragma once

#include <hopper.h>
#include <stdint.h>

constexpr int THREADS = WARPS * 32; // that calculate; more warps ask for what these need

// All threads of the block but those of warps that ask.
__device__ void meetBlock() {
    named_barrier_sync(1, THREADS);
}

// What falls to the block, of so many.
struct Share {
    int first, last;
};
__device__ Share shareOf(unsigned all) {
    return {(int)(all * blockIdx.x / gridDim.x), (int)(all * (blockIdx.x + 1) / gridDim.x)};
}
