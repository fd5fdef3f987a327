// Numbers of 8 and 4 bits, words of four bytes, complex numbers, and what libcu++ has of
// barriers, pipelines and atomics.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuComplex.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <mma.h>
namespace cg = cooperative_groups;
namespace wmma = nvcuda::wmma;

extern "C" __global__ void narrowed(const float *x, unsigned char *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[5 * i] = __nv_fp8_e4m3(x[i]).__x;
    y[5 * i + 1] = __nv_fp8_e5m2(x[i]).__x;
    y[5 * i + 2] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E4M3);
    y[5 * i + 3] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E5M2);
    y[5 * i + 4] = __nv_fp4_e2m1(x[i]).__x;
}

extern "C" __global__ void widened(float *y) {
    int i = threadIdx.x;
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    __nv_fp4_e2m1 c;
    a.__x = b.__x = i;
    c.__x = i % 16;
    y[i] = (float)a;
    y[256 + i] = (float)b;
    y[512 + i] = (float)c;
}

extern "C" __global__ void packed(const unsigned *a, const unsigned *b, unsigned *y) {
    int i = threadIdx.x;
    y[12 * i] = __vadd4(a[i], b[i]);
    y[12 * i + 1] = __vsubss4(a[i], b[i]);
    y[12 * i + 2] = __vaddus4(a[i], b[i]);
    y[12 * i + 3] = __vabsdiffu4(a[i], b[i]);
    y[12 * i + 4] = __vcmpgts4(a[i], b[i]);
    y[12 * i + 5] = __vmaxs2(a[i], b[i]);
    y[12 * i + 6] = __vsads4(a[i], b[i]);
    y[12 * i + 7] = __vavgu4(a[i], b[i]);
    y[12 * i + 8] = __vneg4(a[i]);
    y[12 * i + 9] = __vabsss2(a[i]);
    y[12 * i + 10] = __vseteq2(a[i], b[i]);
    y[12 * i + 11] = __vavgs4(a[i], b[i]);
}

extern "C" __global__ void complex_numbers(float *y) {
    cuComplex a = make_cuComplex(1, 2), b = make_cuComplex(3, -4);
    cuComplex p = cuCmulf(a, b), q = cuCdivf(p, b);
    y[0] = p.x, y[1] = p.y, y[2] = q.x, y[3] = q.y, y[4] = cuCabsf(b);
}

extern "C" __global__ void bytes_product(const void *a, const void *b, int *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 7);
    wmma::load_matrix_sync(left, (const signed char *)a, 16);
    wmma::load_matrix_sync(right, (const signed char *)b, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

extern "C" __global__ void double_product(const double *a, const double *b, double *c) {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::fill_fragment(sum, 0.5);
    wmma::load_matrix_sync(left, a, 4);
    wmma::load_matrix_sync(right, b, 8);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 8, wmma::mem_row_major);
}

extern "C" __global__ void with_barrier(const float *x, float *y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ float stage[64];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&barrier, block.size());
    block.sync();
    cuda::memcpy_async(block, stage, x, sizeof stage, barrier);
    barrier.wait(barrier.arrive());
    y[threadIdx.x] = stage[63 - threadIdx.x];
}

extern "C" __global__ void with_pipeline(const float *x, float *y) {
    __shared__ float stage[2][64];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 2; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[i][t], &x[64 * i + t], cuda::aligned_size_t<4>(4), pipe);
        pipe.producer_commit();
    }
    for (int i = 0; i < 2; i++) {
        pipe.consumer_wait();
        sum += stage[i][t];
        pipe.consumer_release();
    }
    y[t] = sum;
}

struct Largest {
    float value, where, more, last;
};
extern "C" __global__ void groups_of_lanes(float *y, int *counts, float4 *all) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x;
    if (t % 3 == 0) {
        auto third = cg::coalesced_threads();
        counts[t] = third.size() * 100 + cg::reduce(third, 1, cg::plus<int>());
    } else {
        counts[t] = __popc(__activemask());
    }
    auto odd = cg::binary_partition(warp, t % 2);
    y[t] = cg::reduce(odd, t, cg::greater<int>());
    auto label = cg::labeled_partition(warp, t / 8);
    y[64 + t] = label.meta_group_rank() * 100 + label.thread_rank();
    cg::thread_group sixteen = cg::tiled_partition(cg::this_thread_block(), 16);
    y[128 + t] = sixteen.thread_rank() + 100 * sixteen.size();
    Largest best = cg::reduce(warp, Largest{(float)(t * 7 % 32), (float)t, 0, 0},
                              [](Largest a, Largest b) { return a.value < b.value ? b : a; });
    y[192 + t] = best.where;
    cuda::atomic_ref<int, cuda::thread_scope_device> total(counts[64]);
    total.fetch_add(2, cuda::std::memory_order_relaxed);
    atomicAdd(all, make_float4(1, 2, 3, 4));
}

// The second warp has gone before the barrier: that is no fault.
extern "C" __global__ void one_warp_leaves(float *y) {
    __shared__ float s[32];
    if (threadIdx.x >= 32) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = s[31 - threadIdx.x];
}
