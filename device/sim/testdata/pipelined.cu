// What a fast kernel uses beside the tensor cores: copies several stages ahead, filled up with
// zeros; more shared memory than 48 KB; pairs of halves as registers; functions of a warp.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include "tensorcore.h"

constexpr int tile = 64, depth = 64, stages = 4, pitch = depth + 8; // 9216 bytes a tile

// rows × depth halves of x [height, width] to shared memory, zeros beyond its edges. 16 bytes a
// copy: width is a multiple of 8 only.
__device__ void stage(__half (*to)[pitch], const __half *x, int top, int left, int height,
                      int width) {
    for (int i = threadIdx.x; i < tile * depth / 8; i += blockDim.x) {
        int r = i / (depth / 8), c = i % (depth / 8) * 8;
        bool inside = top + r < height && left + c < width;
        const __half *from = x + (size_t)(top + r) * width + left + c;
        __pipeline_memcpy_async(&to[r][c], inside ? from : x, 16, inside ? 0 : 16);
    }
}

// c [m, n] = a [m, k] · b [n, k] transposed: 64 × 64 a block of four warps, one above the other.
extern "C" __global__ __launch_bounds__(128, 2) void product(const __half *a, const __half *b,
                                                             float *c, int m, int n, int k) {
    extern __shared__ __align__(128) unsigned char smem[];
    typedef __half(*Tile)[pitch];
    Tile as = reinterpret_cast<Tile>(smem), bs = as + stages * tile;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int top = blockIdx.y * tile, left = blockIdx.x * tile, rounds = (k + depth - 1) / depth;
    float sum[8][4] = {};
    for (int i = 0; i < stages - 1; i++) {
        if (i < rounds) {
            stage(as + i * tile, a, top, i * depth, m, k);
            stage(bs + i * tile, b, left, i * depth, n, k);
        }
        __pipeline_commit(); // an empty group, too, so that the count below holds
    }
    for (int round = 0; round < rounds; round++) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads(); // this stage is there, and all are done with the one before
        int next = round + stages - 1, slot = next % stages * tile, here = round % stages * tile;
        if (next < rounds) {
            stage(as + slot, a, top, next * depth, m, k);
            stage(bs + slot, b, left, next * depth, n, k);
        }
        __pipeline_commit();
        for (int d = 0; d < depth; d += 16) {
            unsigned fa[4], fb[4];
            load_matrix(fa, &as[here + warp * 16 + lane % 16][d + lane / 16 * 8]);
            for (int j = 0; j < 8; j += 2) { // b's rows are the product's columns
                int row = j * 8 + lane / 16 * 8 + lane % 8, half = lane / 8 % 2 * 8;
                load_matrix(fb, &bs[here + row][d + half]);
                mma_f16(sum[j], fa, fb[0], fb[1]);
                mma_f16(sum[j + 1], fa, fb[2], fb[3]);
            }
        }
    }
    __pipeline_wait_prior(0);
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++) {
            int row = top + warp * 16 + lane / 4 + i / 2 * 8;
            int column = left + j * 8 + lane % 4 * 2 + i % 2;
            if (row < m && column < n) __stcs(&c[(size_t)row * n + column], sum[j][i]);
        }
}

// Each lane writes a row of 16 numbers about x and y.
extern "C" __global__ void scalars(const float *x, const unsigned *n, float *out) {
    int t = threadIdx.x;
    float v = __ldg(x + t), *o = out + 16 * t;
    unsigned u = n[t];
    __half2 pair = __floats2half2_rn(v, -v), swapped = __halves2half2(pair.y, pair.x);
    unsigned word = *reinterpret_cast<unsigned *>(&swapped), copy;
    memcpy(&copy, &pair, sizeof copy);
    __half2 back = *reinterpret_cast<__half2 *>(&word);
    float2 both = __half22float2(back);
    o[0] = exp2f(v);
    o[1] = __fdividef(v, 4);
    o[2] = ldexpf(v, 5);
    o[3] = scalbnf(v, -5);
    o[4] = __uint_as_float(__float_as_uint(v) ^ 0x80000000u);
    o[5] = both.x, o[6] = both.y;
    o[7] = __low2float(pair), o[8] = __high2float(pair);
    o[9] = word == (copy >> 16 | copy << 16);
    o[10] = __reduce_max_sync(0xffffffffu, u), o[11] = __reduce_min_sync(0xffffffffu, u);
    o[12] = __reduce_add_sync(0xffffffffu, u);
    float4 four = __ldcs((const float4 *)x + t / 4);
    o[13] = t % 4 == 0 ? four.x : t % 4 == 1 ? four.y : t % 4 == 2 ? four.z : four.w;
    uint4 halves = __ldg((const uint4 *)x + t / 4);
    o[14] = __uint_as_float(t % 2 ? halves.y : halves.x);
    o[15] = __frcp_rn(v);
}
