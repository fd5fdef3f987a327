// Races, as hints_bounds.cu has what is out of bounds: each kernel has one mistake, and what its
// message says (hints_test.go). x and y hold 256 floats; a launch has 64 threads a block.

// Every thread writes the block's result
// says: let one of them do it, as in if (threadIdx.x == 0)
extern "C" __global__ void unguarded_global(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float sum = threadIdx.x;
    for (int i = 0; i < 64; i++) sum += s[i];
    y[blockIdx.x] = sum;
}

// says: let one of them do it, as in if (threadIdx.x == 0)
extern "C" __global__ void unguarded_shared(const float *x, float *y) {
    __shared__ float best;
    best = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x + 64 * blockIdx.x] = best;
}

// says: let one of them do it, as in if (threadIdx.x == 0)
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
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half]; // in one warp
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
// says: only one of them should
extern "C" __global__ void overlap(const float *x, float *y) {
    __shared__ float s[65];
    s[threadIdx.x] = x[threadIdx.x];
    s[threadIdx.x + 1] = 2 * x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x];
}

// Two threads have the same index.
// says: give each thread its own elements
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

// says: let one of them do it
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

// says: let one of them do it
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

// Neighbours in one warp exchange numbers.
// says: no __syncwarp() or __syncthreads() between them; both threads are in one warp
// says: line FILL and line USE. The threads that met here are all of one warp: if that holds for
extern "C" __global__ void exchange(const float *x, float *y) {
    __shared__ float s[64];                                    // in one warp
    s[threadIdx.x] = x[threadIdx.x];                           // fill
    y[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x ^ 1] + 1; // use
}

// The first round's threads meet across warps, all later ones in the first warp.
// says: no __syncthreads() between them; first seen in block (0,0,0)
extern "C" __global__ void tree(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    for (int half = 32; half > 0; half /= 2)
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}

// Two threads of one warp are the first to meet, and others at the same two lines are of two.
// says: no __syncthreads() between them; first seen in block (0,0,0)
extern "C" __global__ void neighbours(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];                                    // fill
    y[threadIdx.x + 64 * blockIdx.x] = s[(threadIdx.x + 33) % 64 ^ 32]; // use
}

// The line that is shown is read within one warp, the one behind it across two.
// says: no __syncthreads() between them; first seen in block (0,0,0)
// says: between filling shared data and using it: between line FILL and line USE
extern "C" __global__ void two_reads(const float *x, float *y) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x]; // fill
    float near = s[threadIdx.x ^ 1]; // use
    y[threadIdx.x + 64 * blockIdx.x] = near + s[threadIdx.x ^ 32];
}
