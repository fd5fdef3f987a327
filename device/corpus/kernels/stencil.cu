// Convolutions and stencils: tiles with a rim.
#define RADIUS 3
#define BLOCK 128

// stencil_1d: two smoothing steps in one launch; the second needs a rim of the
// first, so each block computes a little more than it keeps.
extern "C" __global__ void __launch_bounds__(BLOCK) stencil_1d(const float *x, float *y, int n) {
    __shared__ float in[BLOCK + 4], once[BLOCK + 2];
    int t = threadIdx.x, first = blockIdx.x * BLOCK;
    for (int i = t; i < BLOCK + 4; i += BLOCK) {
        int at = first + i - 2;
        in[i] = at >= 0 && at < n ? x[at] : 0.f;
    }
    __syncthreads();
    for (int i = t; i < BLOCK + 2; i += BLOCK) {
        int at = first + i - 1;
        float v = 0.25f * in[i] + 0.5f * in[i + 1] + 0.25f * in[i + 2];
        once[i] = at >= 0 && at < n ? v : 0.f;
    }
    __syncthreads();
    if (first + t < n) y[first + t] = 0.25f * once[t] + 0.5f * once[t + 1] + 0.25f * once[t + 2];
}

__constant__ float taps[2 * RADIUS + 1] = {0.0625f, 0.125f, 0.25f, 0.5f, -0.25f, -0.125f, 0.0625f};

// conv_1d: seven taps in constant memory; the rim is loaded by the first threads.
extern "C" __global__ void __launch_bounds__(BLOCK) conv_1d(const float *x, float *y, int n) {
    __shared__ float tile[BLOCK + 2 * RADIUS];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    tile[t + RADIUS] = i < n ? x[i] : 0.f;
    if (t < RADIUS) {
        tile[t] = i >= RADIUS ? x[i - RADIUS] : 0.f;
        tile[t + RADIUS + BLOCK] = i + BLOCK < n ? x[i + BLOCK] : 0.f;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) sum += tile[t + RADIUS + k] * taps[k + RADIUS];
    y[i] = sum;
}

// conv_2d: a 5 × 5 filter on 16 × 16 tiles with their rim in dynamic shared
// memory, zeros outside of the image.
extern "C" __global__ void conv_2d(const float *image, const float *filter, float *out, int height,
                                   int width) {
    extern __shared__ float shared[];
    const int side = 16 + 4;
    float *tile = shared, *weights = shared + side * side;
    int t = threadIdx.y * 16 + threadIdx.x;
    if (t < 25) weights[t] = filter[t];
    int top = blockIdx.y * 16 - 2, left = blockIdx.x * 16 - 2;
    for (int i = t; i < side * side; i += 256) {
        int y = top + i / side, x = left + i % side;
        bool inside = y >= 0 && y < height && x >= 0 && x < width;
        tile[i] = inside ? image[y * width + x] : 0.f;
    }
    __syncthreads();
    int y = blockIdx.y * 16 + threadIdx.y, x = blockIdx.x * 16 + threadIdx.x;
    if (y >= height || x >= width) return;
    float sum = 0;
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++)
            sum += tile[(threadIdx.y + dy) * side + threadIdx.x + dx] * weights[dy * 5 + dx];
    out[y * width + x] = sum;
}
