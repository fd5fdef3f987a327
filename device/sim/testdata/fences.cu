// Who writes tells who reads by a flag; a template's arguments say how. fences_test.go walks them.
#include <cuda/atomic>

enum When { NEVER = 0, EARLY = 1, LATE = 2, TWICE = 3 };
enum Who { ALL, ONE };
enum Tells { ADDS, REDUCES, STORES, RAISES, REDUCES_RELEASING, STORES_RELEASING, REFERS_RELEASING };
enum Waits { ACQUIRES, LOOKS, LOADS, REFERS, COUNTS };

template <bool BETWEEN> __device__ void fence() {
    if (BETWEEN)
        __threadfence();
    else
        __threadfence_block();
}

template <int TELLS> __device__ void tell(int *flag) {
    if (TELLS == ADDS) atomicAdd(flag, 1);
    if (TELLS == REDUCES)
        asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(flag) : "memory");
    if (TELLS == STORES) asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    if (TELLS == RAISES) *(volatile int *)flag = 1;
    if (TELLS == REDUCES_RELEASING)
        asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(flag) : "memory");
    if (TELLS == STORES_RELEASING)
        asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
    if (TELLS == REFERS_RELEASING)
        cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1,
                                                                      cuda::memory_order_release);
}

template <int WAITS, bool BETWEEN> __device__ void wait(int *flag) {
    int seen = 0;
    do {
        if (WAITS == ACQUIRES)
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        if (WAITS == LOOKS) seen = *(volatile int *)flag;
        if (WAITS == LOADS)
            asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        if (WAITS == REFERS)
            seen = cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).load(
                cuda::memory_order_acquire);
        if (WAITS == COUNTS) seen = atomicAdd(flag, 0);
    } while (!seen);
    if (WAITS != ACQUIRES && WAITS != REFERS) fence<BETWEEN>();
}

// From one block to the next.
template <int WHEN, int WHO, int TELLS, int WAITS>
__global__ void blocks(int *data, int *flag, int *out) {
    int t = threadIdx.x;
    bool fences = WHO == ALL || t == 0;
    if (blockIdx.x == 0) {
        if ((WHEN & EARLY) && fences) fence<true>();
        __syncthreads();
        data[t] = t + 1;
        if ((WHEN & LATE) && WHO == ALL) fence<true>();
        __syncthreads();
        if ((WHEN & LATE) && WHO == ONE && fences) fence<true>();
        if (t == 0) tell<TELLS>(flag);
    } else {
        if (t == 0) wait<WAITS, true>(flag);
        __syncthreads();
        out[t] = data[t]; // between blocks
    }
}

// From one warp to the next.
template <int WHEN, int WHO, int TELLS, int WAITS>
__global__ void warps(int *data, int *flag, int *out) {
    int t = threadIdx.x;
    bool fences = WHO == ALL || t == 0;
    if (blockIdx.x != 0) return;
    if (t < 32) {
        if ((WHEN & EARLY) && fences) fence<false>();
        __syncwarp();
        data[t] = t + 1;
        if ((WHEN & LATE) && WHO == ALL) fence<false>();
        __syncwarp();
        if ((WHEN & LATE) && WHO == ONE && fences) fence<false>();
        if (t == 0) tell<TELLS>(flag);
    } else {
        wait<WAITS, false>(flag);
        out[t] = data[t - 32]; // between warps
    }
}
