// half and bfloat16, for all their values: the tests compare bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned short code(half h) {
    return __half_as_ushort(h);
}
__device__ unsigned short code(__nv_bfloat16 b) {
    return __bfloat16_as_ushort(b);
}

extern "C" __global__ void widen(const half *x, const __nv_bfloat16 *b, float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = __half2float(x[i]);
    z[i] = __bfloat162float(b[i]);
}

extern "C" __global__ void narrow(const float *x, unsigned short *y, unsigned short *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[4 * i] = code(__float2half_rn(x[i]));
    y[4 * i + 1] = code(__float2half_rz(x[i]));
    y[4 * i + 2] = code(__float2half_ru(x[i]));
    y[4 * i + 3] = code(__float2half_rd(x[i]));
    z[4 * i] = code(__float2bfloat16_rn(x[i]));
    z[4 * i + 1] = code(__float2bfloat16_rz(x[i]));
    z[4 * i + 2] = code(__float2bfloat16_ru(x[i]));
    z[4 * i + 3] = code(__float2bfloat16_rd(x[i]));
}

extern "C" __global__ void narrow_double(const double *x, unsigned short *y, unsigned short *z,
                                         int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = code(__double2half(x[i]));
    z[i] = code(__double2bfloat16(x[i]));
}

template <class H>
__device__ void operations(const H *a, const H *b, const H *c, unsigned short *y, unsigned *z,
                           int i) {
    H u = a[i], v = b[i], w = c[i];
    H results[16] = {u + v,
                     u - v,
                     u * v,
                     u / v,
                     __hfma(u, v, w),
                     __hmax(u, v),
                     __hmin(u, v),
                     -u,
                     __habs(u),
                     hsqrt(u),
                     hrcp(v),
                     __hmax_nan(u, v),
                     hfloor(u),
                     hrint(u),
                     __hadd_sat(u, v),
                     __hfma_relu(u, v, w)};
    for (int k = 0; k < 16; k++) y[16 * i + k] = code(results[k]);
    z[i] = (u < v) | (u <= v) << 1 | (u > v) << 2 | (u >= v) << 3 | (u == v) << 4 | (u != v) << 5 |
           __hltu(u, v) << 6 | __hequ(u, v) << 7 | __hne(u, v) << 8 | __hisnan(u) << 9 |
           (__hisinf(u) != 0) << 10;
}
extern "C" __global__ void half_operations(const half *a, const half *b, const half *c,
                                           unsigned short *y, unsigned *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) operations(a, b, c, y, z, i);
}
extern "C" __global__ void bfloat16_operations(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                               const __nv_bfloat16 *c, unsigned short *y,
                                               unsigned *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) operations(a, b, c, y, z, i);
}

extern "C" __global__ void half_integers(const half *x, int *y, const int *v, unsigned short *z,
                                         int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[4 * i] = __half2int_rn(x[i]);
    y[4 * i + 1] = __half2int_rz(x[i]);
    y[4 * i + 2] = __half2int_ru(x[i]);
    y[4 * i + 3] = __half2int_rd(x[i]);
    z[4 * i] = code(__int2half_rn(v[i]));
    z[4 * i + 1] = code(__int2half_rz(v[i]));
    z[4 * i + 2] = code(__int2half_ru(v[i]));
    z[4 * i + 3] = code(__int2half_rd(v[i]));
}

// A pair moves as 4 bytes.
extern "C" __global__ void pairs(const half *x, half *y) {
    extern __shared__ half2 staged[];
    __shared__ half2 weights[64];
    int t = threadIdx.x;
    staged[t] = ((const half2 *)x)[t];
    weights[t] = __floats2half2_rn(2.f, -1.f);
    __syncthreads();
    half2 v = staged[63 - t];
    v = __hfma2(v, weights[t], __half2half2(__float2half(1.f)));
    v += __lowhigh2highlow(v);
    half2 largest = __hmax2(v, __shfl_xor_sync(0xffffffffu, v, 1));
    ((half2 *)y)[t] = largest;
}

extern "C" __global__ void half_atomics(half *sum, float *y) {
    __shared__ half2 both;
    if (threadIdx.x == 0) both = __float2half2_rn(0.f);
    __syncthreads();
    atomicAdd(&both, __floats2half2_rn(1.f, 2.f));
    atomicAdd(sum, __float2half(1.f));
    __syncthreads();
    float2 f = __half22float2(both);
    if (threadIdx.x == 0) y[0] = f.x, y[1] = f.y;
}

// Numbers of other types become halves, and halves become those.
extern "C" __global__ void half_implicit(float *y) {
    half a = 1.5f, b = 2, c = 0.25;
    half sum = a;
    sum += b;
    sum *= c;
    float f = sum;
    y[0] = f;
    y[1] = (float)(int)(half)7.75f;
    y[2] = __half2float(hexp(__float2half(0.f))) + __half2float(h2exp(__float2half2_rn(0.f)).y);
    __nv_bfloat162 p = __floats2bfloat162_rn(3.f, 4.f);
    p = p * p;
    y[3] = __low2float(p) + __high2float(p);
    sum++;
    y[4] = __half2float(-sum);
    y[5] = a > b ? 1.f : 2.f;
    y[6] = __half2float(__ldg((const half *)&y[6])); // what the test put there
}
