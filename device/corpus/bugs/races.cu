// Races, each followed by its twin that is right. A line that must be reported
// carries the kind of finding behind "want". Blocks have 64 threads where
// bugs.go does not say otherwise.

// Read after write: nobody waits until the tile is full.
extern "C" __global__ void read_too_early(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    y[t] = tile[63 - t]; // want: race
}
extern "C" __global__ void read_too_early_ok(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    y[t] = tile[63 - t];
}

// Write after read: the tile is filled again while others still read it.
extern "C" __global__ void refill_too_early(const float *x, float *y, int tiles) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < tiles; i++) {
        tile[t] = x[i * 64 + t];
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += tile[k]; // want: race
    }
    y[t] = sum;
}
extern "C" __global__ void refill_too_early_ok(const float *x, float *y, int tiles) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < tiles; i++) {
        tile[t] = x[i * 64 + t];
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += tile[k];
        __syncthreads();
    }
    y[t] = sum;
}

// Write after write: two threads, one place, two values.
extern "C" __global__ void two_writers(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t % 32] = x[t]; // want: race
    __syncthreads();
    y[t] = s[t % 32];
}
extern "C" __global__ void two_writers_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[t % 32];
}

// Two buffers, and the wrong one of them: the one that is being filled.
extern "C" __global__ void wrong_buffer(const float *x, float *y, int tiles) {
    __shared__ float buffer[2][64];
    int t = threadIdx.x;
    float sum = 0;
    buffer[0][t] = x[t];
    __syncthreads();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles) buffer[(i + 1) % 2][t] = x[(i + 1) * 64 + t];
        for (int k = 0; k < 64; k++) sum += buffer[(i + 1) % 2][k]; // want: race
        __syncthreads();
    }
    y[t] = sum;
}
extern "C" __global__ void wrong_buffer_ok(const float *x, float *y, int tiles) {
    __shared__ float buffer[2][64];
    int t = threadIdx.x;
    float sum = 0;
    buffer[0][t] = x[t];
    __syncthreads();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles) buffer[(i + 1) % 2][t] = x[(i + 1) * 64 + t];
        for (int k = 0; k < 64; k++) sum += buffer[i % 2][k];
        __syncthreads();
    }
    y[t] = sum;
}

// A tree whose steps are not parted.
extern "C" __global__ void tree_without_barrier(const float *x, float *y) {
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2)
        if (t < half) part[t] += part[t + half]; // want: race
    if (t == 0) y[0] = part[0];
}
extern "C" __global__ void tree_without_barrier_ok(const float *x, float *y) {
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) y[0] = part[0];
}

// The last warp of a tree, as it was written before lanes could part ways.
extern "C" __global__ void last_warp_unsynchronised(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16]; // want: race
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    if (t == 0) y[0] = s[0];
}
extern "C" __global__ void last_warp_unsynchronised_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        float v = s[t] + s[t + 32];
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
        if (t == 0) y[0] = v;
    }
}

// Both threads of a pair swap it.
extern "C" __global__ void swap_twice(const float *x, float *y) {
    __shared__ float tile[8][8];
    int i = threadIdx.x / 8, j = threadIdx.x % 8;
    tile[i][j] = x[threadIdx.x];
    __syncthreads();
    float v = tile[i][j];
    tile[i][j] = tile[j][i]; // want: race
    tile[j][i] = v;
    __syncthreads();
    y[threadIdx.x] = tile[i][j];
}
extern "C" __global__ void swap_twice_ok(const float *x, float *y) {
    __shared__ float tile[8][8];
    int i = threadIdx.x / 8, j = threadIdx.x % 8;
    tile[i][j] = x[threadIdx.x];
    __syncthreads();
    if (i < j) {
        float v = tile[i][j];
        tile[i][j] = tile[j][i];
        tile[j][i] = v;
    }
    __syncthreads();
    y[threadIdx.x] = tile[i][j];
}

// A scan in place with one barrier a step where it needs two.
extern "C" __global__ void scan_one_barrier(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        if (t >= d) s[t] += s[t - d]; // want: race
        __syncthreads();
    }
    y[t] = s[t];
}
extern "C" __global__ void scan_one_barrier_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        float left = t >= d ? s[t - d] : 0.f;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    y[t] = s[t];
}

// One thread says it, all read it at once.
extern "C" __global__ void announce_too_early(const float *x, float *y) {
    __shared__ float scale;
    if (threadIdx.x == 0) scale = x[7];
    y[threadIdx.x] = x[threadIdx.x] * scale; // want: race
}
extern "C" __global__ void announce_too_early_ok(const float *x, float *y) {
    __shared__ float scale;
    if (threadIdx.x == 0) scale = x[7];
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] * scale;
}

// The rim of a tile comes from other threads than its middle.
extern "C" __global__ void rim_without_barrier(const float *x, float *y) {
    __shared__ float tile[66];
    int t = threadIdx.x;
    tile[t + 1] = x[t + 1];
    if (t < 2) tile[65 * t] = x[65 * t];
    y[t] = tile[t] + tile[t + 1] + tile[t + 2]; // want: race
}
extern "C" __global__ void rim_without_barrier_ok(const float *x, float *y) {
    __shared__ float tile[66];
    int t = threadIdx.x;
    tile[t + 1] = x[t + 1];
    if (t < 2) tile[65 * t] = x[65 * t];
    __syncthreads();
    y[t] = tile[t] + tile[t + 1] + tile[t + 2];
}

// A tiled product that lacks the barrier after the use; 16 × 16 threads.
extern "C" __global__ void product_one_barrier(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int ty = threadIdx.y, tx = threadIdx.x;
    float sum = 0;
    for (int from = 0; from < n; from += 16) {
        as[ty][tx] = a[ty * n + from + tx];
        bs[ty][tx] = b[(from + ty) * 16 + tx];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx]; // want: race
    }
    c[ty * 16 + tx] = sum;
}
extern "C" __global__ void product_one_barrier_ok(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int ty = threadIdx.y, tx = threadIdx.x;
    float sum = 0;
    for (int from = 0; from < n; from += 16) {
        as[ty][tx] = a[ty * n + from + tx];
        bs[ty][tx] = b[(from + ty) * 16 + tx];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[ty * 16 + tx] = sum;
}

// Lanes exchange through shared memory and trust in marching together.
extern "C" __global__ void exchange_in_warp(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    y[t] = s[t ^ 1]; // want: race
}
extern "C" __global__ void exchange_in_warp_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp();
    y[t] = s[t ^ 1];
}

// A warp's barrier where the whole block has to wait.
extern "C" __global__ void syncwarp_too_weak(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp();
    y[t] = s[t ^ 32]; // want: race
}
extern "C" __global__ void syncwarp_too_weak_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[t ^ 32];
}

// Each half of the warp waits for itself only.
extern "C" __global__ void halves_apart(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < 16)
        __syncwarp(0x0000ffffu);
    else
        __syncwarp(0xffff0000u);
    y[t] = s[t ^ 16]; // want: race
}
extern "C" __global__ void halves_apart_ok(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < 16)
        __syncwarp(0x0000ffffu);
    else
        __syncwarp(0xffff0000u);
    y[t] = s[t ^ 8];
}

// A shuffle is no barrier for memory.
extern "C" __global__ void shuffle_is_no_barrier(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    float v = __shfl_sync(0xffffffffu, x[t], 0);
    y[t] = v + s[31 - t]; // want: race
}
extern "C" __global__ void shuffle_is_no_barrier_ok(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    float v = __shfl_sync(0xffffffffu, x[t], 0);
    __syncwarp();
    y[t] = v + s[31 - t];
}

// A counter that everybody increments.
extern "C" __global__ void counter_not_atomic(const float *x, int *count) {
    __shared__ int positive;
    if (threadIdx.x == 0) positive = 0;
    __syncthreads();
    if (x[threadIdx.x] > 0) positive++; // want: race
    __syncthreads();
    if (threadIdx.x == 0) *count = positive;
}
extern "C" __global__ void counter_not_atomic_ok(const float *x, int *count) {
    __shared__ int positive;
    if (threadIdx.x == 0) positive = 0;
    __syncthreads();
    if (x[threadIdx.x] > 0) atomicAdd(&positive, 1);
    __syncthreads();
    if (threadIdx.x == 0) *count = positive;
}

// A histogram without atomics.
extern "C" __global__ void histogram_not_atomic(const int *x, int *bins) {
    __shared__ int mine[8];
    int t = threadIdx.x;
    if (t < 8) mine[t] = 0;
    __syncthreads();
    mine[x[t] & 7] += 1; // want: race
    __syncthreads();
    if (t < 8) bins[t] = mine[t];
}
extern "C" __global__ void histogram_not_atomic_ok(const int *x, int *bins) {
    __shared__ int mine[8];
    int t = threadIdx.x;
    if (t < 8) mine[t] = 0;
    __syncthreads();
    atomicAdd(&mine[x[t] & 7], 1);
    __syncthreads();
    if (t < 8) bins[t] = mine[t];
}

// Counting begins before all bins are zero.
extern "C" __global__ void bins_zeroed_too_late(const int *x, int *bins) {
    __shared__ int mine[64];
    int t = threadIdx.x;
    mine[t] = 0;
    atomicAdd(&mine[(x[t] + 1) & 63], 1); // want: race
    __syncthreads();
    bins[t] = mine[t];
}
extern "C" __global__ void bins_zeroed_too_late_ok(const int *x, int *bins) {
    __shared__ int mine[64];
    int t = threadIdx.x;
    mine[t] = 0;
    __syncthreads();
    atomicAdd(&mine[(x[t] + 1) & 63], 1);
    __syncthreads();
    bins[t] = mine[t];
}

// A total is read while others still add to it.
extern "C" __global__ void total_read_too_early(const float *x, float *y) {
    __shared__ float total;
    int t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, x[t]);
    y[t] = x[t] / total; // want: race
}
extern "C" __global__ void total_read_too_early_ok(const float *x, float *y) {
    __shared__ float total;
    int t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, x[t]);
    __syncthreads();
    y[t] = x[t] / total;
}

// All blocks add to one number.
extern "C" __global__ void blocks_share_a_sum(const float *x, float *y) {
    if (threadIdx.x == 0) y[0] += x[blockIdx.x]; // want: race
}
extern "C" __global__ void blocks_share_a_sum_ok(const float *x, float *y) {
    if (threadIdx.x == 0) atomicAdd(&y[0], x[blockIdx.x]);
}

// Each block writes one element too many: its neighbour's first.
extern "C" __global__ void blocks_overlap(const float *x, float *y) {
    int first = blockIdx.x * 64;
    for (int i = threadIdx.x; i <= 64; i += 64)
        y[first + i] = x[first + i] * (1 + blockIdx.x); // want: race
}
extern "C" __global__ void blocks_overlap_ok(const float *x, float *y) {
    int first = blockIdx.x * 64;
    for (int i = threadIdx.x; i < 64; i += 64) y[first + i] = x[first + i] * (1 + blockIdx.x);
}

// A stencil in place: the rim belongs to another block.
extern "C" __global__ void stencil_in_place(const float *x, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = i + 1 < gridDim.x * 64 ? y[i + 1] : 0.f; // want: race
    __syncthreads();
    y[i] = 0.5f * (x[i] + v);
}
extern "C" __global__ void stencil_in_place_ok(const float *x, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float v = i + 1 < gridDim.x * 64 ? x[i + 1] : 0.f;
    __syncthreads();
    y[i] = 0.5f * (x[i] + v);
}

// A block waits for itself and reads what another one writes.
extern "C" __global__ void barrier_is_no_grid_barrier(const float *x, float *y, float *z) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i];
    __syncthreads();
    z[i] = y[gridDim.x * 64 - 1 - i]; // want: race
}
extern "C" __global__ void barrier_is_no_grid_barrier_ok(const float *x, float *y, float *z) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i];
    __syncthreads();
    z[i] = y[blockIdx.x * 64 + 63 - threadIdx.x];
}

// Neighbouring bytes are no race, the same byte is.
extern "C" __global__ void bytes_overlap(const float *x, unsigned char *y) {
    __shared__ unsigned char flags[64];
    int t = threadIdx.x;
    flags[t / 2] = (unsigned char)(x[t] * 2); // want: race
    __syncthreads();
    y[t] = flags[t / 2];
}
extern "C" __global__ void bytes_overlap_ok(const float *x, unsigned char *y) {
    __shared__ unsigned char flags[64];
    int t = threadIdx.x;
    flags[t] = (unsigned char)(x[t] * 2);
    __syncthreads();
    y[t] = flags[t / 2];
}
