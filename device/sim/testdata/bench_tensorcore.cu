// What TestTensorCore's instructions cost in the simulator: BenchmarkTensorCore times these.
#include <cuda_fp16.h>
#include "tensorcore.h"

// `rounds` times 16 products by each warp.
extern "C" __global__ void products(float *out, int rounds) {
    unsigned a[4], b[2];
    for (int i = 0; i < 4; i++) a[i] = 0x3c003c00u + threadIdx.x * 4 + i;
    for (int i = 0; i < 2; i++) b[i] = 0x3c003c00u + threadIdx.x * 2 + i;
    float sum[16][4] = {};
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < 16; i++) mma_f16(sum[i], a, b);
    for (int i = 0; i < 16; i++) out[i * blockDim.x + threadIdx.x] = sum[i][0];
}

// `rounds` times 16 loads by each warp, of rows of 64 halves whose pieces of 16 bytes are swizzled:
// piece c of row r is at place c ^ r % 8.
extern "C" __global__ void loads(float *out, int rounds) {
    __shared__ __align__(128) half tile[64][64];
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x)
        tile[i / 64][i % 64] = __float2half(i % 7);
    __syncthreads();
    int lane = threadIdx.x % 32;
    unsigned sum = 0;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < 16; i++) {
            int row = i / 4 * 16 + lane % 16, piece = i % 4 * 2 + lane / 16;
            unsigned x[4];
            load_matrix(x, &tile[row][(piece ^ row % 8) * 8]);
            sum += x[0] ^ x[1] ^ x[2] ^ x[3];
        }
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(d, i) FOUR(d, i), FOUR(d, i + 4), FOUR(d, i + 8), FOUR(d, i + 12)

// `rounds` times 16 products by a warpgroup, 64 x 128 x 16 each: for a warp as much as 16 of the
// others. Tiles are swizzled by 128 bytes.
extern "C" __global__ void group_products(float *out, int rounds) {
    __shared__ __align__(1024) half a[64 * 64], b[128 * 64];
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) a[i] = __float2half(i % 7);
    for (int i = threadIdx.x; i < 128 * 64; i += blockDim.x) b[i] = __float2half(i % 5);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const unsigned long long tile = 64ull << 32 | 1ull << 62;
    const unsigned long long ofA = tile | (unsigned)__cvta_generic_to_shared(a) / 16;
    const unsigned long long ofB = tile | (unsigned)__cvta_generic_to_shared(b) / 16;
    float d[64] = {};
    for (int r = 0; r < rounds; r++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < 16; i++)
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,"
                "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,"
                "%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,"
                "%62,%63}, %64, %65, 1, 1, 1, 0, 0;"
                : SIXTEEN(d, 0), SIXTEEN(d, 16), SIXTEEN(d, 32), SIXTEEN(d, 48)
                : "l"(ofA + i % 4 * 2), "l"(ofB + i % 4 * 2));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    for (int i = 0; i < 16; i++) out[i * blockDim.x + threadIdx.x] = d[i] + d[i + 48];
}
