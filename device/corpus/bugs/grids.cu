// Cooperative launches: all blocks live at once. "want:" is a finding of that line.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each block leaves a part, and after the barrier each adds up all parts.
extern "C" __global__ void sum_of_all(const float *x, float *y) {
    cg::grid_group grid = cg::this_grid();
    __shared__ float part;
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    atomicAdd(&part, x[grid.thread_rank()]);
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        if (threadIdx.x == 0) y[blockIdx.x] = part;
        grid.sync();
        float sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += y[b];
        grid.sync();
        if (threadIdx.x == 0) part = sum; // shared memory lasts over the barrier
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part;
}

// So many registers that a multiprocessor holds one block, if the compiler takes them.
extern "C" __global__ void __launch_bounds__(512, 1) many_registers(const float *x, float *y) {
    if (threadIdx.x == 0) y[blockIdx.x] = x[0];
    cg::this_grid().sync();
}

extern "C" __global__ void no_second_barrier(const float *x, float *y) {
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0) y[blockIdx.x] = x[blockIdx.x] + round;
        cg::this_grid().sync();
        float sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += y[b]; // want: race
#ifndef BUG
        cg::this_grid().sync();
#endif
        if (sum < 0) return;
    }
}

extern "C" __global__ void a_block_returns(const float *x, float *y) {
    if (blockIdx.x == 2) return;
    y[blockIdx.x] = x[0];
    cg::this_grid().sync(); // want: grid barrier not reached by all
    y[blockIdx.x] = 2;
}

extern "C" __global__ void no_block_returns(const float *x, float *y) {
    y[blockIdx.x] = x[0];
    cg::this_grid().sync();
    y[blockIdx.x] = 2;
}

extern "C" __global__ void a_block_fails(const float *x, float *y) {
    if (blockIdx.x == 2) y[1000000] = 1; // want: out of bounds
    cg::this_grid().sync();
    y[blockIdx.x] = 2;
}

extern "C" __global__ void different_barriers(const float *x, float *y) {
    if (threadIdx.x < 32)
        cg::this_grid().sync(); // want: divergent barrier
    else
        for (int i = 0; i < 2; i++) __syncthreads(); // as many as a barrier of the grid has
}

// By hand: an atomic that all count up, and a flag that all look at.
extern "C" __global__ void barrier_by_hand(const float *x, float *y) {
    int *count = (int *)(y + 4096);
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile int *)count < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    int other = (blockIdx.x + 1) % gridDim.x;
    y[2048 + blockIdx.x * 64 + threadIdx.x] = y[other * 64 + threadIdx.x];
}
