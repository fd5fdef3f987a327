// Single instructions of the tensor cores: fragments filled by hand, as the header describes them,
// loads from shared memory, and a product of larger matrices out of both.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "tensorcore.h"

// Where a lane's numbers lie, for `width` of them in a register.
struct Place {
    int g, t;
    __device__ Place() : g(threadIdx.x % 32 / 4), t(threadIdx.x % 4) {}
};

// Two neighbours as one register.
template <class T> __device__ unsigned pair(const T *p) {
    return *(const unsigned *)p;
}

// a [16, 16] by rows, b [16, 8] by columns, d [16, 8] by rows.
template <class T>
__device__ void fragments(const T *a, const T *b, unsigned (&fa)[4], unsigned (&fb)[2]) {
    Place at;
    for (int i = 0; i < 4; i++) fa[i] = pair(a + (at.g + i % 2 * 8) * 16 + 2 * at.t + i / 2 * 8);
    for (int i = 0; i < 2; i++) fb[i] = pair(b + at.g * 16 + 2 * at.t + i * 8);
}

__device__ void load_sums(const float *d, float (&fd)[4]) {
    Place at;
    for (int i = 0; i < 4; i++) fd[i] = d[(at.g + i / 2 * 8) * 8 + 2 * at.t + i % 2];
}

__device__ void store_sums(float *d, const float (&fd)[4]) {
    Place at;
    for (int i = 0; i < 4; i++) d[(at.g + i / 2 * 8) * 8 + 2 * at.t + i % 2] = fd[i];
}

extern "C" __global__ void half_product(const half *a, const half *b, float *d) {
    unsigned fa[4], fb[2];
    float fd[4];
    fragments(a, b, fa, fb);
    load_sums(d, fd);
    mma_f16(fd, fa, fb);
    store_sums(d, fd);
}

extern "C" __global__ void bfloat16_product(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                            float *d) {
    unsigned fa[4], fb[2];
    float fd[4];
    fragments(a, b, fa, fb);
    load_sums(d, fd);
    mma_bf16(fd, fa, fb[0], fb[1]);
    store_sums(d, fd);
}

// a [16, 8] by rows, b [8, 8] by columns, rounded first if they shall be.
extern "C" __global__ void tf32_product(const float *a, const float *b, float *d, bool round) {
    unsigned fa[4], fb[2];
    float fd[4];
    Place at;
    for (int i = 0; i < 4; i++) {
        float v = a[(at.g + i % 2 * 8) * 8 + at.t + i / 2 * 4];
        fa[i] = round ? to_tf32(v) : __float_as_uint(v);
    }
    for (int i = 0; i < 2; i++) {
        float v = b[at.g * 8 + at.t + i * 4];
        fb[i] = round ? to_tf32(v) : __float_as_uint(v);
    }
    load_sums(d, fd);
    mma_tf32(fd, fa, fb);
    store_sums(d, fd);
}

// r [4, 32] of four matrices [4, 8, 8], whose rows are `stride` halves apart in shared memory.
extern "C" __global__ void loads(const unsigned short *x, unsigned *r, int stride,
                                 bool transposed) {
    extern __shared__ __align__(128) unsigned char smem[];
    unsigned short *tile = (unsigned short *)smem;
    int lane = threadIdx.x;
    for (int i = lane; i < 4 * 64; i += 32) tile[i / 8 * stride + i % 8] = x[i];
    __syncthreads();
    unsigned fr[4];
    if (transposed)
        load_matrix_transposed(fr, tile + lane * stride);
    else
        load_matrix(fr, tile + lane * stride);
    for (int i = 0; i < 4; i++) r[i * 32 + lane] = fr[i];
}

// c [n, n] = a [n, n] · b [n, n], all by rows: a block of four warps makes 32 × 32 of it, each
// warp 16 × 16. n is a multiple of 32.
extern "C" __global__ __launch_bounds__(128, 2) void product(const half *a, const half *b, float *c,
                                                             int n) {
    // Rows of 40 halves: eight of them touch every bank once.
    __shared__ __align__(16) half as[32][40], bs[32][40];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, down = warp / 2 * 16, right = warp % 2 * 16;
    int row = blockIdx.y * 32, column = blockIdx.x * 32;
    float sum[2][4] = {};
    for (int k = 0; k < n; k += 32) {
        int r = t / 4, at = t % 4 * 8; // 8 halves each
        *(uint4 *)&as[r][at] = *(const uint4 *)&a[(row + r) * n + k + at];
        *(uint4 *)&bs[r][at] = *(const uint4 *)&b[(k + r) * n + column + at];
        __syncthreads();
        for (int step = 0; step < 32; step += 16) {
            unsigned fa[4], fb[4];
            // Lanes 0 to 15 name the rows of the left half, 16 to 31 those of the right one.
            load_matrix(fa, &as[down + lane % 16][step + lane / 16 * 8]);
            load_matrix_transposed(fb, &bs[step + lane % 16][right + lane / 16 * 8]);
            mma_f16(sum[0], fa, fb[0], fb[1]);
            mma_f16(sum[1], fa, fb[2], fb[3]);
        }
        __syncthreads(); // all have read the tiles before the next ones come
    }
    Place place;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 4; i++)
            c[(row + down + place.g + i / 2 * 8) * n + column + right + j * 8 + place.t * 2 +
              i % 2] = sum[j][i];
}
