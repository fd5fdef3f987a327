// unseen.cu - ways to touch memory that compilers do not tell their instrumentation of. Each kernel
// lets every thread touch one element, of the bytes that its comment says, at
// threadIdx.x * times + shift of y; a read lands in out.
#include <cuda_fp16.h>

struct Pair {
    float a, b;
};
struct Six {
    float v[6];
};
struct Sixteen {
    float v[16];
};
struct Three {
    unsigned char v[3];
};
struct Mixed {
    float a;
    half b;
    short c;
};

__device__ __noinline__ half makeHalf(float x) {
    return __float2half(x + 1);
}
__device__ __noinline__ half2 makeHalf2(float x) {
    return __floats2half2_rn(x + 1, x);
}
__device__ __noinline__ float4 makeFloat4(float x) {
    return make_float4(x, x + 1, x + 2, x + 3);
}
__device__ __noinline__ Pair makePair(float x) {
    return {x, x + 1};
}
__device__ __noinline__ Six makeSix(float x) {
    return {{x, x + 1, x + 2, x + 3, x + 4, x + 5}};
}
__device__ __noinline__ Sixteen makeSixteen(float x) {
    Sixteen s;
    for (int i = 0; i < 16; i++) s.v[i] = x + i;
    return s;
}
__device__ __noinline__ Three makeThree(int x) {
    return {{(unsigned char)x, (unsigned char)(x + 1), (unsigned char)(x + 2)}};
}
__device__ __noinline__ Mixed makeMixed(float x) {
    return {x, __float2half(x), (short)x};
}
__device__ __noinline__ float sumHalf(half h) {
    return __half2float(h);
}
__device__ __noinline__ float sumPair(Pair p) {
    return p.a + p.b;
}
__device__ __noinline__ float sumSix(Six s) {
    return s.v[0] + s.v[5];
}
__device__ __noinline__ float sumSixteen(Sixteen s) {
    return s.v[0] + s.v[15];
}
__device__ __noinline__ int sumThree(Three t) {
    return t.v[0] + t.v[2];
}
struct Matrix {
    float *data;
    __device__ __noinline__ Pair at(int i) const { return {(float)i, 2}; }
};
__device__ Pair operator+(const Pair &p, float x);
__device__ __noinline__ Pair operator+(const Pair &p, float x) {
    return {p.a + x, p.b};
}

#define WRITE(T, value)                                                                            \
    float x = threadIdx.x;                                                                         \
    ((T *)y)[threadIdx.x * times + shift] = value
#define READ(T, sum) out[threadIdx.x] = sum(((const T *)y)[threadIdx.x * times + shift])

extern "C" __global__ void write_half(float *y, int times, int shift, float *out) { // bytes: 2
    WRITE(half, makeHalf(x));
}
extern "C" __global__ void write_half2(float *y, int times, int shift, float *out) { // bytes: 4
    WRITE(half2, makeHalf2(x));
}
extern "C" __global__ void write_float4(float *y, int times, int shift, float *out) { // bytes: 16
    WRITE(float4, makeFloat4(x));
}
extern "C" __global__ void write_pair(float *y, int times, int shift, float *out) { // bytes: 8
    WRITE(Pair, makePair(x));
}
extern "C" __global__ void write_six(float *y, int times, int shift, float *out) { // bytes: 24
    WRITE(Six, makeSix(x));
}
extern "C" __global__ void write_sixteen(float *y, int times, int shift, float *out) { // bytes: 64
    WRITE(Sixteen, makeSixteen(x));
}
extern "C" __global__ void write_three(float *y, int times, int shift, float *out) { // bytes: 3
    WRITE(Three, makeThree(x));
}
extern "C" __global__ void write_mixed(float *y, int times, int shift, float *out) { // bytes: 8
    WRITE(Mixed, makeMixed(x));
}
extern "C" __global__ void write_member(float *y, int times, int shift, float *out) { // bytes: 8
    WRITE(Pair, Matrix{y}.at(x));
}
extern "C" __global__ void write_operator(float *y, int times, int shift, float *out) { // bytes: 8
    WRITE(Pair, (Pair{1, 2} + x));
}
extern "C" __global__ void write_chosen(float *y, int times, int shift, float *out) { // bytes: 8
    WRITE(Pair, (x < 8 ? makePair(x) : Pair{x, 3}));
}
extern "C" __global__ void read_half(float *y, int times, int shift, float *out) { // bytes: 2
    READ(half, sumHalf);
}
extern "C" __global__ void read_pair(float *y, int times, int shift, float *out) { // bytes: 8
    READ(Pair, sumPair);
}
extern "C" __global__ void read_six(float *y, int times, int shift, float *out) { // bytes: 24
    READ(Six, sumSix);
}
extern "C" __global__ void read_sixteen(float *y, int times, int shift, float *out) { // bytes: 64
    READ(Sixteen, sumSixteen);
}
extern "C" __global__ void read_three(float *y, int times, int shift, float *out) { // bytes: 3
    READ(Three, sumThree);
}
extern "C" __global__ void write_copied(float *y, int times, int shift, float *out) { // bytes: 24
    Six s = makeSix(threadIdx.x);
    memcpy((Six *)y + threadIdx.x * times + shift, &s, sizeof s);
}
extern "C" __global__ void write_cleared(float *y, int times, int shift, float *out) { // bytes: 24
    memset((Six *)y + threadIdx.x * times + shift, (int)threadIdx.x, sizeof(Six));
}
extern "C" __global__ void write_field(float *y, int times, int shift, float *out) { // bytes: 2
    Mixed *p = (Mixed *)y;
    p[threadIdx.x * times + shift].b = makeHalf(threadIdx.x);
}

// The attribute, by whichever compiler knows it.
#ifdef __clang__
#define HIDDEN __attribute__((noinline, disable_sanitizer_instrumentation))
#else
#define HIDDEN __attribute__((noinline, no_sanitize("thread"), no_sanitize_undefined))
#endif
HIDDEN __device__ void hide(float *p, float x) {
    *p = x;
}
HIDDEN __device__ float peek(const float *p) {
    return *p;
}
extern "C" __global__ void write_hidden(float *y, int times, int shift, float *out) { // bytes: 4
    hide(y + threadIdx.x * times + shift, threadIdx.x);
}
extern "C" __global__ void read_hidden(float *y, int times, int shift, float *out) { // bytes: 4
    out[threadIdx.x] = peek(y + threadIdx.x * times + shift);
}
