// Bugs planted in what the tensor cores and asynchronous copies do; the form is
// that of bugs.cu. Each kernel runs with 64 threads.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> Left;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> Right;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;

extern "C" __global__ void lane_returned(const float *x, float *y) {
    Left a;
    if (threadIdx.x == 5) return;
    wmma::load_matrix_sync(a, (const half *)x, 16); // want: absent lane
    if (threadIdx.x < 32) y[threadIdx.x] = __half2float(a.x[0]);
}

extern "C" __global__ void lane_elsewhere(const float *x, float *y) {
    Left a;
    Right b;
    Sum sum;
    if (threadIdx.x >= 32) return;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, (const half *)x, 16);
    wmma::load_matrix_sync(b, (const half *)x, 16);
    if (threadIdx.x != 7) wmma::mma_sync(sum, a, b, sum); // want: absent lane
    if (threadIdx.x == 7) y[0] = 1;
}

extern "C" __global__ void products_of_two_kinds(const float *x, float *y) {
    Left a;
    Right b;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, (const half *)x, 16);
    wmma::load_matrix_sync(b, (const half *)x, 16);
    if (threadIdx.x % 32 < 16)
        wmma::mma_sync(sum, a, b, sum); // want: deadlock
    else
        wmma::store_matrix_sync(y, sum, 16, wmma::mem_row_major);
}

extern "C" __global__ void matrix_misaligned(const float *x, float *y) {
    Left a;
    wmma::load_matrix_sync(a, (const half *)x + 8, 16); // want: misaligned matrix
    y[threadIdx.x] = __half2float(a.x[0]);
}

extern "C" __global__ void stride_of_17(const float *x, float *y) {
    Left a;
    wmma::load_matrix_sync(a, (const half *)x, 17); // want: bad leading dimension
    y[threadIdx.x] = __half2float(a.x[0]);
}

extern "C" __global__ void matrix_past_the_end(const float *x, float *y) {
    Left a;
    wmma::load_matrix_sync(a, (const half *)x, 32); // 256 floats: just enough
    wmma::load_matrix_sync(a, (const half *)x, 40); // want: out of bounds
    y[threadIdx.x] = __half2float(a.x[0]);
}

extern "C" __global__ void matrix_not_staged(const float *x, float *y) {
    __shared__ half tile[256];
    Left a;
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 64) tile[i] = __float2half(x[i]);
    wmma::load_matrix_sync(a, tile, 16); // want: race
    y[t] = __half2float(a.x[0]);
}

extern "C" __global__ void read_before_the_wait(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &x[t], 4);
    __pipeline_commit();
    y[t] = s[t]; // want: not waited for
    __pipeline_wait_prior(0);
}

extern "C" __global__ void waits_for_too_few(const float *x, float *y) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &x[t], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[1][t], &x[64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    y[t] = s[1][63 - t]; // want: not waited for
    __pipeline_wait_prior(0);
}

extern "C" __global__ void never_committed(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &x[t], 4);
    __pipeline_wait_prior(0);
    __syncthreads();
    y[t] = s[63 - t]; // want: not waited for
}

extern "C" __global__ void no_barrier_after_the_wait(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &x[t], 4);
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    y[t] = s[t < 32 ? t : t - 32]; // want: race
}

extern "C" __global__ void overwritten_while_read(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    float v = s[63 - t]; // want: race
    __pipeline_memcpy_async(&s[t], &x[64 + t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = v + s[t];
}

extern "C" __global__ void copies_12_bytes(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x, from = t % 16 * 4;
    __pipeline_memcpy_async(&s[from], &x[from], 12 + n); // want: bad asynchronous copy
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = s[0];
}

extern "C" __global__ void copies_to_global(const float *x, float *y) {
    __pipeline_memcpy_async(&y[threadIdx.x], &x[threadIdx.x], 4); // want: bad asynchronous copy
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

extern "C" __global__ void copy_misaligned(const float *x, float *y) {
    __shared__ alignas(16) float s[260];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * t], &x[4 * t + 1], 16); // want: bad asynchronous copy
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = s[4 * t];
}

extern "C" __global__ void copies_past_the_end(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &x[t + 200], 4); // want: out of bounds
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = s[t];
}
