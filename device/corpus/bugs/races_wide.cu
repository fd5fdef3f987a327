// Races between lanes, blocks and atomic operations. Without BUG each kernel is its twin, which is
// right.

// Lanes exchange through shared memory and trust in marching together.
extern "C" __global__ void exchange_in_warp(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
#ifndef BUG
    __syncwarp();
#endif
    y[t] = s[t ^ 1]; // want: race
}

// A warp's barrier where the whole block has to wait.
extern "C" __global__ void syncwarp_too_weak(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
#ifdef BUG
    __syncwarp();
#else
    __syncthreads();
#endif
    y[t] = s[t ^ 32]; // want: race
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
#ifdef BUG
    y[t] = s[t ^ 16]; // want: race
#else
    y[t] = s[t ^ 8];
#endif
}

// A shuffle is no barrier for memory.
extern "C" __global__ void shuffle_is_no_barrier(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    float v = __shfl_sync(0xffffffffu, x[t], 0);
#ifndef BUG
    __syncwarp();
#endif
    y[t] = v + s[31 - t]; // want: race
}

// A counter that everybody increments.
extern "C" __global__ void counter_not_atomic(const float *x, int *count) {
    __shared__ int positive;
    if (threadIdx.x == 0) positive = 0;
    __syncthreads();
#ifdef BUG
    if (x[threadIdx.x] > 0) positive++; // want: race
#else
    if (x[threadIdx.x] > 0) atomicAdd(&positive, 1);
#endif
    __syncthreads();
    if (threadIdx.x == 0) *count = positive;
}

// A histogram without atomics.
extern "C" __global__ void histogram_not_atomic(const int *x, int *bins) {
    __shared__ int mine[8];
    int t = threadIdx.x;
    if (t < 8) mine[t] = 0;
    __syncthreads();
#ifdef BUG
    mine[x[t] & 7] += 1; // want: race
#else
    atomicAdd(&mine[x[t] & 7], 1);
#endif
    __syncthreads();
    if (t < 8) bins[t] = mine[t];
}

// Counting begins before all bins are zero.
extern "C" __global__ void bins_zeroed_too_late(const int *x, int *bins) {
    __shared__ int mine[64];
    int t = threadIdx.x;
    mine[t] = 0;
#ifndef BUG
    __syncthreads();
#endif
    atomicAdd(&mine[(x[t] + 1) & 63], 1); // want: race
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
#ifndef BUG
    __syncthreads();
#endif
    y[t] = x[t] / total; // want: race
}

// All blocks add to one number.
extern "C" __global__ void blocks_share_a_sum(const float *x, float *y) {
#ifdef BUG
    if (threadIdx.x == 0) y[0] += x[blockIdx.x]; // want: race
#else
    if (threadIdx.x == 0) atomicAdd(&y[0], x[blockIdx.x]);
#endif
}

// Each block writes one element too many: its neighbour's first.
extern "C" __global__ void blocks_overlap(const float *x, float *y) {
    int first = blockIdx.x * 64;
#ifdef BUG
    for (int i = threadIdx.x; i <= 64; i += 64)
        y[first + i] = x[first + i] * (1 + blockIdx.x); // want: race
#else
    for (int i = threadIdx.x; i < 64; i += 64) y[first + i] = x[first + i] * (1 + blockIdx.x);
#endif
}

// A stencil in place: the rim belongs to another block.
extern "C" __global__ void stencil_in_place(const float *x, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
#ifdef BUG
    float v = i + 1 < gridDim.x * 64 ? y[i + 1] : 0.f; // want: race
#else
    float v = i + 1 < gridDim.x * 64 ? x[i + 1] : 0.f;
#endif
    __syncthreads();
    y[i] = 0.5f * (x[i] + v);
}

// A block waits for itself and reads what another one writes.
extern "C" __global__ void barrier_is_no_grid_barrier(const float *x, float *y, float *z) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i];
    __syncthreads();
#ifdef BUG
    z[i] = y[gridDim.x * 64 - 1 - i]; // want: race
#else
    z[i] = y[blockIdx.x * 64 + 63 - threadIdx.x];
#endif
}

// Neighbouring bytes are no race, the same byte is.
extern "C" __global__ void bytes_overlap(const float *x, unsigned char *y) {
    __shared__ unsigned char flags[64];
    int t = threadIdx.x;
#ifdef BUG
    flags[t / 2] = (unsigned char)(x[t] * 2); // want: race
#else
    flags[t] = (unsigned char)(x[t] * 2);
#endif
    __syncthreads();
    y[t] = flags[t / 2];
}

// Blocks count themselves done, but nobody looks whether he is the last before adding up.
extern "C" __global__ void sums_before_all_are_done(const float *x, float *parts, unsigned *done,
                                                    float *y) {
    if (threadIdx.x != 0) return;
    parts[blockIdx.x] = x[blockIdx.x];
    __threadfence();
#ifdef BUG
    atomicAdd(done, 1u);
#else
    bool last = atomicAdd(done, 1u) == gridDim.x - 1;
#endif
    __threadfence();
    float sum = 0;
#ifdef BUG
    for (int b = 0; b < gridDim.x; b++) sum += parts[b]; // want: race
#else
    for (int b = 0; last && b < gridDim.x; b++) sum += parts[b];
#endif
    y[blockIdx.x] = sum;
}
