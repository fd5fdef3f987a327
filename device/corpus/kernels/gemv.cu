// y = a x for a wide matrix: the columns are split among blocks.

// gemv_split: a warp a row and part; the parts meet in an atomic. y starts at zero.
extern "C" __global__ void gemv_split(const float *__restrict__ a, const float *__restrict__ x,
                                      float *y, int rows, int cols, int part) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    int from = blockIdx.y * part, to = min(from + part, cols);
    float sum = 0;
    for (int c = from + lane; c < to; c += 32) sum += a[(size_t)row * cols + c] * __ldg(&x[c]);
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) atomicAdd(&y[row], sum);
}

// gemv_partial and gemv_join: without atomics, hence the same on every run.
extern "C" __global__ void gemv_partial(const float *a, const float *x, float *partial, int rows,
                                        int cols, int part) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int c = blockIdx.y * part; c < min((int)(blockIdx.y + 1) * part, cols); c++)
        sum += a[(size_t)row * cols + c] * x[c];
    partial[blockIdx.y * rows + row] = sum;
}

extern "C" __global__ void gemv_join(const float *partial, float *y, int rows, int parts) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int p = 0; p < parts; p++) sum += partial[p * rows + row];
    y[row] = sum;
}
