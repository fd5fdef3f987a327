// Barriers and warp-wide operations that not all who should take part in. Without BUG each kernel
// is its twin, which is right.

// A barrier in a branch that a part of the warp takes; all go on.
extern "C" __global__ void barrier_in_branch(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 16) s[t] = x[t];
#ifdef BUG
    if (t < 16) {
        __syncthreads(); // want: barrier not reached by all
    }
#else
    __syncthreads();
#endif
    y[t] = t < 16 ? s[15 - t] : 0.0f;
}

// Threads with nothing to do wait for nobody, and go on.
// They may return instead, before the barrier at which the others meet: who has returned counts as
// arrived.
extern "C" __global__ void late_return(const float *x, float *y, int n) {
    __shared__ float s[64];
    const int t = threadIdx.x;
    const bool works = t < n;
    if (works) s[t] = x[t];
    float value = 0;
#ifdef BUG
    if (works)
#endif
        __syncthreads(); // want: barrier not reached by all
    if (works) value = s[n - 1 - t];
    // Here those without work come before the others have met.
    y[t] = value;
    // All return.
}

// Some threads go round once more than others.
extern "C" __global__ void uneven_rounds(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
#ifdef BUG
    for (int i = t; i < n; i += 64) {
        s[t] = x[i];
#else
    for (int from = 0; from < n; from += 64) {
        s[t] = from + t < n ? x[from + t] : 0.f;
#endif
        __syncthreads(); // want: barrier not reached by all
        sum += s[0];
        __syncthreads();
    }
    y[t] = sum;
}

// The loop's barrier meets the one behind the loop.
extern "C" __global__ void out_of_step(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
#ifdef BUG
    for (int i = 0; i < 1 + t / 32; i++) __syncthreads();
#else
    for (int i = 0; i < 2; i++) __syncthreads();
#endif
    float v = s[63 - t];
    __syncthreads(); // want: divergent barrier
    y[t] = v;
}

// Each branch has its own barrier.
extern "C" __global__ void two_barriers(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
#ifdef BUG
    if (t % 2) {
        __syncthreads();
        y[t] = s[63 - t];
    } else {
        __syncthreads(); // want: divergent barrier
        y[t] = -s[63 - t];
    }
#else
    __syncthreads();
    y[t] = t % 2 ? s[63 - t] : -s[63 - t];
#endif
}

// A barrier that counts, behind a condition.
extern "C" __global__ void count_in_branch(const float *x, int *count) {
#ifdef BUG
    int t = threadIdx.x, positive = 0;
    if (x[t] > 0) {
        positive = __syncthreads_count(1); // want: barrier not reached by all
    }
    atomicMax(count, positive);
#else
    int positive = __syncthreads_count(x[threadIdx.x] > 0);
    if (threadIdx.x == 0) *count = positive;
#endif
}

// Half of the warp shuffles with all, the other half waits for the block.
extern "C" __global__ void shuffle_meets_barrier(const float *x, float *y) {
    int t = threadIdx.x;
#ifdef BUG
    float v = x[t];
    if (t % 32 < 16)
        v = __shfl_sync(0xffffffffu, v, 0);
    else
        __syncthreads(); // want: deadlock
#else
    float v = __shfl_sync(0xffffffffu, x[t], 0);
    if (t % 32 >= 16) v = x[t];
    __syncthreads();
#endif
    y[t] = v;
}

// The warp's barrier waits for lanes that wait for the block's.
extern "C" __global__ void syncwarp_meets_barrier(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
#ifdef BUG
    if (t % 32 == 0) __syncwarp();
#else
    __syncwarp();
#endif
    __syncthreads(); // want: deadlock
    y[t] = s[63 - t];
}

// The mask leaves out lanes that take part.
extern "C" __global__ void mask_without_self(const float *x, float *y) {
    int t = threadIdx.x;
#ifdef BUG
    y[t] = __shfl_sync(0x0000ffffu, x[t], 0); // want: wrong mask
#else
    y[t] = __shfl_sync(0xffffffffu, x[t], 0);
#endif
}

// A value from a lane that stayed away.
extern "C" __global__ void absent_lane(const float *x, float *y) {
    int t = threadIdx.x;
#ifdef BUG
    if (t % 32 < 16) y[t] = __shfl_down_sync(0x0000ffffu, x[t], 8); // want: lane outside the mask
#else
    if (t % 32 < 16) y[t] = __shfl_down_sync(0x0000ffffu, x[t], 8, 16);
#endif
}
