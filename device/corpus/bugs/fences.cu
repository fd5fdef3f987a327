// Fences that stand before what they should order: what is written behind a fence, it does not make
// known. Without BUG each kernel is its twin, which is right.

// The last block adds up what all have left. Every thread passes its fence before it writes.
extern "C" __global__ void fences_before_its_part(const float *x, float *parts, unsigned *done,
                                                  float *y) {
    __shared__ bool last;
    int t = threadIdx.x;
#ifdef BUG
    __threadfence();
#endif
    parts[blockIdx.x * 64 + t] = x[t];
#ifndef BUG
    __threadfence();
#endif
    __syncthreads();
    if (t == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += parts[b * 64 + t]; // want: race
    y[t] = sum;
}

// The thread that counts passes its fence before the block has written.
extern "C" __global__ void fences_before_the_blocks_part(const float *x, float *parts,
                                                         unsigned *done, float *y) {
    __shared__ bool last;
    int t = threadIdx.x;
#ifdef BUG
    if (t == 0) __threadfence();
    __syncthreads();
#endif
    parts[blockIdx.x * 64 + t] = x[t];
    __syncthreads();
    if (t == 0) {
#ifndef BUG
        __threadfence();
#endif
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += parts[b * 64 + t]; // want: race
    y[t] = sum;
}

// A load that acquires makes nothing known, and no write that comes later.
extern "C" __global__ void acquires_before_its_part(const float *x, float *parts, unsigned *done,
                                                    float *y) {
    __shared__ bool last;
    int t = threadIdx.x;
    unsigned seen = 0;
    if (t == 0)
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(done) : "memory");
    __syncthreads();
    parts[blockIdx.x * 64 + t] = x[t];
    __syncthreads();
    if (t == 0) {
#ifndef BUG
        __threadfence();
#endif
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    float sum = 0;
    for (int b = 0; b < gridDim.x; b++) sum += parts[b * 64 + t]; // want: race
    y[t] = sum;
}

// A flag for the next block, and its fence before the data.
extern "C" __global__ void raises_behind_an_early_fence(const float *x, float *data, unsigned *flag,
                                                        float *y) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
#ifdef BUG
        __threadfence();
#endif
        data[0] = x[0];
#ifndef BUG
        __threadfence();
#endif
        *(volatile unsigned *)flag = 1;
    } else if (blockIdx.x == 1) {
        while (*(volatile unsigned *)flag == 0) {
        }
        __threadfence();
        y[0] = data[0]; // want: race
    }
}

// The same from one warp to another.
extern "C" __global__ void tells_a_warp_behind_an_early_fence(const float *x, float *parts,
                                                              unsigned *done, float *y) {
    __shared__ float part;
    __shared__ volatile int ready;
    int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t == 0) {
#ifdef BUG
        __threadfence_block();
#endif
        part = x[0];
#ifndef BUG
        __threadfence_block();
#endif
        ready = 1;
    }
    if (t == 32) {
        while (!ready) {
        }
        __threadfence_block();
        y[blockIdx.x] = part; // want: race
    }
}
