// Races. The file is compiled twice: with BUG each kernel has its bug, without BUG it is the bug's
// twin, which is right. A line that must be reported carries the kind of finding behind "want".
// Blocks have 64 threads where bug_table.go does not say otherwise.

// Read after write: nobody waits until the tile is full.
extern "C" __global__ void read_too_early(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
#ifndef BUG
    __syncthreads();
#endif
    y[t] = tile[63 - t]; // want: race
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
#ifndef BUG
        __syncthreads();
#endif
    }
    y[t] = sum;
}

// Write after write: two threads, one place, two values.
extern "C" __global__ void two_writers(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
#ifdef BUG
    s[t % 32] = x[t]; // want: race
#else
    s[t] = x[t];
#endif
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
#ifdef BUG
        for (int k = 0; k < 64; k++) sum += buffer[(i + 1) % 2][k]; // want: race
#else
        for (int k = 0; k < 64; k++) sum += buffer[i % 2][k];
#endif
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
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half]; // want: race
#ifndef BUG
        __syncthreads();
#endif
    }
    if (t == 0) y[0] = part[0];
}

// The last warp of a tree, as it was written before lanes could part ways. Its twin is another
// kernel.
extern "C" __global__ void last_warp_unsynchronised(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32]; // want: race
        s[t] += s[t + 16];
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
#ifndef BUG
    if (i < j)
#endif
    {
        float v = tile[i][j]; // want: race
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
#ifdef BUG
        if (t >= d) s[t] += s[t - d]; // want: race
#else
        float left = t >= d ? s[t - d] : 0.f;
        __syncthreads();
        s[t] += left;
#endif
        __syncthreads();
    }
    y[t] = s[t];
}

// One thread says it, all read it at once.
extern "C" __global__ void announce_too_early(const float *x, float *y) {
    __shared__ float scale;
    if (threadIdx.x == 0) scale = x[7];
#ifndef BUG
    __syncthreads();
#endif
    y[threadIdx.x] = x[threadIdx.x] * scale; // want: race
}

// The rim of a tile comes from other threads than its middle.
extern "C" __global__ void rim_without_barrier(const float *x, float *y) {
    __shared__ float tile[66];
    int t = threadIdx.x;
    tile[t + 1] = x[t + 1];
    if (t < 2) tile[65 * t] = x[65 * t];
#ifndef BUG
    __syncthreads();
#endif
    y[t] = tile[t] + tile[t + 1] + tile[t + 2]; // want: race
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
#ifndef BUG
        __syncthreads();
#endif
    }
    c[ty * 16 + tx] = sum;
}
