// Kernels that stop in the middle, or never. Without BUG each is its twin, which is right.

// Integers have no infinity; n is 0.
extern "C" __global__ void divides_by_zero(const int *x, int *y, int n) {
#ifdef BUG
    y[threadIdx.x] = x[threadIdx.x] / n; // want: division by zero
#else
    y[threadIdx.x] = n ? x[threadIdx.x] / n : 0;
#endif
}

// No heads at all, and so no head number; n is 0.
extern "C" __global__ void remainder_of_zero(const int *x, int *y, int n) {
#ifdef BUG
    y[threadIdx.x] = x[threadIdx.x] % n; // want: division by zero
#else
    y[threadIdx.x] = x[threadIdx.x] % max(n, 1);
#endif
}

// The step is zero: n is 0.
extern "C" __global__ void step_of_zero(const float *x, float *y, int n) {
#ifdef BUG
    for (int i = 0; i < 64; i += n) y[threadIdx.x] = x[i]; // want: steps
#else
    for (int i = 0; i < 64; i += n + 1) y[threadIdx.x] = x[i];
#endif
}

// A flag that nobody sets.
extern "C" __global__ void waits_for_nobody(int *flag) {
#ifndef BUG
    if (threadIdx.x == 63) atomicExch(flag, 1);
#endif
    while (atomicAdd(flag, 0) == 0) { // want: steps
    }
}

// Round after round, all together.
extern "C" __global__ void barriers_for_ever(const int *x, int *y) {
    int rounds = 0;
#ifdef BUG
    while (__syncthreads_or(x[threadIdx.x] < 1000)) rounds++; // want: steps
#else
    while (__syncthreads_or(x[threadIdx.x] + rounds < 100)) rounds++;
#endif
    y[threadIdx.x] = rounds;
}

// A loop that touches no memory; n is 0.
extern "C" __global__ void spins(float *y, int n) {
    unsigned int i = 1;
    while (i != 0) {
        asm volatile("" : "+r"(i) : "r"(n)); // want: steps
#ifndef BUG
        i--;
#endif
    }
    y[threadIdx.x] = i;
}

// An array that is too large for a thread.
extern "C" __global__ void large_local_array(const float *x, float *y,
                                             int n) { // want: stack overflow
#ifdef BUG
    float all[150000];
    for (int i = 0; i < 150000; i++) all[i] = i * x[0];
#else
    float all[1500];
    for (int i = 0; i < 1500; i++) all[i] = i * x[0];
#endif
    y[threadIdx.x] = all[n];
}

__device__ __noinline__ float depth(const float *x,
                                    int n) { // want(recursion_without_end): stack overflow
    float held[64];
    for (int i = 0; i < 64; i++) held[i] = x[i] + n;
    if (n == 0) return held[0];
    return held[n & 63] + depth(x, n - 1);
}

// It goes down from -1, and never meets 0.
extern "C" __global__ void recursion_without_end(const float *x, float *y) {
#ifdef BUG
    y[threadIdx.x] = depth(x, -1);
#else
    y[threadIdx.x] = depth(x, 3);
#endif
}

// The kernel stops itself.
extern "C" __global__ void traps(const float *x, float *y) {
#ifdef BUG
    if (x[threadIdx.x] < 1000) __trap(); // want: trap
#else
    if (x[threadIdx.x] > 1000) __trap();
#endif
    y[threadIdx.x] = 1;
}

// What is asserted does not hold.
extern "C" __global__ void asserts(const float *x, float *y, int n) {
#ifdef BUG
    assert(n > 0); // want: trap
#else
    assert(n == 0);
#endif
    y[threadIdx.x] = x[threadIdx.x];
}
