// Layer norm: out = (x - mean) / sqrt(variance + eps) * gain + bias, each row of
// x [rows, width] by itself. A block has one row; out may be x.

#define WARP 32
#define BLOCK 256 // threads; rows.go knows it

// The sum of value over the block, for every thread. partial has a place a warp.
__device__ float sumOfBlock(float value, float *partial) {
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    if (threadIdx.x % WARP == 0) partial[threadIdx.x / WARP] = value;
    __syncthreads(); // each warp's sum is in place before others read it
    float sum = 0.0f;
#pragma unroll
    for (int warp = 0; warp < BLOCK / WARP; warp++) sum += partial[warp];
    return sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    layer_norm(const float *x, const float *gain, const float *bias, float *out, int width,
               float eps) {
    __shared__ float forMean[BLOCK / WARP], forVariance[BLOCK / WARP];
    const size_t row = (size_t)blockIdx.x * width;

    // 1. The mean. The row is short enough to stay in the caches for what follows.
    float sum = 0.0f;
    for (int i = threadIdx.x; i < width; i += BLOCK) sum += x[row + i];
    const float mean = sumOfBlock(sum, forMean) / width;

    // 2. The variance, of differences from the mean: squares of x itself would
    //    lose it where the mean is large.
    float squares = 0.0f;
    for (int i = threadIdx.x; i < width; i += BLOCK) {
        const float difference = x[row + i] - mean;
        squares += difference * difference;
    }
    const float scale = 1.0f / sqrtf(sumOfBlock(squares, forVariance) / width + eps);

    // 3. Normalise. A thread writes only what it alone has read, so out may be x.
    for (int i = threadIdx.x; i < width; i += BLOCK)
        out[row + i] = (x[row + i] - mean) * scale * gain[i] + bias[i];
}
