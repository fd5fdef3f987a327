// hopper_products.cu - Bugs around products: sums, descriptors, the threads that meet.
#include "hopper_bugs.cuh"

// --- Sums

#define PRODUCT                                                                                    \
    __shared__ __align__(1024) Tile tile;                                                          \
    __shared__ uint64_t full;                                                                      \
    FILLING(tile, full)                                                                            \
    WAIT(&full, 0);                                                                                \
    float d[4] = {0, 0, 0, 0};
extern "C" __global__ void uses_sums_in_time(const __grid_constant__ CUtensorMap map, const half *x,
                                             float *y) {
    PRODUCT
    FENCE;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void uses_sums_early(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    PRODUCT
    FENCE;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    y[threadIdx.x] = d[1]; // want: sums on their way
    FINISH;
}
extern "C" __global__ void changes_sums_early(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    PRODUCT
    FENCE;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
#ifndef BUG
    FINISH;
#endif
    d[1] = 3; // want: sums on their way
#ifdef BUG
    FINISH;
#endif
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void waits_for_the_first_only(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    PRODUCT
    float e[4] = {0, 0, 0, 0};
    FENCE;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    MULTIPLY(e, described(tile), described(tile));
    COMMIT;
#ifdef BUG
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#else
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
    y[threadIdx.x] = e[1]; // want: sums on their way
    FINISH;
}
extern "C" __global__ void commits_nothing(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    PRODUCT
    FENCE;
    MULTIPLY(d, described(tile), described(tile));
    FINISH;
    y[threadIdx.x] = d[1]; // want: not committed
}
extern "C" __global__ void fences_nothing(const __grid_constant__ CUtensorMap map, const half *x,
                                          float *y) {
    PRODUCT
    MULTIPLY(d, described(tile), described(tile)); // want: no wgmma.fence
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void another_swizzle(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    PRODUCT
    FENCE;
    MULTIPLY(d, described(tile, 2), described(tile, 2)); // want: wrong swizzle
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void no_swizzle(const __grid_constant__ CUtensorMap map, const half *x,
                                      float *y) {
    PRODUCT
    FENCE;
    MULTIPLY(d, described(tile, 0), described(tile, 0)); // want: wrong swizzle
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void another_swizzle_of_b(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    PRODUCT
    FENCE;
    MULTIPLY(d, described(tile), described(tile, 3)); // want: wrong swizzle
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void different_descriptors(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    PRODUCT
    FENCE;
    MULTIPLY(d, described(tile + threadIdx.x / 64 * 1024), described(tile)); // want: bad descriptor
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void beyond_shared_memory(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    PRODUCT
    FENCE;
    MULTIPLY(d, described(tile) | 0x3fff, described(tile)); // want: out of bounds
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}
extern "C" __global__ void a_warp_is_missing(const __grid_constant__ CUtensorMap map, const half *x,
                                             float *y) {
    PRODUCT
    FENCE;
    if (threadIdx.x % 128 < 96) MULTIPLY(d, described(tile), described(tile)); // want: deadlock
    COMMIT;
    FINISH;
    y[threadIdx.x] = d[1];
}

// --- Named barriers, registers

extern "C" __global__ void arrives_before_it_writes(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ float row[128];
    if (threadIdx.x < 128) {
#ifndef BUG
        row[threadIdx.x] = threadIdx.x;
#endif
        NAMED_ARRIVE(1, 256);
#ifdef BUG
        row[threadIdx.x] = threadIdx.x;
#endif
        return;
    }
    NAMED(1, 256);
    y[threadIdx.x] = row[255 - threadIdx.x]; // want: race
}
extern "C" __global__ void all_of_a_block_wait(const __grid_constant__ CUtensorMap map,
                                               const half *x, float *y) {
    NAMED(1, 256);
    y[threadIdx.x] = 1;
}
extern "C" __global__ void half_a_block_waits(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    if (threadIdx.x < 128) NAMED(1, 256); // want: deadlock
    y[threadIdx.x] = 1;
}
extern "C" __global__ void each_half_by_itself(const __grid_constant__ CUtensorMap map,
                                               const half *x, float *y) {
    __shared__ float row[256];
    row[threadIdx.x] = threadIdx.x;
    NAMED(1 + threadIdx.x / 128, 128);
    y[threadIdx.x] = row[threadIdx.x ^ 127];
}
extern "C" __global__ void wrong_half(const __grid_constant__ CUtensorMap map, const half *x,
                                      float *y) {
    __shared__ float row[256];
    row[threadIdx.x] = threadIdx.x;
#ifdef BUG
    NAMED(1 + threadIdx.x / 128, 128);
#else
    NAMED(1, 256);
#endif
    y[threadIdx.x] = row[threadIdx.x ^ 128]; // want: race
}
extern "C" __global__ void two_counts(const __grid_constant__ CUtensorMap map, const half *x,
                                      float *y) {
    if (threadIdx.x < 128)
        NAMED(1, 256);
    else
        NAMED(1, 128); // want: bad barrier
    y[threadIdx.x] = 1;
}
extern "C" __global__ void gives_registers_away(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    if (threadIdx.x < 128)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    y[threadIdx.x] = 1;
}
