// Numbers of 6 bits: every conversion, for the tests to compare bits.
#include <cuda_fp6.h>

extern "C" __global__ void from_floats(const float *x, unsigned char *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < 8; k++)
        y[8 * i + k] =
            __nv_cvt_float_to_fp6(x[i], (__nv_fp6_interpretation_t)(k / 4), (cudaRoundMode)(k % 4));
}

extern "C" __global__ void from_doubles(const double *x, unsigned char *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < 8; k++)
        y[8 * i + k] = __nv_cvt_double_to_fp6(x[i], (__nv_fp6_interpretation_t)(k / 4),
                                              (cudaRoundMode)(k % 4));
}

// Each thread's number is its code of a half, and of a bfloat16.
extern "C" __global__ void from_small(unsigned char *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < 8; k++) {
        auto f = (__nv_fp6_interpretation_t)(k / 4);
        auto mode = (cudaRoundMode)(k % 4);
        __half_raw h = {(unsigned short)i};
        __nv_bfloat16_raw b = {(unsigned short)i};
        y[16 * i + k] = __nv_cvt_halfraw_to_fp6(h, f, mode);
        y[16 * i + 8 + k] = __nv_cvt_bfloat16raw_to_fp6(b, f, mode);
    }
}

template <class T, class T2, class T4> __device__ void construct(float4 v, unsigned *y) {
    __half2 h = __floats2half2_rn(v.x, v.y), hh = __floats2half2_rn(v.z, v.w);
    __nv_bfloat162 b = __floats2bfloat162_rn(v.x, v.y), bb = __floats2bfloat162_rn(v.z, v.w);
    y[0] = T(v.x).__x | T((double)v.y).__x << 8 | T(hh.x).__x << 16 | T(bb.y).__x << 24;
    y[1] = T2(make_float2(v.x, v.y)).__x | T2(make_float2(v.z, v.w)).__x << 16;
    y[2] = T2(make_double2(v.x, v.y)).__x | T2(make_double2(v.z, v.w)).__x << 16;
    y[3] = T2(h).__x | T2(hh).__x << 16;
    y[4] = T2(b).__x | T2(bb).__x << 16;
    y[5] = T4(v).__x;
    y[6] = T4(make_double4(v.x, v.y, v.z, v.w)).__x;
    y[7] = T4(h, hh).__x;
    y[8] = T4(b, bb).__x;
    y[9] = T((int)v.x).__x | T((long long)v.y).__x << 8 | T((short)v.z).__x << 16 |
           T((unsigned)fabsf(v.w)).__x << 24;
}
extern "C" __global__ void constructed(const float4 *x, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    construct<__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3>(x[i], &y[20 * i]);
    construct<__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2>(x[i], &y[20 * i + 10]);
}

// All 256 bytes as codes: the two bits above a code mean nothing. Beside each stands its neighbour.
template <class T, class T2, class T4, __nv_fp6_interpretation_t F>
__device__ void widen(unsigned code, float *y) {
    unsigned other = code ^ 1;
    T a;
    T2 two;
    T4 four;
    a.__x = code, two.__x = code | other << 8;
    four.__x = code | other << 8 | code << 16 | other << 24;
    y[0] = (float)a, y[1] = (double)a;
    y[2] = __half2float((__half)a), y[3] = __bfloat162float((__nv_bfloat16)a);
    y[4] = __half2float(__half(__nv_cvt_fp6_to_halfraw(code, F)));
    y[5] = __bfloat162float(__nv_bfloat16(__nv_cvt_fp6_to_bf16raw(code, F)));
    float2 p = (float2)two;
    __half2 h = (__half2)two;
    __nv_bfloat162 b = (__nv_bfloat162)two;
    float4 q = (float4)four;
    y[6] = p.x, y[7] = __low2float(h), y[8] = __low2float(b), y[9] = q.x, y[10] = q.z;
    y[11] = p.y, y[12] = __high2float(h), y[13] = __high2float(b), y[14] = q.y, y[15] = q.w;
    y[16] = (int)a, y[17] = (signed char)a, y[18] = (unsigned char)a, y[19] = a ? 1 : 0;
}
extern "C" __global__ void widened(float *y) {
    int i = threadIdx.x;
    widen<__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3, __NV_E2M3>(i, &y[40 * i]);
    widen<__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2, __NV_E3M2>(i, &y[40 * i + 20]);
}
