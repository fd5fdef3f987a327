// Layer norm: out = (x - mean) / sqrt(variance + eps) * gain + bias, separately for
// each row of x [rows, width]. A block handles one row. out may be x. add_norm first
// adds added [rows, width] to x, and keeps the sum there.
//
// rms_norm and add_rms_norm are a Llama's: out = x / sqrt(mean of x squared + eps) * gain.
//
// A decoding step has so few rows that a block spends all its time waiting. So it
// asks for everything it needs at once, and keeps it.

// defines.go defines BLOCK, the most threads a block has, and HELD, how many numbers of a
// row a thread keeps. Rows of up to BLOCK * HELD numbers are read once.

#define WARP 32

#include <early.h>

// The sum of value over the block, for every thread. partial has one place per warp.
__device__ float sumOfBlock(float value, float *partial) {
    const int warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
#pragma unroll
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    if (lane == 0) partial[threadIdx.x / WARP] = value;
    __syncthreads(); // each warp's sum is in place before others read it
    value = lane < warps ? partial[lane] : 0.0f;
#pragma unroll
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

template <bool ADD>
__device__ void normalise(float *x, const float *added, const float *gain, const float *bias,
                          float *out, int width, float eps) {
    __shared__ float forMean[BLOCK / WARP], forVariance[BLOCK / WARP];
    const size_t row = (size_t)blockIdx.x * width;
    const int beyond = HELD * blockDim.x + threadIdx.x; // the first that is not kept

    // 1. The mean.
    float held[HELD] = {}, gains[HELD], biases[HELD], sum = 0.0f;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const int i = j * blockDim.x + threadIdx.x;
        if (i < width) gains[j] = gain[i], biases[j] = bias[i];
    }
    waitForInputs(); // no kernel writes weights
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const int i = j * blockDim.x + threadIdx.x;
        if (i < width) held[j] = ADD ? x[row + i] + added[row + i] : x[row + i];
    }
#pragma unroll
    for (int j = 0; j < HELD; j++) sum += held[j];
    for (int i = beyond; i < width; i += blockDim.x) {
        if (ADD) x[row + i] += added[row + i];
        sum += x[row + i];
    }
    const float mean = sumOfBlock(sum, forMean) / width;

    // 2. The variance, from differences from the mean: squares of x itself would
    //    lose precision if the mean is large.
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const bool there = j * blockDim.x + threadIdx.x < width;
        const float difference = there ? held[j] - mean : 0.0f;
        squares += difference * difference;
    }
    for (int i = beyond; i < width; i += blockDim.x) {
        const float difference = x[row + i] - mean;
        squares += difference * difference;
    }
    const float scale = 1.0f / sqrtf(sumOfBlock(squares, forVariance) / width + eps);

    // 3. Normalise. A thread writes only what it alone has read, so out may be x.
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const int i = j * blockDim.x + threadIdx.x;
        if (i >= width) break;
        if (ADD) x[row + i] = held[j];
        out[row + i] = (held[j] - mean) * scale * gains[j] + biases[j];
    }
    for (int i = beyond; i < width; i += blockDim.x)
        out[row + i] = (x[row + i] - mean) * scale * gain[i] + bias[i];
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    layer_norm(const float *x, const float *gain, const float *bias, float *out, int width,
               float eps) {
    normalise<false>((float *)x, 0, gain, bias, out, width, eps); // does not write x
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    add_norm(float *x, const float *added, const float *gain, const float *bias, float *out,
             int width, float eps) {
    normalise<true>(x, added, gain, bias, out, width, eps);
}

template <bool ADD>
__device__ void normaliseSquares(float *x, const float *added, const float *gain, float *out,
                                 int width, float eps) {
    __shared__ float partial[BLOCK / WARP];
    const size_t row = (size_t)blockIdx.x * width;
    const int beyond = HELD * blockDim.x + threadIdx.x; // the first that is not kept

    // 1. The mean of the squares.
    float held[HELD] = {}, gains[HELD], squares = 0.0f;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const int i = j * blockDim.x + threadIdx.x;
        if (i < width) gains[j] = gain[i];
    }
    waitForInputs(); // no kernel writes weights
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const int i = j * blockDim.x + threadIdx.x;
        if (i < width) held[j] = ADD ? x[row + i] + added[row + i] : x[row + i];
    }
#pragma unroll
    for (int j = 0; j < HELD; j++) squares += held[j] * held[j];
    for (int i = beyond; i < width; i += blockDim.x) {
        if (ADD) x[row + i] += added[row + i];
        squares += x[row + i] * x[row + i];
    }
    const float scale = 1.0f / sqrtf(sumOfBlock(squares, partial) / width + eps);

    // 2. Normalise. A thread writes only what it alone has read, so out may be x.
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        const int i = j * blockDim.x + threadIdx.x;
        if (i >= width) break;
        if (ADD) x[row + i] = held[j];
        out[row + i] = held[j] * scale * gains[j];
    }
    for (int i = beyond; i < width; i += blockDim.x) out[row + i] = x[row + i] * scale * gain[i];
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    rms_norm(const float *x, const float *gain, float *out, int width, float eps) {
    normaliseSquares<false>((float *)x, 0, gain, out, width, eps); // does not write x
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    add_rms_norm(float *x, const float *added, const float *gain, float *out, int width,
                 float eps) {
    normaliseSquares<true>(x, added, gain, out, width, eps);
}
