// Values that nobody wrote. Without BUG each kernel is its twin, which is right.

// The last element of the tile is never filled.
extern "C" __global__ void tile_partly_filled(const float *x, float *y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
#ifdef BUG
    if (t < 63) tile[t] = x[t];
#else
    tile[t] = t < 63 ? x[t] : 0.f;
#endif
    __syncthreads();
    y[t] = tile[63 - t]; // want: uninitialised
}

// The rest of the last tile should be zero, and holds whatever was there.
extern "C" __global__ void tail_not_zeroed(const float *x, float *y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    float sum = 0;
#ifdef BUG
    for (int k = 0; k < 64; k++) sum += tile[k]; // want: uninitialised
#else
    for (int k = 0; k < n; k++) sum += tile[k];
#endif
    y[t] = sum;
}

// Sums that start at nothing.
extern "C" __global__ void sum_without_start(const float *x, float *y, int n) {
    __shared__ float sum[64];
    int t = threadIdx.x;
#ifndef BUG
    sum[t] = 0;
#endif
    for (int i = t; i < n; i += 64) sum[t] += x[i]; // want: uninitialised
    y[t] = sum[t];
}

// Dynamic shared memory is no cleaner than static.
extern "C" __global__ void dynamic_unwritten(const float *x, float *y) {
    extern __shared__ float best[];
    int t = threadIdx.x;
#ifndef BUG
    best[t] = -INFINITY;
#endif
    best[t] = fmaxf(best[t], x[t]); // want: uninitialised
    y[t] = best[t];
}

// The column of padding is nobody's.
extern "C" __global__ void reads_padding(const float *x, float *y) {
    __shared__ float tile[8][9];
    int t = threadIdx.x;
    tile[t / 8][t % 8] = x[t];
    __syncthreads();
#ifdef BUG
    y[t] = tile[t / 8][t % 8 + 1]; // want: uninitialised
#else
    y[t] = t % 8 < 7 ? tile[t / 8][t % 8 + 1] : 0.f;
#endif
}

// A buffer fresh from malloc.
extern "C" __global__ void reads_fresh(const float *fresh, const float *x, float *y) {
#ifdef BUG
    y[threadIdx.x] = x[threadIdx.x] + fresh[threadIdx.x]; // want: uninitialised
#else
    y[threadIdx.x] = x[threadIdx.x] + (fresh ? 1.f : 0.f);
#endif
}

// A total that was never set to zero.
extern "C" __global__ void adds_to_fresh(const float *x, float *fresh) {
#ifndef BUG
    if (threadIdx.x == 0) *fresh = 0;
    __syncthreads();
#endif
    atomicAdd(fresh, x[threadIdx.x]); // want: uninitialised
}

#ifdef BUG
__constant__ float factors[4];
#else
__constant__ float factors[4] = {0, 1, 2, 3};
#endif

// A constant that the file gives no value, and that the program has forgotten to set.
extern "C" __global__ void constant_never_set(const float *x, float *y) {
    y[threadIdx.x] = factors[threadIdx.x] * x[threadIdx.x]; // want: uninitialised
}

// A thread's own array, of which n elements are written; n is 3.
extern "C" __global__ void local_partly_written(const float *x, float *y, int n) {
    float best[4];
    for (int i = 0; i < n; i++) best[i] = x[threadIdx.x] + i;
#ifdef BUG
    y[threadIdx.x] = best[(threadIdx.x + n) % 4]; // todo: uninitialised
#else
    y[threadIdx.x] = best[(threadIdx.x + n) % 3];
#endif
}

// The guard is too strict: the last element stays unwritten, and only the copy
// to the host can tell.
extern "C" __global__ void last_one_unwritten(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
    if (i < n - 1) y[i] = x[i]; // want: never written
#else
    if (i < n) y[i] = x[i];
#endif
}
