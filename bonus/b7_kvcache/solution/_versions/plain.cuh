// Decoding the plain way: a block for each query head, which takes 128 keys at a time. A thread
// computes a key's score by itself, then one number of the output.

#include <cuda_fp16.h>

static_assert(DIM <= THREADS, "a thread has one number of the output");

// The largest, or the sum, of a block's numbers, for all of its threads.
__device__ float largestOf(float x, float *room) {
    room[threadIdx.x] = x;
    for (int n = THREADS / 2; n > 0; n /= 2) {
        __syncthreads(); // the other half has written
        if (threadIdx.x < n) room[threadIdx.x] = fmaxf(room[threadIdx.x], room[threadIdx.x + n]);
    }
    __syncthreads(); // the result is there
    x = room[0];
    __syncthreads(); // everyone has read it: room may be used again
    return x;
}
__device__ float sumOf(float x, float *room) {
    room[threadIdx.x] = x;
    for (int n = THREADS / 2; n > 0; n /= 2) {
        __syncthreads(); // the other half has written
        if (threadIdx.x < n) room[threadIdx.x] += room[threadIdx.x + n];
    }
    __syncthreads(); // the result is there
    x = room[0];
    __syncthreads(); // everyone has read it: room may be used again
    return x;
}
