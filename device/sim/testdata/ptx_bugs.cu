// ptx_bugs.cu - planted bugs of inline PTX, each beside a twin without it. A block is one or two
// warps; x and y hold 256 floats.

__device__ unsigned sharedAddress(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
__device__ void copy16(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from));
}

extern "C" __global__ void copy_read_early(const float *x, float *y) {
    __shared__ __align__(16) float s[256];
    copy16(s + 4 * threadIdx.x, x + 4 * threadIdx.x);
    asm volatile("cp.async.commit_group;");
    y[threadIdx.x] = s[4 * threadIdx.x]; // want: not waited for
    asm volatile("cp.async.wait_all;");
}
extern "C" __global__ void copy_read_in_time(const float *x, float *y) {
    __shared__ __align__(16) float s[256];
    copy16(s + 4 * threadIdx.x, x + 4 * threadIdx.x);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    y[threadIdx.x] = s[4 * threadIdx.x];
}

extern "C" __global__ void copy_without_barrier(const float *x, float *y) {
    __shared__ __align__(16) float s[256];
    copy16(s + 4 * threadIdx.x, x + 4 * threadIdx.x);
    asm volatile("cp.async.wait_all;");
    y[threadIdx.x] = s[255 - 4 * threadIdx.x]; // want: race
}
extern "C" __global__ void copy_with_barrier(const float *x, float *y) {
    __shared__ __align__(16) float s[256];
    copy16(s + 4 * threadIdx.x, x + 4 * threadIdx.x);
    asm volatile("cp.async.wait_all;");
    asm volatile("bar.sync 0;");
    y[threadIdx.x] = s[255 - 4 * threadIdx.x];
}

extern "C" __global__ void copy_past_the_end(const float *x, float *y) {
    __shared__ __align__(16) float s[256];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" // want: out of bounds
                 ::"r"(sharedAddress(s + 4 * threadIdx.x)),
                 "l"(x + 4 * threadIdx.x + 4));
    asm volatile("cp.async.wait_all;");
    y[threadIdx.x] = s[4 * threadIdx.x];
}

extern "C" __global__ void matrix_past_the_end(const float *x, float *y) {
    __shared__ __align__(16) float s[128];
    for (int i = threadIdx.x; i < 128; i += blockDim.x) s[i] = x[i];
    __syncthreads();
    unsigned a, b, c, d, at = sharedAddress(s + 4 * (threadIdx.x % 32 + 1));
    asm volatile( // want: out of bounds
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
        : "r"(at));
    y[threadIdx.x] = a ^ b ^ c ^ d;
}
extern "C" __global__ void matrix_within(const float *x, float *y) {
    __shared__ __align__(16) float s[128];
    for (int i = threadIdx.x; i < 128; i += blockDim.x) s[i] = x[i];
    __syncthreads();
    unsigned a, b, c, d, at = sharedAddress(s + 4 * (threadIdx.x % 32));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at));
    y[threadIdx.x] = a ^ b ^ c ^ d;
}

extern "C" __global__ void matrix_of_another_warp(const float *x, float *y) {
    __shared__ __align__(16) float s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = x[i];
    unsigned a, at = sharedAddress(s + 4 * (63 - threadIdx.x));
    asm volatile( // want: race
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
        : "=r"(a)
        : "r"(at));
    y[threadIdx.x] = a;
}

extern "C" __global__ void stored_matrix_races(const float *x, float *y) {
    __shared__ __align__(16) float s[256];
    unsigned at = sharedAddress(s + 4 * threadIdx.x), v = __float_as_uint(x[threadIdx.x]);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(at),
                 "r"(v));
    y[threadIdx.x] = s[255 - 4 * threadIdx.x]; // want: race
}
extern "C" __global__ void stored_matrix_waits(const float *x, float *y) {
    __shared__ __align__(16) float s[256];
    unsigned at = sharedAddress(s + 4 * threadIdx.x), v = __float_as_uint(x[threadIdx.x]);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(at),
                 "r"(v));
    __syncthreads();
    y[threadIdx.x] = s[255 - 4 * threadIdx.x];
}

extern "C" __global__ void load_past_the_end(const float *x, float *y) {
    float a, b, c, d;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4+1024];" // want: out of bounds
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(x + 4 * threadIdx.x));
    y[threadIdx.x] = a + b + c + d;
}
extern "C" __global__ void load_crooked(const float *x, float *y) {
    float a, b;
    asm volatile( // want: misaligned
        "ld.global.v2.f32 {%0, %1}, [%2+4];"
        : "=f"(a), "=f"(b)
        : "l"(x));
    y[threadIdx.x] = a + b;
}
