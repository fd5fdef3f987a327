// Asynchronous copies to shared memory, done right.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

// Pieces of 4, 8 and 16 bytes, and one with zeros at its end.
extern "C" __global__ void pieces(const float *x, float *y) {
    __shared__ alignas(16) float s[4 * 64];
    int t = threadIdx.x, n = blockDim.x;
    __pipeline_memcpy_async(&s[t], &x[t], 4);
    __pipeline_commit();
    if (t < n / 2) __pipeline_memcpy_async(&s[n + 2 * t], &x[n + 2 * t], 8);
    if (t < n / 4) __pipeline_memcpy_async(&s[2 * n + 4 * t], &x[2 * n + 4 * t], 16);
    if (t < n / 4) __pipeline_memcpy_async(&s[3 * n + 4 * t], &x[3 * n + 4 * t], 16, 4 * (t % 5));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    float first = s[t]; // its own copy: no barrier needed
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = 0; i < 4; i++) y[i * n + t] = s[i * n + (n - 1 - t)];
    y[4 * n + t] = first;
}

// While one tile is summed, the next is on its way.
extern "C" __global__ void double_buffer(const float *x, float *y, int tiles) {
    __shared__ float tile[2][64];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles) __pipeline_memcpy_async(&tile[(i + 1) % 2][t], &x[(i + 1) * 64 + t], 4);
        __pipeline_commit(); // an empty group counts, too
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += tile[i % 2][(t + k) % 64];
        __syncthreads();
    }
    __pipeline_wait_prior(0);
    y[t] = sum;
}

extern "C" __global__ void by_group(const float *x, float *y) {
    namespace cg = cooperative_groups;
    extern __shared__ float4 staged[];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, staged, (const float4 *)x, sizeof(float) * 4 * blockDim.x);
    cg::wait(block);
    y[threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x].y;
}
