// Weights of four bits: (code - 8) * scale. Groups of 32 neighbours of a row share a scale, a half.
// Byte i of a group's 16 has number i in its low half, and number i + 16 in its high one.

#include <cuda_fp16.h>

constexpr int GROUP = 32;

__device__ unsigned char nibble(float w, float scale) {
    const float code = scale > 0 ? rintf(w / scale) + 8 : 8;
    return (unsigned char)fminf(fmaxf(code, 0), 15);
}

// A thread for each group.
extern "C" __global__ void pack(unsigned char *codes, __half *scales, const __half *w, int groups) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= groups) return;
    const __half *from = w + (size_t)at * GROUP;
    float largest = 0;
    for (int i = 0; i < GROUP; i++) largest = fmaxf(largest, fabsf(__half2float(from[i])));
    const __half kept = __float2half(largest / 7);
    scales[at] = kept;
    const float scale = __half2float(kept);
    for (int i = 0; i < GROUP / 2; i++)
        codes[(size_t)at * GROUP / 2 + i] = nibble(__half2float(from[i]), scale) |
                                            nibble(__half2float(from[i + GROUP / 2]), scale) << 4;
}

// y [batch, outputs] = x [batch, inputs] * w [outputs, inputs] transposed; a thread for each
// number.
extern "C" __global__ void multiply_four(float *y, const float *x, const unsigned char *codes,
                                         const __half *scales, int batch, int inputs, int outputs) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= batch * outputs) return;
    const float *row = x + (size_t)(at / outputs) * inputs;
    const size_t first = (size_t)(at % outputs) * (inputs / GROUP);
    float sum = 0;
    for (int g = 0; g < inputs / GROUP; g++) {
        const unsigned char *of = codes + (first + g) * (GROUP / 2);
        float part = 0;
        for (int i = 0; i < GROUP / 2; i++) {
            part += row[g * GROUP + i] * (of[i] % 16 - 8);
            part += row[g * GROUP + GROUP / 2 + i] * (of[i] / 16 - 8);
        }
        sum += part * __half2float(scales[first + g]);
    }
    y[at] = sum;
}
