// Kernels whose traffic is easily counted by hand. Each runs with 2 blocks of
// 64 threads: 4 warps.
extern "C" __global__ void copies(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}

extern "C" __global__ void copies_wide(const float4 *x, float4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}

extern "C" __global__ void strided(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[8 * i];
}

extern "C" __global__ void broadcast(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[0];
}

extern "C" __global__ void misplaced(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + 1];
}

extern "C" __global__ void loops(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 2000; k++) sum += x[(i + k) % 128];
    y[i] = sum;
}

extern "C" __global__ void column(const float *x, float *y) {
    __shared__ float tile[32 * 32];
    int t = threadIdx.x;
    if (t < 32) tile[t * 32] = x[t];
    __syncthreads();
    if (t < 32) y[t] = tile[t * 32];
}

extern "C" __global__ void column_padded(const float *x, float *y) {
    __shared__ float tile[32 * 33];
    int t = threadIdx.x;
    if (t < 32) tile[t * 33] = x[t];
    __syncthreads();
    if (t < 32) y[t] = tile[t * 33];
}

// Lanes that go different ways, each for longer than a trace holds.
extern "C" __global__ void diverges(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i % 2)
        for (int k = 0; k < 3000; k++) sum += x[k % 128];
    else
        for (int k = 0; k < 3001; k++) sum -= x[k % 128];
    y[i] = sum;
}

// Odd lanes leave the first of four reads out, and make up for it at the last.
extern "C" __global__ void makes_up(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        int times = i % 2 == 0 ? 1 : k == 0 ? 0 : k == 3 ? 2 : 1;
        for (int j = 0; j < times; j++) sum += x[k + j];
        sum += x[64 + k];
    }
    y[i] = sum;
}
