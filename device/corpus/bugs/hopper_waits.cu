// hopper_waits.cu - Bugs in waiting for what the copy engine brings: phases, bytes, arrivals.
#include "hopper_bugs.cuh"

// --- Data before its barrier's phase

extern "C" __global__ void reads_in_time(const __grid_constant__ CUtensorMap map, const half *x,
                                         float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void reads_early(const __grid_constant__ CUtensorMap map, const half *x,
                                       float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    y[threadIdx.x] = __half2float(tile[threadIdx.x]); // want: not waited for
    WAIT(&full, 0);
}
extern "C" __global__ void only_one_waits(const __grid_constant__ CUtensorMap map, const half *x,
                                          float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    if (threadIdx.x == 0) WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]); // want: race
}
extern "C" __global__ void one_waits_without_its_warp(const __grid_constant__ CUtensorMap map,
                                                      const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
    if (threadIdx.x % 32 == 0) WAIT(&full, 0);
#ifndef BUG
    __syncwarp();
#endif
    y[threadIdx.x] = __half2float(tile[threadIdx.x]); // want: race
}
extern "C" __global__ void multiplies_early(const __grid_constant__ CUtensorMap map, const half *x,
                                            float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    FILLING(tile, full)
#ifndef BUG
    WAIT(&full, 0);
#endif
    float d[4] = {0, 0, 0, 0};
    FENCE;
    MULTIPLY(d, described(tile), described(tile)); // want: not waited for
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
#ifdef BUG
    WAIT(&full, 0);
#endif
}
extern "C" __global__ void never_waited_for(const __grid_constant__ CUtensorMap map, const half *x,
                                            float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    READY(full)
    if (threadIdx.x) return;
    ANNOUNCE(&full, TILE);
    FETCH(tile, &map, 0, &full); // want: not waited for
#ifndef BUG
    WAIT(&full, 0);
#endif
}

// --- Phases

extern "C" __global__ void keeps_its_phase(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    READY(full)
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x == 0) {
            ANNOUNCE(&full, TILE);
            FETCH(tile, &map, 8 * i, &full);
        }
#ifdef BUG
        WAIT(&full, 0);
#else
        WAIT(&full, i);
#endif
        y[256 * i + threadIdx.x] = __half2float(tile[threadIdx.x]); // want: stale phase
        __syncthreads();
    }
#ifdef BUG
    WAIT(&full, 1);
#endif
}
extern "C" __global__ void waits_for_ever(const __grid_constant__ CUtensorMap map, const half *x,
                                          float *y) {
    __shared__ uint64_t empty;
    READY(empty)
#ifdef BUG
    if (threadIdx.x == 0) WAIT(&empty, 0); // want: deadlock
#else
    if (threadIdx.x == 0) WAIT(&empty, 1);
#endif
    y[threadIdx.x] = 1;
}

// --- Bytes and arrivals

extern "C" __global__ void announces_too_much(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    READY(full)
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE + 16);
        FETCH(tile, &map, 0, &full);
    }
    WAIT(&full, 0); // want: transaction bytes
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void announces_too_little(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    READY(full)
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE / 2); // want: transaction bytes
        FETCH(tile, &map, 0, &full);
    }
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}
extern "C" __global__ void announces_one_of_two(const __grid_constant__ CUtensorMap map,
                                                const half *x, float *y) {
    __shared__ __align__(1024) Tile tile[2];
    __shared__ uint64_t full;
    READY(full)
    if (threadIdx.x == 0) {
#ifdef BUG
        ANNOUNCE(&full, TILE); // want: transaction bytes
#else
        ANNOUNCE(&full, 2 * TILE);
#endif
        FETCH(tile[0], &map, 0, &full);
        FETCH(tile[1], &map, 32, &full); // half of it is outside, and counts
    }
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[0][threadIdx.x]);
#ifndef BUG
    y[256 + threadIdx.x] = __half2float(tile[1][4096 - 256 + threadIdx.x]);
#endif
}
extern "C" __global__ void too_many_arrive(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    __shared__ uint64_t full;
    if (threadIdx.x == 0) INIT(&full, 2);
    __syncthreads();
#ifdef BUG
    if (threadIdx.x == 0) ARRIVE_TIMES(&full, 3); // want: too many arrivals
#else
    if (threadIdx.x == 0) ARRIVE_TIMES(&full, 2);
#endif
    y[threadIdx.x] = 1;
}
extern "C" __global__ void initialised_for_all(const __grid_constant__ CUtensorMap map,
                                               const half *x, float *y) {
    __shared__ uint64_t full;
    if (threadIdx.x == 0) INIT(&full, 256);
    __syncthreads();
    ARRIVE(&full);
    WAIT(&full, 0);
    y[threadIdx.x] = 1;
}
extern "C" __global__ void not_initialised(const __grid_constant__ CUtensorMap map, const half *x,
                                           float *y) {
    __shared__ uint64_t full;
    ARRIVE(&full); // want: no mbarrier
    y[threadIdx.x] = 1;
}
extern "C" __global__ void initialised_unseen(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ uint64_t full;
    if (threadIdx.x == 0) INIT(&full, 256);
    ARRIVE(&full); // want: race
    WAIT(&full, 0);
    y[threadIdx.x] = 1;
}

// --- Many of them

// More mbarriers than the simulator has clocks for: of what they bring it finds no race, rather
// than one that is none.
extern "C" __global__ void waits_for_a_hundred(const __grid_constant__ CUtensorMap map,
                                               const half *x, float *y) {
    constexpr int MANY = 100;
    __shared__ __align__(16) half pieces[MANY][8];
    __shared__ uint64_t full[MANY];
    if (threadIdx.x < MANY) INIT(&full[threadIdx.x], 1);
    FENCE_INIT;
    __syncthreads();
    if (threadIdx.x == 255)
        for (int i = 0; i < MANY; i++) {
            ANNOUNCE(&full[i], 16);
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                         " [%0], [%1], 16, [%2];" ::"r"(AT(pieces[i])),
                         "l"(x + 8 * i), "r"(AT(&full[i]))
                         : "memory");
        }
    if (threadIdx.x >= MANY) return;
    WAIT(&full[threadIdx.x], 0);
    for (int j = 0; j < 8; j++) y[8 * threadIdx.x + j] = __half2float(pieces[threadIdx.x][j]);
}
