// Barriers and warp-wide operations that not all who should take part in, each
// followed by its twin that is right.

// A barrier in a branch that half the warp takes.
extern "C" __global__ void barrier_in_branch(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 16) {
        s[t] = x[t];
        __syncthreads(); // want: barrier not reached by all
        y[t] = s[15 - t];
    }
}
extern "C" __global__ void barrier_in_branch_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 16) s[t] = x[t];
    __syncthreads();
    if (t < 16) y[t] = s[15 - t];
}

// Threads with nothing to do go home too early.
extern "C" __global__ void early_return(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = x[t];
    __syncthreads(); // want: barrier not reached by all
    y[t] = s[n - 1 - t];
}
extern "C" __global__ void early_return_ok(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < n) s[t] = x[t];
    __syncthreads();
    if (t >= n) return;
    y[t] = s[n - 1 - t];
}

// Some threads go round once more than others.
extern "C" __global__ void uneven_rounds(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < n; i += 64) {
        s[t] = x[i];
        __syncthreads(); // want: barrier not reached by all
        sum += s[0];
        __syncthreads();
    }
    y[t] = sum;
}
extern "C" __global__ void uneven_rounds_ok(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int from = 0; from < n; from += 64) {
        s[t] = from + t < n ? x[from + t] : 0.f;
        __syncthreads();
        sum += s[0];
        __syncthreads();
    }
    y[t] = sum;
}

// The loop's barrier meets the one behind the loop.
extern "C" __global__ void out_of_step(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x, rounds = 1 + t / 32;
    s[t] = x[t];
    for (int i = 0; i < rounds; i++) __syncthreads();
    float v = s[63 - t];
    __syncthreads(); // want: divergent barrier
    y[t] = v;
}
extern "C" __global__ void out_of_step_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int i = 0; i < 2; i++) __syncthreads();
    float v = s[63 - t];
    __syncthreads();
    y[t] = v;
}

// Each branch has its own barrier.
extern "C" __global__ void two_barriers(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t % 2) {
        __syncthreads();
        y[t] = s[63 - t];
    } else {
        __syncthreads(); // want: divergent barrier
        y[t] = -s[63 - t];
    }
}
extern "C" __global__ void two_barriers_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = t % 2 ? s[63 - t] : -s[63 - t];
}

// A barrier that counts, behind a condition.
extern "C" __global__ void count_in_branch(const float *x, int *count) {
    int t = threadIdx.x;
    if (x[t] > 0) {
        int positive = __syncthreads_count(1); // want: barrier not reached by all
        *count = positive;
    }
}
extern "C" __global__ void count_in_branch_ok(const float *x, int *count) {
    int positive = __syncthreads_count(x[threadIdx.x] > 0);
    if (threadIdx.x == 0) *count = positive;
}

// Half of the warp shuffles with all, the other half waits for the block.
extern "C" __global__ void shuffle_meets_barrier(const float *x, float *y) {
    int t = threadIdx.x;
    float v = x[t];
    if (t % 32 < 16)
        v = __shfl_sync(0xffffffffu, v, 0);
    else
        __syncthreads(); // want: deadlock
    y[t] = v;
}
extern "C" __global__ void shuffle_meets_barrier_ok(const float *x, float *y) {
    int t = threadIdx.x;
    float v = __shfl_sync(0xffffffffu, x[t], 0);
    if (t % 32 >= 16) v = x[t];
    __syncthreads();
    y[t] = v;
}

// The warp's barrier waits for lanes that wait for the block's.
extern "C" __global__ void syncwarp_meets_barrier(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t % 32 == 0) __syncwarp();
    __syncthreads(); // want: deadlock
    y[t] = s[63 - t];
}
extern "C" __global__ void syncwarp_meets_barrier_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp();
    __syncthreads();
    y[t] = s[63 - t];
}

// The mask leaves out lanes that take part.
extern "C" __global__ void mask_without_self(const float *x, float *y) {
    int t = threadIdx.x;
    y[t] = __shfl_sync(0x0000ffffu, x[t], 0); // want: wrong mask
}
extern "C" __global__ void mask_without_self_ok(const float *x, float *y) {
    int t = threadIdx.x;
    y[t] = __shfl_sync(0xffffffffu, x[t], 0);
}

// A value from a lane that stayed away.
extern "C" __global__ void absent_lane(const float *x, float *y) {
    int t = threadIdx.x;
    if (t % 32 < 16) y[t] = __shfl_down_sync(0x0000ffffu, x[t], 8); // want: lane outside the mask
}
extern "C" __global__ void absent_lane_ok(const float *x, float *y) {
    int t = threadIdx.x;
    if (t % 32 < 16) y[t] = __shfl_down_sync(0x0000ffffu, x[t], 8, 16);
}
