// A matrix in halves, each number to the nearest.

#include <cuda_fp16.h>
#include <stdint.h>

// n is a multiple of 4.
extern "C" __global__ void to_halves(const float4 *from, uint2 *to, int64_t n) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n / 4;
         i += gridDim.x * (int64_t)blockDim.x) {
        const __half2 low = __floats2half2_rn(from[i].x, from[i].y);
        const __half2 high = __floats2half2_rn(from[i].z, from[i].w);
        to[i] = make_uint2(*(const unsigned *)&low, *(const unsigned *)&high);
    }
}
