// Each kernel has one mistake, and what its message says (hints_test.go). x and y hold 256 floats;
// a launch has 64 threads a block and asks for 64 bytes of shared memory.

struct P {
    float a, b, c;
};

// says: shared memory buf[16] (4 bytes), which holds 16 elements
// clang: dynamic shared memory[16] (4 bytes), which holds 16 elements
// says: here 64: device.Launch{Shared: …} counts bytes, not elements
extern "C" __global__ void dyn_float(const float *x, float *y) {
    extern __shared__ float buf[];
    buf[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = buf[63 - threadIdx.x];
}

// says: shared memory raw[64] (4 bytes), which holds 64 bytes
// clang: dynamic shared memory[16] (4 bytes), which holds 16 elements
extern "C" __global__ void dyn_raw(const float *x, float *y) {
    extern __shared__ char raw[];
    float *part = (float *)raw;
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = part[63 - threadIdx.x];
}

// says: shared memory bufs[16] (16 bytes), which holds 16 elements
// clang: dynamic shared memory[4] (16 bytes), which holds 4 elements
extern "C" __global__ void dyn_four(const float *x, float *y) {
    extern __shared__ float bufs[];
    ((float4 *)bufs)[threadIdx.x] = ((const float4 *)x)[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = bufs[threadIdx.x];
}

// says: shared memory tile[3][0] (4 bytes), which holds 3 × 16 elements
// says: more threads
extern "C" __global__ void stat(const float *x, float *y) {
    __shared__ float tile[3][16];
    float *p = &tile[0][0];
    p[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = p[threadIdx.x];
}

// says: index 3 into an array of type float [3][16]
// clang: index 3 into an array of type float[3][16]
// says: it may be 0 to 2
extern "C" __global__ void stat_direct(const float *x, float *y) {
    __shared__ float tile[3][16];
    tile[threadIdx.x / 16][threadIdx.x % 16] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[0][threadIdx.x % 16];
}

// says: shared memory hs[40] (2 bytes), which holds 40 elements
extern "C" __global__ void stat_half(const float *x, float *y) {
    __shared__ short hs[40];
    short *p = hs;
    p[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = p[threadIdx.x];
}

// says: shared memory ps[40] (4 bytes), which holds 40 elements
extern "C" __global__ void stat_struct(const float *x, float *y) {
    __shared__ P ps[40];
    P *p = ps;
    p[threadIdx.x].b = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = p[threadIdx.x].b;
}

// says: shared memory ds[40] (8 bytes), which holds 40 elements
extern "C" __global__ void stat_double(const float *x, float *y) {
    __shared__ double ds[40];
    double *p = ds;
    p[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = p[threadIdx.x];
}

// says: shared memory ns[-1] (4 bytes), before its first element
// says: the index is negative
extern "C" __global__ void negative(const float *x, float *y) {
    __shared__ float ns[64];
    float *p = ns;
    p[(int)threadIdx.x - 1] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = p[threadIdx.x];
}

__constant__ float weights[8] = {1, 2};
__device__ float counts[8];
// says: read out of bounds: device variable weights[8] (4 bytes), which holds 8 elements
extern "C" __global__ void variable(const float *x, float *y) {
    const float *p = weights;
    y[threadIdx.x] = p[threadIdx.x] + x[0];
}

// says: write out of bounds: device variable counts[8] (4 bytes), which holds 8 elements
extern "C" __global__ void variable2(const float *x, float *y) {
    float *p = counts;
    p[threadIdx.x] = x[0];
}

// says: global memory x[256]
// says: in a loop over tiles
extern "C" __global__ void past(const float *x, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i * 4] = x[i + 200];
}

// says: global memory y[256]
// says: the first thread of all
extern "C" __global__ void past_first(const float *x, float *y) {
    y[256 - threadIdx.x] = x[threadIdx.x];
}

// says: global memory x[64] (16 bytes), which holds 64 elements of that size
extern "C" __global__ void past_four(const float4 *x, float4 *y) {
    y[threadIdx.x] = x[threadIdx.x + 1];
}

// Every thread writes the block's result
// says: let one thread do it: if (threadIdx.x == 0)
extern "C" __global__ void unguarded_global(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float sum = threadIdx.x;
    for (int i = 0; i < 64; i++) sum += s[i];
    y[blockIdx.x] = sum;
}

// says: let one thread do it: if (threadIdx.x == 0)
extern "C" __global__ void unguarded_shared(const float *x, float *y) {
    __shared__ float best;
    best = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x + 64 * blockIdx.x] = best;
}

// says: let one thread do it: if (threadIdx.x == 0)
extern "C" __global__ void unguarded_blocks(const float *x, float *y) {
    y[0] = x[threadIdx.x];
}

// says: use an atomic (atomicAdd for a sum)
extern "C" __global__ void rmw(const float *x, float *y) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    sum += x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// says: use an atomic (atomicAdd for a sum)
extern "C" __global__ void rmw_global(const float *x, float *y) {
    y[blockIdx.x] += x[threadIdx.x];
}

// says: use an atomic (atomicAdd for a sum)
extern "C" __global__ void rmw_two_lines(const float *x, float *y) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    float old = sum;
    old = old + x[threadIdx.x];
    sum = old;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// blocks: 4
// says: use an atomic (atomicAdd for a sum), or give each block
extern "C" __global__ void rmw_blocks(const float *x, float *y) {
    if (threadIdx.x == 0) y[0] += x[blockIdx.x];
}

// says: use an atomic
extern "C" __global__ void maximum(const float *x, float *y) {
    __shared__ float best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    if (x[threadIdx.x] > best) best = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = best;
}

// A shift in place, without a loop.
// says: read what other threads write into a variable first
extern "C" __global__ void shift(const float *x, float *y) {
    __shared__ float s[65];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x == 0) s[64] = 0;
    __syncthreads();
    s[threadIdx.x] = s[threadIdx.x + 1];
    __syncthreads();
    y[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x];
}

// A reduction without a barrier in its loop.
// says: a barrier is needed at the end of each round of the loop
extern "C" __global__ void reduce(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2)
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}

// The second barrier of a loop over tiles is missing.
// says: a barrier is needed at the end of the loop's round: line FILL of the next round
extern "C" __global__ void tiles(const float *x, float *y) {
    __shared__ float s[64];
    float sum = 0;
    for (int t = 0; t < 4; t++) {
        s[threadIdx.x] = x[64 * t + threadIdx.x]; // fill
        __syncthreads();
        sum += s[63 - threadIdx.x]; // use
    }
    y[threadIdx.x + 64 * blockIdx.x] = sum;
}

// The first one is.
// says: between filling shared data and using it: between line FILL and line USE
extern "C" __global__ void tiles_first(const float *x, float *y) {
    __shared__ float s[64];
    float sum = 0;
    for (int t = 0; t < 4; t++) {
        s[threadIdx.x] = x[64 * t + threadIdx.x]; // fill
        sum += s[63 - threadIdx.x];               // use
        __syncthreads();
    }
    y[threadIdx.x + 64 * blockIdx.x] = sum;
}

// Used and filled again, without a loop.
// says: between the last use of shared data and overwriting it: between line USE and line FILL
extern "C" __global__ void straight(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float a = s[63 - threadIdx.x]; // use
    s[threadIdx.x] = a + 1;        // fill
    __syncthreads();
    y[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x];
}

// Filled and used, without a loop.
// says: between filling shared data and using it: between line FILL and line USE
extern "C" __global__ void straight_first(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];                        // fill
    y[threadIdx.x + 64 * blockIdx.x] = s[63 - threadIdx.x]; // use
}

// Two lines write the same elements.
// says: one of them should not
extern "C" __global__ void overlap(const float *x, float *y) {
    __shared__ float s[65];
    s[threadIdx.x] = x[threadIdx.x];
    s[threadIdx.x + 1] = 2 * x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x];
}

// Two threads have the same index.
// says: give each thread elements of its own
extern "C" __global__ void pairs(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = 0;
    __syncthreads();
    s[threadIdx.x / 2] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x];
}

// blocks: 4
// says: is blockIdx in the index?
extern "C" __global__ void block_forgotten(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x] + blockIdx.x;
}

// says: a barrier is needed between the plain write and the atomics
extern "C" __global__ void mixed(const float *x, float *y) {
    __shared__ float sum;
    sum = 0;
    atomicAdd(&sum, x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// says: let one thread do it
extern "C" __global__ void in_loop_all_write(const float *x, float *y) {
    __shared__ float best;
    float sum = 0;
    for (int t = 0; t < 3; t++) {
        best = x[threadIdx.x] + t;
        __syncthreads();
        sum += best;
        __syncthreads();
    }
    y[threadIdx.x + 64 * blockIdx.x] = sum;
}

// says: a barrier is needed at the end of each round
extern "C" __global__ void rounds_write(const float *x, float *y) {
    __shared__ float s[64];
    for (int t = 0; t < 3; t++) s[(threadIdx.x + t) % 64] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x];
}

// says: use an atomic
extern "C" __global__ void histogram(const float *x, float *y) {
    __shared__ float s[8];
    if (threadIdx.x < 8) s[threadIdx.x] = 0;
    __syncthreads();
    s[(int)x[threadIdx.x] % 8] += 1;
    __syncthreads();
    if (threadIdx.x < 8) y[threadIdx.x + 8 * blockIdx.x] = s[threadIdx.x];
}

// blocks: 4
// says: the last block may reach beyond the end
extern "C" __global__ void past_in_the_last(const float *x, float *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i + 1] = x[i];
}

// Both barriers are missing.
// says: between filling shared data and using it: between line FILL and line USE; and at the end
extern "C" __global__ void no_barriers(const float *x, float *y) {
    __shared__ float s[64];
    float sum = 0;
    for (int t = 0; t < 4; t++) {
        s[threadIdx.x] = x[64 * t + threadIdx.x]; // fill
        sum += s[63 - threadIdx.x];               // use
    }
    y[threadIdx.x + 64 * blockIdx.x] = sum;
}

// What the barrier between them cannot be seen to do: both places are named.
#define EVERYBODY_SYNC __syncthreads()
// says: between filling shared data and using it: between line FILL and line USE; or at the end
extern "C" __global__ void hidden_barrier(const float *x, float *y) {
    __shared__ float s[64];
    float sum = 0;
    for (int t = 0; t < 4; t++) {
        s[threadIdx.x] = x[64 * t + threadIdx.x]; // fill
        EVERYBODY_SYNC;
        sum += s[63 - threadIdx.x]; // use
    }
    y[threadIdx.x + 64 * blockIdx.x] = sum;
}

// blocks: 4
// says: let a second kernel read it
extern "C" __global__ void reads_a_neighbour(const float *x, float *y) {
    y[threadIdx.x + 32 * blockIdx.x] = y[threadIdx.x + 32 * blockIdx.x + 32] + x[0];
}

// says: a barrier is needed between the atomics and the plain read
extern "C" __global__ void atomic_then_read(const float *x, float *y) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[threadIdx.x]);
    y[threadIdx.x + 64 * blockIdx.x] = sum;
}

// says: let one thread do it
extern "C" __global__ void unguarded_integers(const float *x, float *y) {
    __shared__ int most[2];
    most[1] = (int)x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x + 64 * blockIdx.x] = most[1];
}

// The fill is a function's, which a loop calls: the order of the lines says nothing.
__device__ void fill(float *s, const float *x) {
    s[threadIdx.x] = x[threadIdx.x];
}
// says: or, in a loop, between using it and filling it again
extern "C" __global__ void filled_by_another(const float *x, float *y) {
    __shared__ float s[64];
    float sum = 0;
    for (int t = 0; t < 4; t++) {
        fill(s, x + 16 * t);
        __syncthreads();
        sum += s[63 - threadIdx.x];
    }
    y[threadIdx.x + 64 * blockIdx.x] = sum;
}

// Likewise of a lambda.
// says: or, in a loop, between using it and filling it again
extern "C" __global__ void filled_by_a_lambda(const float *x, float *y) {
    __shared__ float s[64];
    auto fill = [&](int t) { //
        s[threadIdx.x] = x[threadIdx.x + t];
    };
    float sum = 0;
    for (int t = 0; t < 4; t++) {
        fill(t);
        __syncthreads();
        sum += s[63 - threadIdx.x];
    }
    y[threadIdx.x + 64 * blockIdx.x] = sum;
}
