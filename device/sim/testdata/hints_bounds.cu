// Out of bounds: each kernel has one mistake, and what its message says (hints_test.go). x and y
// hold 256 floats; a launch has 64 threads a block and asks for 64 bytes of shared memory.

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
// says: this is the very first thread
extern "C" __global__ void past_first(const float *x, float *y) {
    y[256 - threadIdx.x] = x[threadIdx.x];
}

// says: global memory x[64] (16 bytes), which holds 64 elements of that size
extern "C" __global__ void past_four(const float4 *x, float4 *y) {
    y[threadIdx.x] = x[threadIdx.x + 1];
}
