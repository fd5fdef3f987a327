// hopper_buffers.cu - Bugs in using a buffer again: while wgmma or the copy engine still needs it.
#include "hopper_bugs.cuh"

extern "C" __global__ void refills_while_multiplying(const __grid_constant__ CUtensorMap map,
                                                     const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    WAIT(&full, 0);
    float d[4] = {0, 0, 0, 0};
    FENCE;
    MULTIPLY(d, described(tile), described(tile)); // want: race
    COMMIT;
#ifndef BUG
    FINISH;
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE);
        FETCH(tile, &map, 8, &full);
    }
#ifdef BUG
    FINISH;
#endif
    WAIT(&full, 1);
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void writes_while_multiplying(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    WAIT(&full, 0);
    float d[4] = {0, 0, 0, 0};
    FENCE;
    MULTIPLY(d, described(tile), described(tile)); // want: race
    COMMIT;
#ifndef BUG
    FINISH;
    __syncthreads();
#endif
    tile[threadIdx.x] = 0;
#ifdef BUG
    FINISH;
#endif
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
// The second warpgroup's first thread refills when so many of the first warpgroup have arrived.
#define RING(arrivals, before, after, refill)                                                      \
    __shared__ __align__(1024) Tile tile;                                                          \
    __shared__ uint64_t full, empty;                                                               \
    if (threadIdx.x == 0) {                                                                        \
        INIT(&full, 1);                                                                            \
        INIT(&empty, arrivals);                                                                    \
        FENCE_INIT;                                                                                \
    }                                                                                              \
    __syncthreads();                                                                               \
    if (threadIdx.x >= 128) {                                                                      \
        if (threadIdx.x > 128) return;                                                             \
        for (int i = 0; i < 3; i++) {                                                              \
            WAIT(&empty, refill);                                                                  \
            ANNOUNCE(&full, TILE);                                                                 \
            FETCH(tile, &map, 8 * i, &full);                                                       \
        }                                                                                          \
        return;                                                                                    \
    }                                                                                              \
    float d[4] = {0, 0, 0, 0};                                                                     \
    for (int i = 0; i < 3; i++) {                                                                  \
        WAIT(&full, i & 1);                                                                        \
        FENCE;                                                                                     \
        MULTIPLY(d, described(tile), described(tile));                                             \
        COMMIT;                                                                                    \
        before;                                                                                    \
        FINISH;                                                                                    \
        after;                                                                                     \
    }                                                                                              \
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
extern "C" __global__ void arrives_when_done(const __grid_constant__ CUtensorMap map, const half *x,
                                             float *y) {
    RING(4, , if (threadIdx.x % 32 == 0) ARRIVE(&empty), (i & 1) ^ 1)
}
extern "C" __global__ void arrives_too_soon(const __grid_constant__ CUtensorMap map, const half *x,
                                            float *y) {
    RING(4, if (threadIdx.x % 32 == 0) ARRIVE(&empty), , (i & 1) ^ 1) // want: race
}
// One thread for all: the product it has waited for is the whole warpgroup's.
extern "C" __global__ void one_arrives_when_done(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    RING(1, , if (threadIdx.x == 64) ARRIVE(&empty), (i & 1) ^ 1)
}
extern "C" __global__ void one_arrives_too_soon(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    RING(1, if (threadIdx.x == 64) ARRIVE(&empty), , (i & 1) ^ 1) // want: race
}
extern "C" __global__ void refills_by_an_old_phase(const __grid_constant__ CUtensorMap map,
                                                   const half *x, float *y) {
    RING(4, , if (threadIdx.x % 32 == 0) ARRIVE(&empty), 1) // want: deadlock
}
// A load waits in line, an arrival does not: what is used only behind it, the copy may overtake.
extern "C" __global__ void arrives_before_it_uses(const __grid_constant__ CUtensorMap map,
                                                  const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full, empty;
    if (threadIdx.x == 0) {
        INIT(&full, 1);
        INIT(&empty, 128);
        FENCE_INIT;
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        if (threadIdx.x > 128) return;
        for (int i = 0; i < 3; i++) {
            WAIT(&empty, (i & 1) ^ 1);
            ANNOUNCE(&full, TILE);
            FETCH(tile, &map, 8 * i, &full); // want: race
        }
        return;
    }
    const unsigned short *words = (const unsigned short *)tile;
    unsigned sum = 0;
    for (int i = 0; i < 3; i++) {
        WAIT(&full, i & 1);
        unsigned word = words[threadIdx.x];
#ifdef BUG
        ARRIVE(&empty);
        sum += word * (i + 1);
#else
        sum += word * (i + 1);
        ARRIVE(&empty);
#endif
    }
    y[threadIdx.x] = sum;
}
extern "C" __global__ void one_copy_at_a_time(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    WAIT(&full, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE);
        FETCH(tile, &map, 8, &full);
    }
    WAIT(&full, 1);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void two_copies_at_once(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 8192;" ::"r"(AT(&full)));
        FETCH(tile, &map, 8, &full); // want: two copies
    }
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void changes_what_it_sends(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024); // want: changed on its way
    SEND_COMMIT;
#ifndef BUG
    SEND_WAIT;
#endif
    row[0] = 7;
#ifdef BUG
    SEND_WAIT;
#endif
}
