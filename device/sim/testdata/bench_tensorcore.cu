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
