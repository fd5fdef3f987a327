// Matrix units and asynchronous copies. Without BUG each kernel is its twin, which is right.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

// The copy is under way, and nobody waits for it.
extern "C" __global__ void copy_not_waited_for(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], x + t, 4);
    __pipeline_commit();
#ifndef BUG
    __pipeline_wait_prior(0);
#endif
    y[t] = s[t]; // want: not waited for
#ifdef BUG
    __pipeline_wait_prior(0);
#endif
}

// In the last round nothing new is on its way, and so waiting for all but one
// does not wait for the last.
extern "C" __global__ void last_round_not_waited_for(const float *x, float *y, int tiles) {
    __shared__ float buffer[2][64];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&buffer[0][t], x + t, 4);
    __pipeline_commit();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles) {
            __pipeline_memcpy_async(&buffer[(i + 1) % 2][t], x + (i + 1) * 64 + t, 4);
#ifdef BUG
            __pipeline_commit();
#endif
        }
#ifndef BUG
        __pipeline_commit(); // an empty one counts
#endif
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += buffer[i % 2][63 - t]; // want: not waited for
        __syncthreads();
    }
    __pipeline_wait_prior(0);
    y[t] = sum;
}

// Each thread waits for its own copies only: the others' need a barrier, too.
extern "C" __global__ void waits_alone(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], x + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
#ifndef BUG
    __syncthreads();
#endif
    y[t] = s[t < 32 ? t : t - 32]; // want: race
}

// A row more than there are: the matrix reaches beyond the buffer.
extern "C" __global__ void matrix_too_low(const half *x, float *y, int stride) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
#ifdef BUG
    wmma::load_matrix_sync(a, x + stride, stride); // want: out of bounds
#else
    wmma::load_matrix_sync(a, x, stride);
#endif
    y[threadIdx.x] = __half2float(a.x[0]);
}

// The tile is filled by the block and read by a warp that does not wait.
extern "C" __global__ void tile_not_staged(const half *x, float *y) {
    __shared__ __align__(32) half tile[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 64) tile[i] = x[i];
#ifndef BUG
    __syncthreads();
#endif
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, tile, 16); // want: race
    y[t] = __half2float(a.x[0]);
}

// A matrix takes the whole warp, and some lanes have returned.
extern "C" __global__ void warp_not_whole(const half *x, float *y, int n) {
#ifdef BUG
    if (threadIdx.x >= n) return;
#endif
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::load_matrix_sync(a, x, 16); // want: absent lane
#ifdef BUG
    y[threadIdx.x] = __half2float(a.x[0]);
#else
    if (threadIdx.x < n) y[threadIdx.x] = __half2float(a.x[0]);
#endif
}
