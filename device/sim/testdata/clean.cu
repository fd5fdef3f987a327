// Kernels that are right, near twins of those in bugs.cu: none may be reported.
extern "C" __global__ void with_barrier(const float *x, float *y) {
    __shared__ float tile[4][16];
    int t = threadIdx.x;
    tile[t / 16][t % 16] = x[t];
    __syncthreads();
    y[t] = tile[3 - t / 16][t % 16];
}

extern "C" __global__ void with_second_barrier(const float *x, float *y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < n; i++) {
        tile[t] = x[i * 64 + t];
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += tile[k];
        __syncthreads();
    }
    y[t] = sum;
}

// Threads without work return before the barrier: who has returned counts as arrived.
extern "C" __global__ void returns_before_the_barrier(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t >= 40) {
        y[t] = 0;
        return;
    }
    s[t] = x[t];
    __syncthreads();
    y[t] = s[39 - t];
}

// Threads return one after the other, from within the loop.
extern "C" __global__ void returns_round_by_round(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    for (int round = 0;; round++) {
        if (t >= 60 - 10 * round) return;
        s[t] = x[t] + round;
        __syncthreads();
        if (t < 50 - 10 * round) y[t] = s[59 - 10 * round - t];
        __syncthreads();
    }
}

extern "C" __global__ void atomic_sum(float *y) {
    atomicAdd(y, 1.f);
}

extern "C" __global__ void with_syncwarp(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp();
    y[t] = s[t ^ 31];
}

extern "C" __global__ void same_value(float *y) {
    __shared__ int flag;
    flag = 1;
    __syncthreads();
    y[threadIdx.x] = flag;
}

extern "C" __global__ void warp_sum(const float *x, float *y) {
    float v = x[threadIdx.x];
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    y[threadIdx.x] = v;
}

extern "C" __global__ void waits_for_another(int *flag, float *y) {
    if (threadIdx.x == 32) atomicExch(flag, 7);
    if (threadIdx.x == 0)
        while (atomicAdd(flag, 0) != 7) {
        }
    __syncthreads();
    y[threadIdx.x] = 1;
}

extern "C" __global__ void reads_ahead(const float4 *x, float4 *y) {
    float4 v = x[threadIdx.x];
    v.x *= 2;
    v.w += 1;
    y[threadIdx.x] = v;
}

extern "C" __global__ void early_return(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = i;
}

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ float offsets[4] = {4, 3, 2, 1};
extern "C" __global__ void reads_tables(float *y) {
    static constexpr int order[4] = {3, 1, 2, 0};
    y[threadIdx.x] = weights[order[threadIdx.x & 3]] + offsets[threadIdx.x & 3];
}

// The last block to come sums up what the others left: they meet at an atomic.
extern "C" __global__ void last_block_sums(const float *x, float *y, int *counter) {
    __shared__ int last;
    if (threadIdx.x == 0) {
        y[1 + blockIdx.x] = x[blockIdx.x];
        __threadfence();
        last = atomicAdd(counter, 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int b = 0; b < (int)gridDim.x; b++) sum += y[1 + b];
        y[0] = sum;
    }
}

extern "C" __global__ void all_write_one_value(float *y) {
    y[0] = 7;
}
