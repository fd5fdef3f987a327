// groups.cu - Bugs in waiting for groups of cp.async (asynchronous.cu has more). Without BUG each
// kernel is its twin. A block has 64 threads; x and y hold 128 and 64 floats.

// Macros, so that a finding's line is that of the kernel.
#define FETCH(to, from)                                                                            \
    asm volatile(                                                                                  \
        "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)),  \
        "l"(from)                                                                                  \
        : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define ALL_BUT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

// Two groups are on their way, and the wait is for the older one.
extern "C" __global__ void newer_group_unwaited(const float *x, float *y) {
    __shared__ float s[128];
    int t = threadIdx.x;
    FETCH(s + t, x + t);
    COMMIT;
    FETCH(s + 64 + t, x + 64 + t);
    COMMIT;
#ifdef BUG
    ALL_BUT(1);
#else
    ALL_BUT(0);
#endif
    y[t] = s[t] + s[64 + t]; // want: not waited for
#ifdef BUG
    ALL_BUT(0);
#endif
}

// wait_group waits for groups, and this copy is in none.
extern "C" __global__ void copy_in_no_group(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    FETCH(s + t, x + t);
#ifndef BUG
    COMMIT;
#endif
    ALL_BUT(0);
    y[t] = s[t]; // want: not waited for
}

// The second copy may come before a neighbour has read the first.
extern "C" __global__ void copy_over_unread(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 2; i++) {
        FETCH(s + t, x + i * 64 + t);
        COMMIT;
        ALL_BUT(0);
        __syncthreads();
        sum += s[63 - t]; // want: race
#ifndef BUG
        __syncthreads();
#endif
    }
    y[t] = sum;
}
