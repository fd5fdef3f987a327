// What atomics and flags allow, and what they do not. "want:" is a finding of that line,
// "note:" a note.
__device__ int *flagOf(float *y) {
    return (int *)(y + 4096);
}

// The guide's own loop, for a function that no atomic has.
extern "C" __global__ void compare_and_swap(const float *x, float *y) {
    int *address = (int *)y;
    int old = *address, assumed; // note: first read
    do {
        assumed = old;
        old = atomicCAS(
            address, assumed,
            __float_as_int(fmaxf(x[blockIdx.x * 64 + threadIdx.x], __int_as_float(assumed))));
    } while (assumed != old);
}

extern "C" __global__ void compare_and_swap_shared(const float *x, float *y) {
    __shared__ unsigned long long best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    unsigned long long old = best; // note: first read
    for (;;) {
        unsigned long long assumed = old;
        old = atomicCAS(&best, assumed, assumed + 1);
        if (old == assumed) break;
    }
    __syncthreads();
    y[threadIdx.x] = (float)best;
}

// The value is used, and nothing finds out whether it is current.
extern "C" __global__ void count_read_plainly(const float *x, float *y) {
    int *count = flagOf(y);
    atomicAdd(count, 1);
    y[blockIdx.x * 64 + threadIdx.x] = *count; // want: race
}

// The loop is right, and what is read behind it is not.
extern "C" __global__ void read_after_swap(const float *x, float *y) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int old = sum, assumed; // note: first read
    do {
        assumed = old;
        old = atomicCAS(&sum, assumed, assumed + 1);
    } while (assumed != old);
    y[threadIdx.x] = sum; // want: race
}

// A block tells the next that its data is there.
extern "C" __global__ void flag(const float *x, float *y) {
    volatile int *ready = flagOf(y);
    if (blockIdx.x == 0) {
        y[threadIdx.x] = x[threadIdx.x];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) *ready = 1;
    } else {
        if (threadIdx.x == 0) {
            while (*ready == 0) { // note: flag
            }
            __threadfence();
        }
        __syncthreads();
        y[64 + threadIdx.x] = y[63 - threadIdx.x];
    }
}

// Two flags are read at once, by strong accesses, and whoever waits for both reads them in turn
// with nothing else.
extern "C" __global__ void two_flags(const float *x, float *y) {
    int *ready = (int *)(y + 128);
    if (blockIdx.x == 0) {
        y[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        if (threadIdx.x < 2)
            asm volatile("st.release.gpu.global.s32 [%0], %1;"
                         :
                         : "l"(ready + threadIdx.x), "r"(1)
                         : "memory");
    } else {
        if (threadIdx.x == 0)
            for (int a = 0, b = 0; !a || !b;)
                asm volatile("ld.acquire.gpu.global.v2.s32 {%0, %1}, [%2];"
                             : "=r"(a), "=r"(b)
                             : "l"(ready)
                             : "memory");
        __syncthreads();
        y[64 + threadIdx.x] = y[63 - threadIdx.x];
    }
}

extern "C" __global__ void flag_without_first_fence(const float *x, float *y) {
    volatile int *ready = flagOf(y);
    if (blockIdx.x == 0) {
        y[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0) *ready = 1;
    } else {
        if (threadIdx.x == 0) {
            while (*ready == 0) { // want: race
            }
            __threadfence();
        }
        __syncthreads();
        y[64 + threadIdx.x] = y[63 - threadIdx.x]; // also
    }
}

extern "C" __global__ void flag_without_second_fence(const float *x, float *y) {
    volatile int *ready = flagOf(y);
    if (blockIdx.x == 0) {
        y[threadIdx.x] = x[threadIdx.x];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) *ready = 1;
    } else {
        if (threadIdx.x == 0) {
            while (*ready == 0) { // want: race
            }
        }
        __syncthreads();
        y[64 + threadIdx.x] = y[63 - threadIdx.x]; // also
    }
}

// The flag goes up before the data is there.
extern "C" __global__ void flag_too_early(const float *x, float *y) {
    volatile int *ready = flagOf(y);
    if (blockIdx.x == 0) {
        __threadfence();
        if (threadIdx.x == 0) *ready = 1;
        __syncthreads();
        y[threadIdx.x] = x[threadIdx.x];
    } else {
        if (threadIdx.x == 0) {
            while (*ready == 0) { // note: flag
            }
            __threadfence();
        }
        __syncthreads();
        y[64 + threadIdx.x] = y[63 - threadIdx.x]; // want: race
    }
}

// Within a block: one warp for another.
extern "C" __global__ void flag_of_a_warp(const float *x, float *y) {
    __shared__ float data[32];
    __shared__ volatile int ready;
    int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 32) {
        data[t] = x[t];
        __syncwarp();
        if (t == 0) {
            __threadfence_block();
            ready = 1;
        }
    } else {
        while (!ready) { // note: flag
        }
        __threadfence_block();
        y[t] = data[63 - t];
    }
}

extern "C" __global__ void flag_of_a_warp_unfenced(const float *x, float *y) {
    __shared__ float data[32];
    __shared__ volatile int ready;
    int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 32) {
        data[t] = x[t];
        __syncwarp();
        if (t == 0) ready = 1;
    } else {
        while (!ready) { // want: race
        }
        y[t] = data[63 - t]; // want: race
    }
}

// Volatile alone orders nothing.
extern "C" __global__ void volatile_sum(const float *x, float *y) {
    __shared__ volatile float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32]; // want: race
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    __syncthreads();
    y[t] = s[0];
}

// A barrier that is missing once, with many uses of what it is for: one finding.
extern "C" __global__ void one_barrier_many_lines(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    float a = s[63 - t]; // want: race
    float b = s[(t + 32) % 64];
    float c = s[(t + 40) % 64];
    float d = s[(t + 50) % 64];
    y[t] = a + b + c + d;
}

// Nothing has filled this array, for any of its uses: one finding.
extern "C" __global__ void one_array_unwritten(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (x[0] > 1e30f) s[t] = x[t];
    __syncthreads();
    float a = s[63 - t]; // want: uninitialised
    float b = s[(t + 32) % 64];
    y[t] = a + b;
}

// A lock: who has it reads and writes what others with the same lock have written.
__device__ void lock(int *at) {
    while (atomicCAS(at, 0, 1) != 0) __nanosleep(10);
    __threadfence();
}
__device__ void unlock(int *at) {
    __threadfence();
    atomicExch(at, 0);
}

extern "C" __global__ void locked(const float *x, float *y) {
    __shared__ int held;
    __shared__ float sum;
    if (threadIdx.x == 0) held = 0, sum = 0;
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        lock(&held);
        sum += x[threadIdx.x];
        unlock(&held);
    }
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

extern "C" __global__ void locked_in_device_memory(const float *x, float *y) {
    int *held = flagOf(y) - 2 + blockIdx.x;
    lock(held);
    y[blockIdx.x] += x[threadIdx.x];
    unlock(held);
}

// What is behind one fence goes with two atomics.
extern "C" __global__ void two_counters(const float *x, float *y) {
    __shared__ float data[64];
    __shared__ int counters[2];
    const int t = threadIdx.x;
    if (t < 2) counters[t] = 0;
    __syncthreads();
    if (t < 32) {
        data[t] = x[t];
        __threadfence_block();
        atomicAdd(&counters[0], 1);
        atomicAdd(&counters[1], 1);
    } else {
        while (atomicAdd(&counters[1], 0) < 32) __nanosleep(10);
        __threadfence_block();
        y[t] = data[63 - t];
    }
}

extern "C" __global__ void locked_without_first_fence(const float *x, float *y) {
    __shared__ int held;
    __shared__ float sum;
    if (threadIdx.x == 0) held = 0, sum = 0;
    __syncthreads();
    while (atomicCAS(&held, 0, 1) != 0) __nanosleep(10);
    sum += x[threadIdx.x]; // want: race
    unlock(&held);
}

extern "C" __global__ void locked_without_second_fence(const float *x, float *y) {
    __shared__ int held;
    __shared__ float sum;
    if (threadIdx.x == 0) held = 0, sum = 0;
    __syncthreads();
    lock(&held);
    sum += x[threadIdx.x]; // want: race
    atomicExch(&held, 0);
}

extern "C" __global__ void locked_by_two(const float *x, float *y) {
    __shared__ int held[2];
    __shared__ float sum;
    if (threadIdx.x == 0) held[0] = held[1] = 0, sum = 0;
    __syncthreads();
    lock(&held[threadIdx.x % 2]);
    sum += x[threadIdx.x]; // want: race
    unlock(&held[threadIdx.x % 2]);
}

extern "C" __global__ void written_behind_the_unlocking(const float *x, float *y) {
    __shared__ int held;
    __shared__ float sum;
    if (threadIdx.x == 0) held = 0, sum = 0;
    __syncthreads();
    lock(&held);
    unlock(&held);
    sum += x[threadIdx.x]; // want: race
}
