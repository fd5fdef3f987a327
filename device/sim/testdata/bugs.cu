// Kernels with one planted bug each. A line that must be reported carries the
// kind of finding it must get, after "want:".
extern "C" __global__ void missing_barrier(const float *x, float *y) {
    __shared__ float tile[4][16];
    int t = threadIdx.x;
    tile[t / 16][t % 16] = x[t];
    y[t] = tile[3 - t / 16][t % 16]; // want: race
}

extern "C" __global__ void missing_second_barrier(const float *x, float *y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < n; i++) {
        tile[t] = x[i * 64 + t];
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += tile[k]; // want: race
    }
    y[t] = sum;
}

extern "C" __global__ void blocks_race(float *y) {
    if (threadIdx.x == 0) y[0] += 1; // want: race
}

extern "C" __global__ void warp_race(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    y[t] = s[t ^ 31]; // want: race
}

extern "C" __global__ void past_the_end(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 1; // want: out of bounds
}

extern "C" __global__ void past_shared(float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t + 1] = 1; // want: index out of bounds
    y[t] = s[t];
}

extern "C" __global__ void null_pointer(float *y, int n) {
    float *p = (float *)(size_t)n;
    if (y[0] > 1e30f) p = y;
    *p = 1; // want: out of bounds
}

extern "C" __global__ void misaligned_load(const float *x, float *y) {
    float4 v = *(const float4 *)(x + 1); // want: misaligned
    y[0] = v.x;
}

extern "C" __global__ void unwritten_shared(float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 63) s[t] = 1;
    __syncthreads();
    y[t] = s[t]; // want: uninitialised
}

extern "C" __global__ void unwritten_global(const float *fresh, float *y) {
    y[threadIdx.x] = fresh[threadIdx.x]; // want: uninitialised
}

extern "C" __global__ void barrier_in_branch(float *y) {
    if (threadIdx.x < 16) {
        __syncthreads(); // want: barrier not reached by all
    }
    y[threadIdx.x] = 1;
}

extern "C" __global__ void two_barriers(float *y) {
    if (threadIdx.x < 16) {
        y[threadIdx.x] = 1;
        __syncthreads(); // want: divergent barrier
    } else {
        __syncthreads();
        y[threadIdx.x] = 2;
    }
}

extern "C" __global__ void shuffle_and_barrier(float *y) {
    if (threadIdx.x < 16)
        y[threadIdx.x] = __shfl_sync(0xffffffffu, 1.f, 0);
    else
        __syncthreads(); // want: deadlock
}

extern "C" __global__ void endless_reads(const float *x, float *y) {
    while (x[0] < 1e30f) y[1] = x[1]; // want: steps
}

extern "C" __global__ void endless_spin(float *y, int n) {
    unsigned i = 1;
    while (i != 0) asm volatile("" : "+r"(i) : "r"(n)); // want: steps
    y[0] = i;
}

__constant__ float table[4] = {1, 2, 3, 4};
extern "C" __global__ void writes_constant(float *y) {
    ((float *)table)[threadIdx.x & 3] = y[0]; // want: write to constant memory
}

extern "C" __global__ void divides_by_zero(int *y, int n) {
    y[0] = y[1] / n; // want: division by zero
}

extern "C" __global__ void stack_too_large(float *y, int n) { // want: stack overflow
    float local[100000];
    for (int i = 0; i < 100000; i++) local[i] = i * y[0];
    y[0] = local[n];
}

extern "C" __global__ void past_dynamic(float *y) {
    extern __shared__ float row[];
    row[threadIdx.x] = 1; // want: out of bounds
    y[threadIdx.x] = row[threadIdx.x];
}

extern "C" __global__ void inner_dimension(float *y, int n) {
    __shared__ float s[16][16];
    int t = threadIdx.x;
    s[t / 16][n + 16] = 1; // want: index out of bounds
    y[t] = s[t / 16][0];
}

extern "C" __global__ void local_array(float *y, int n) {
    float s[8];
    for (int i = 0; i < 8; i++) s[i] = y[i];
    y[0] = s[n + 8]; // want: index out of bounds
}
