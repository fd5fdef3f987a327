// hopper_handing.cu - Bugs in handing memory over: without a fence, an end or a right address.
#include "hopper_bugs.cuh"

// --- Handed over without a fence

extern "C" __global__ void multiplies_what_it_wrote(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    for (int i = threadIdx.x; i < 4096; i += 256) tile[i] = x[i];
    FENCE_ASYNC;
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    FENCE;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void fences_after_the_barrier(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    for (int i = threadIdx.x; i < 4096; i += 256) tile[i] = x[i];
    __syncthreads();
    FENCE_ASYNC;
    float d[4] = {0, 0, 0, 0};
    FENCE;
    MULTIPLY(d, described(tile), described(tile));
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void multiplies_without_fence(const __grid_constant__ CUtensorMap map,
                                                    const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    for (int i = threadIdx.x; i < 4096; i += 256) tile[i] = x[i];
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    FENCE;
    MULTIPLY(d, described(tile), described(tile)); // want: no proxy fence
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void fences_before_it_writes(const __grid_constant__ CUtensorMap map,
                                                   const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    FENCE_ASYNC;
    for (int i = threadIdx.x; i < 4096; i += 256) tile[i] = x[i];
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    FENCE;
    MULTIPLY(d, described(tile), described(tile)); // want: no proxy fence
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void one_fences_for_all(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    for (int i = threadIdx.x; i < 4096; i += 256) tile[i] = x[i];
    if (threadIdx.x == 0) FENCE_ASYNC;
    __syncthreads();
    float d[4] = {0, 0, 0, 0};
    FENCE;
    MULTIPLY(d, described(tile), described(tile)); // want: no proxy fence
    COMMIT;
    FINISH;
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" __global__ void sends_what_it_wrote(const __grid_constant__ CUtensorMap map,
                                               const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024);
    SEND_COMMIT;
    SEND_WAIT;
}
extern "C" __global__ void sends_without_fence(const __grid_constant__ CUtensorMap map,
                                               const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024); // want: no proxy fence
    SEND_COMMIT;
    SEND_WAIT;
}
extern "C" __global__ void sends_without_barrier(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    if (threadIdx.x != 255) return;
    SEND(y, row, 1024); // want: race
    SEND_COMMIT;
    SEND_WAIT;
}
extern "C" __global__ void barrier_without_fence(const __grid_constant__ CUtensorMap map,
                                                 const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        INIT(&full, 1);
#ifndef BUG
        FENCE_INIT;
#endif
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE);
        FETCH(tile, &map, 0, &full); // want: no proxy fence
    }
    WAIT(&full, 0);
    y[threadIdx.x] = __half2float(tile[threadIdx.x]);
}

// --- Sent without an end

extern "C" __global__ void sends_and_leaves(const __grid_constant__ CUtensorMap map, const half *x,
                                            float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024); // want: not waited for
    SEND_COMMIT;
}
extern "C" __global__ void sends_in_no_group(const __grid_constant__ CUtensorMap map, const half *x,
                                             float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
    SEND(y, row, 1024); // want: not committed
    SEND_WAIT;
}
extern "C" __global__ void sends_past_the_end(const __grid_constant__ CUtensorMap map,
                                              const half *x, float *y) {
    __shared__ __align__(128) float row[256];
    row[threadIdx.x] = threadIdx.x;
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
#ifdef BUG
    SEND(y + 8192 - 128, row, 1024); // want: out of bounds
#else
    SEND(y + 8192 - 256, row, 1024);
#endif
    SEND_COMMIT;
    SEND_WAIT;
}

// --- Boxes that begin where the copy engine takes none

extern "C" __global__ void fetches_from_within_a_chunk(const __grid_constant__ CUtensorMap map,
                                                       const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    __shared__ uint64_t full;
    READY(full);
    if (threadIdx.x == 0) {
        ANNOUNCE(&full, TILE);
#ifdef BUG
        FETCH_AT(tile, &map, 3, 0, &full); // want: bad bulk copy
#else
        FETCH_AT(tile, &map, 8, 0, &full);
#endif
    }
    WAIT(&full, 0);
    y[threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void sends_before_the_first_row(const __grid_constant__ CUtensorMap map,
                                                      const half *x, float *y) {
    __shared__ __align__(1024) Tile tile;
    for (int i = threadIdx.x; i < 4096; i += 256) tile[i] = x[i];
    FENCE_ASYNC;
    __syncthreads();
    if (threadIdx.x) return;
#ifdef BUG
    SEND_BOX(&map, -8, tile); // want: bad bulk copy
#else
    SEND_BOX(&map, 8, tile);
#endif
    SEND_COMMIT;
    SEND_WAIT;
}
