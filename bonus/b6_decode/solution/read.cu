// Only reads the cache, as fast as it can: what a step could take at best. It computes nothing.
//
//   k, v [batch, slots, kvHeads, DIM]

#include <cuda_fp16.h>

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int HEADS = 8;  // a block for each key head, so that gridDim.x is batch * kvHeads
constexpr int FLIGHT = 8; // loads of a thread that are on their way at a time

// sums are written only if they are of a kind that they never are: nothing is left out as unused.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const __half *q, const __half *k, const __half *v, const int *lengths, __half *out,
           float *between, unsigned *, int slots, int heads, int kvHeads, float scale) {
    const size_t all = (size_t)gridDim.x * slots * DIM / 8;
    const size_t threads = (size_t)gridDim.x * gridDim.y * THREADS;
    const size_t first = (blockIdx.y * gridDim.x + blockIdx.x) * THREADS + threadIdx.x;
    unsigned sum = 0;
    for (int of = 0; of < 2; of++) {
        const __half *x = of ? v : k;
        const uint4 *rows = reinterpret_cast<const uint4 *>(x);
        for (size_t i = first; i < all; i += FLIGHT * threads) {
            uint4 y[FLIGHT];
#pragma unroll
            for (int j = 0; j < FLIGHT; j++)
                y[j] = i + j * threads < all ? rows[i + j * threads] : make_uint4(0, 0, 0, 0);
#pragma unroll
            for (int j = 0; j < FLIGHT; j++) sum |= y[j].x ^ y[j].y ^ y[j].z ^ y[j].w;
        }
    }
    if (sum == 0x12345678 && lengths[0] < 0) between[0] = sum;
}
