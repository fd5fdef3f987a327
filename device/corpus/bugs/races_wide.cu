// Races between lanes, blocks and atomic operations, each followed by its twin
// that is right.

// Lanes exchange through shared memory and trust in marching together.
extern "C" __global__ void exchange_in_warp(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    y[t] = s[t ^ 1]; // want: race
}
extern "C" __global__ void exchange_in_warp_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp();
    y[t] = s[t ^ 1];
}

// A warp's barrier where the whole block has to wait.
extern "C" __global__ void syncwarp_too_weak(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp();
    y[t] = s[t ^ 32]; // want: race
}
extern "C" __global__ void syncwarp_too_weak_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[t ^ 32];
}

// Each half of the warp waits for itself only.
extern "C" __global__ void halves_apart(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < 16)
        __syncwarp(0x0000ffffu);
    else
        __syncwarp(0xffff0000u);
    y[t] = s[t ^ 16]; // want: race
}
extern "C" __global__ void halves_apart_ok(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < 16)
        __syncwarp(0x0000ffffu);
    else
        __syncwarp(0xffff0000u);
    y[t] = s[t ^ 8];
}

// A shuffle is no barrier for memory.
extern "C" __global__ void shuffle_is_no_barrier(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    float v = __shfl_sync(0xffffffffu, x[t], 0);
    y[t] = v + s[31 - t]; // want: race
}
extern "C" __global__ void shuffle_is_no_barrier_ok(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    float v = __shfl_sync(0xffffffffu, x[t], 0);
    __syncwarp();
    y[t] = v + s[31 - t];
}

// A counter that everybody increments.
extern "C" __global__ void counter_not_atomic(const float *x, int *count) {
    __shared__ int positive;
    if (threadIdx.x == 0) positive = 0;
    __syncthreads();
    if (x[threadIdx.x] > 0) positive++; // want: race
    __syncthreads();
    if (threadIdx.x == 0) *count = positive;
}
extern "C" __global__ void counter_not_atomic_ok(const float *x, int *count) {
    __shared__ int positive;
    if (threadIdx.x == 0) positive = 0;
    __syncthreads();
    if (x[threadIdx.x] > 0) atomicAdd(&positive, 1);
    __syncthreads();
    if (threadIdx.x == 0) *count = positive;
}

// A histogram without atomics.
extern "C" __global__ void histogram_not_atomic(const int *x, int *bins) {
    __shared__ int mine[8];
    int t = threadIdx.x;
    if (t < 8) mine[t] = 0;
    __syncthreads();
    mine[x[t] & 7] += 1; // want: race
    __syncthreads();
    if (t < 8) bins[t] = mine[t];
}
extern "C" __global__ void histogram_not_atomic_ok(const int *x, int *bins) {
    __shared__ int mine[8];
    int t = threadIdx.x;
    if (t < 8) mine[t] = 0;
    __syncthreads();
    atomicAdd(&mine[x[t] & 7], 1);
    __syncthreads();
    if (t < 8) bins[t] = mine[t];
}

// Counting begins before all bins are zero.
extern "C" __global__ void bins_zeroed_too_late(const int *x, int *bins) {
    __shared__ int mine[64];
    int t = threadIdx.x;
    mine[t] = 0;
    atomicAdd(&mine[(x[t] + 1) & 63], 1); // want: race
    __syncthreads();
    bins[t] = mine[t];
}
extern "C" __global__ void bins_zeroed_too_late_ok(const int *x, int *bins) {
    __shared__ int mine[64];
    int t = threadIdx.x;
    mine[t] = 0;
    __syncthreads();
    atomicAdd(&mine[(x[t] + 1) & 63], 1);
    __syncthreads();
    bins[t] = mine[t];
}

// A total is read while others still add to it.
extern "C" __global__ void total_read_too_early(const float *x, float *y) {
    __shared__ float total;
    int t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, x[t]);
    y[t] = x[t] / total; // want: race
}
extern "C" __global__ void total_read_too_early_ok(const float *x, float *y) {
    __shared__ float total;
    int t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, x[t]);
    __syncthreads();
    y[t] = x[t] / total;
}

// All blocks add to one number.
extern "C" __global__ void blocks_share_a_sum(const float *x, float *y) {
    if (threadIdx.x == 0) y[0] += x[blockIdx.x]; // want: race
}
extern "C" __global__ void blocks_share_a_sum_ok(const float *x, float *y) {
    if (threadIdx.x == 0) atomicAdd(&y[0], x[blockIdx.x]);
}

// Each block writes one element too many: its neighbour's first.
extern "C" __global__ void blocks_overlap(const float *x, float *y) {
    int first = blockIdx.x * 64;
    for (int i = threadIdx.x; i <= 64; i += 64)
        y[first + i] = x[first + i] * (1 + blockIdx.x); // want: race
}
extern "C" __global__ void blocks_overlap_ok(const float *x, float *y) {
    int first = blockIdx.x * 64;
    for (int i = threadIdx.x; i < 64; i += 64) y[first + i] = x[first + i] * (1 + blockIdx.x);
}

// A stencil in place: the rim belongs to another block.
extern "C" __global__ void stencil_in_place(const float *x, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = i + 1 < gridDim.x * 64 ? y[i + 1] : 0.f; // want: race
    __syncthreads();
    y[i] = 0.5f * (x[i] + v);
}
extern "C" __global__ void stencil_in_place_ok(const float *x, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = i + 1 < gridDim.x * 64 ? x[i + 1] : 0.f;
    __syncthreads();
    y[i] = 0.5f * (x[i] + v);
}

// A block waits for itself and reads what another one writes.
extern "C" __global__ void barrier_is_no_grid_barrier(const float *x, float *y, float *z) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i];
    __syncthreads();
    z[i] = y[gridDim.x * 64 - 1 - i]; // want: race
}
extern "C" __global__ void barrier_is_no_grid_barrier_ok(const float *x, float *y, float *z) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i];
    __syncthreads();
    z[i] = y[blockIdx.x * 64 + 63 - threadIdx.x];
}

// Neighbouring bytes are no race, the same byte is.
extern "C" __global__ void bytes_overlap(const float *x, unsigned char *y) {
    __shared__ unsigned char flags[64];
    int t = threadIdx.x;
    flags[t / 2] = (unsigned char)(x[t] * 2); // want: race
    __syncthreads();
    y[t] = flags[t / 2];
}
extern "C" __global__ void bytes_overlap_ok(const float *x, unsigned char *y) {
    __shared__ unsigned char flags[64];
    int t = threadIdx.x;
    flags[t] = (unsigned char)(x[t] * 2);
    __syncthreads();
    y[t] = flags[t / 2];
}

// Blocks count themselves done, but nobody looks whether he is the last before adding up.
extern "C" __global__ void sums_before_all_are_done(const float *x, float *parts, unsigned *done,
                                                    float *y) {
    if (threadIdx.x != 0) return;
    parts[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    atomicAdd(done, 1u);
    __threadfence();
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += parts[b]; // want: race
    y[blockIdx.x] = sum;
}
extern "C" __global__ void sums_before_all_are_done_ok(const float *x, float *parts, unsigned *done,
                                                       float *y) {
    if (threadIdx.x != 0) return;
    parts[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    bool last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
    float sum = 0;
    for (int b = 0; last && b < gridDim.x; b++) sum += parts[b];
    y[blockIdx.x] = sum;
}
