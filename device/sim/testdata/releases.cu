// What a fence and an atomic hand over to another block, and what they do not. "want:" is a
// finding of that line, "note:" a note; "also" lines belong to a finding of another line.
__device__ int *counterOf(float *y) {
    return (int *)(y + 4096);
}

__device__ float sumOf(const float *parts, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += parts[i];
    return sum;
}

// Whoever sums up in one thread reads what the other block wrote: within a block, atomics order
// nothing here.

// The last block sums up what all threads of all blocks wrote; one thread counts.
template <bool BARRIER> __device__ void lastBlockSums(const float *x, float *y) {
    __shared__ bool last;
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
    __threadfence();
    if (BARRIER) __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(counterOf(y), 1) == (int)gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    y[512 + threadIdx.x] = y[threadIdx.x] + y[64 + threadIdx.x];
}
extern "C" __global__ void last_block(const float *x, float *y) { // want: race
    lastBlockSums<false>(x, y);
}
extern "C" __global__ void last_block_ok(const float *x, float *y) {
    lastBlockSums<true>(x, y);
}

// The same by a warp: its lanes meet before the first of them counts.
template <bool MEET> __device__ void lastWarpSums(const float *x, float *y) {
    if (threadIdx.x >= 32) return;
    y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x];
    if (MEET) __syncwarp();
    int before = 0;
    if (threadIdx.x == 0) {
        __threadfence();
        before = atomicAdd(counterOf(y), 1);
        __threadfence();
        if (before == (int)gridDim.x - 1) y[512] = sumOf(y + 32 - 32 * blockIdx.x, 32);
    }
}
extern "C" __global__ void last_warp(const float *x, float *y) { // want: race
    lastWarpSums<false>(x, y);
}
extern "C" __global__ void last_warp_ok(const float *x, float *y) {
    lastWarpSums<true>(x, y);
}

// A flag after __syncwarp: right if that warp alone has written.
template <int WRITERS> __device__ void flagOfWarp(const float *x, float *y) {
    volatile int *ready = counterOf(y);
    if (blockIdx.x == 0) {
        if (threadIdx.x < WRITERS) y[threadIdx.x] = x[threadIdx.x];
        __syncwarp();
        if (threadIdx.x == 0) {
            __threadfence();
            *ready = 1;
        }
    } else if (threadIdx.x == 0) {
        while (*ready == 0) {
        }
        __threadfence();
        y[512] = sumOf(y, WRITERS);
    }
}
extern "C" __global__ void flag_after_syncwarp(const float *x, float *y) { // want: race
    flagOfWarp<64>(x, y);
}
extern "C" __global__ void flag_after_syncwarp_ok(const float *x, float *y) {
    flagOfWarp<32>(x, y);
}

// What is written behind the counting is not handed over, whoever writes it.
extern "C" __global__ void counted_too_early(const float *x, float *y) { // want: race
    __shared__ bool last;
    __threadfence();
    if (threadIdx.x == 0) last = atomicAdd(counterOf(y), 1) == (int)gridDim.x - 1;
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
    if (last && threadIdx.x == 0) y[512] = sumOf(y + 64 - 64 * blockIdx.x, 64);
}

// Every thread counts for itself; or every warp, after it has met.
extern "C" __global__ void threads_count_ok(const float *x, float *y) {
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
    __threadfence();
    bool last = atomicAdd(counterOf(y), 1) == (int)(gridDim.x * blockDim.x) - 1;
    __threadfence();
    if (last) y[512] = sumOf(y + 64 - 64 * blockIdx.x, 64);
}
extern "C" __global__ void warps_count_ok(const float *x, float *y) {
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    if (threadIdx.x % 32) return;
    __threadfence();
    bool last = atomicAdd(counterOf(y), 1) == (int)(gridDim.x * blockDim.x) / 32 - 1;
    __threadfence();
    if (last) y[512] = sumOf(y + 64 - 64 * blockIdx.x, 64);
}

// Within a block the warps count in shared memory; the last of them counts for the block.
extern "C" __global__ void two_counters_ok(const float *x, float *y) {
    __shared__ int done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    if (threadIdx.x % 32) return;
    __threadfence();
    if (atomicAdd(&done, 1) != 1) return;
    __threadfence();
    bool last = atomicAdd(counterOf(y), 1) == (int)gridDim.x - 1;
    __threadfence();
    if (last) y[512] = sumOf(y + 64 - 64 * blockIdx.x, 64);
}

// A barrier of some threads orders them before the one that counts.
extern "C" __global__ void named_barrier_ok(const float *x, float *y) {
    __shared__ bool last;
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.sync 1, 64;" ::: "memory");
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(counterOf(y), 1) == (int)gridDim.x - 1;
        __threadfence();
        if (last) y[512] = sumOf(y, 128);
    }
}

// The blocks take a lock in turn, and each adds to what the previous holder left.
template <bool BARRIER> __device__ void underLock(const float *x, float *y) {
    if (threadIdx.x == 0) {
        while (atomicCAS(counterOf(y), 0, 1) != 0) {
        }
        __threadfence();
    }
    __syncthreads();
    y[threadIdx.x] += x[threadIdx.x];
    if (BARRIER) __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(counterOf(y), 0);
    }
}
extern "C" __global__ void lock(const float *x, float *y) { // want: race
    underLock<false>(x, y);
}
extern "C" __global__ void lock_ok(const float *x, float *y) {
    underLock<true>(x, y);
}

// Many barriers and many releases: the last rounds are as the first.
extern "C" __global__ void many_rounds_ok(const float *x, float *y) {
    __shared__ bool last;
    for (int i = 0; i < 4200; i++) {
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(counterOf(y) - 1 - blockIdx.x, 1);
        }
        __syncthreads();
    }
    y[blockIdx.x * 64 + threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(counterOf(y), 1) == (int)gridDim.x - 1;
        __threadfence();
        if (last) y[512] = sumOf(y, 128);
    }
}
