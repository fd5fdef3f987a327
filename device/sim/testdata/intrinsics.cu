// Functions that CUDA has and C++ has not; the tests know their values.
#include <math_constants.h>

#define DIRECTION(name)                                                                            \
    __device__ void arithmetic_##name(const float *x, float *y) {                                  \
        y[0] = __fadd_##name(x[0], x[1]);                                                          \
        y[1] = __fsub_##name(x[0], x[1]);                                                          \
        y[2] = __fmul_##name(x[0], x[1]);                                                          \
        y[3] = __fdiv_##name(x[0], x[1]);                                                          \
        y[4] = __fmaf_##name(x[0], x[1], x[2]);                                                    \
        y[5] = __frcp_##name(x[1]);                                                                \
        y[6] = __fsqrt_##name(fabsf(x[0]));                                                        \
        y[7] = __double2float_##name((double)x[0] * (1 + (double)x[1] * 1e-9));                    \
    }                                                                                              \
    __device__ void integers_##name(float x, int *i, unsigned *u, long long *l,                    \
                                    unsigned long long *w) {                                       \
        i[0] = __float2int_##name(x);                                                              \
        i[1] = __double2int_##name((double)x);                                                     \
        u[0] = __float2uint_##name(x);                                                             \
        l[0] = __float2ll_##name(x);                                                               \
        w[0] = __float2ull_##name(x);                                                              \
    }                                                                                              \
    __device__ void floats_##name(long long v, float *y) {                                         \
        y[0] = __int2float_##name((int)v);                                                         \
        y[1] = __uint2float_##name((unsigned)v);                                                   \
        y[2] = __ll2float_##name(v);                                                               \
        y[3] = __ull2float_##name((unsigned long long)v);                                          \
    }
DIRECTION(rn)
DIRECTION(rz)
DIRECTION(ru)
DIRECTION(rd)

extern "C" __global__ void directions(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    arithmetic_rn(x + 3 * i, y + 32 * i);
    arithmetic_rz(x + 3 * i, y + 32 * i + 8);
    arithmetic_ru(x + 3 * i, y + 32 * i + 16);
    arithmetic_rd(x + 3 * i, y + 32 * i + 24);
}

extern "C" __global__ void to_integers(const float *x, int *i, unsigned *u, long long *l,
                                       unsigned long long *w, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    integers_rn(x[t], i + 8 * t, u + 4 * t, l + 4 * t, w + 4 * t);
    integers_rz(x[t], i + 8 * t + 2, u + 4 * t + 1, l + 4 * t + 1, w + 4 * t + 1);
    integers_ru(x[t], i + 8 * t + 4, u + 4 * t + 2, l + 4 * t + 2, w + 4 * t + 2);
    integers_rd(x[t], i + 8 * t + 6, u + 4 * t + 3, l + 4 * t + 3, w + 4 * t + 3);
}

extern "C" __global__ void to_floats(const long long *x, float *y, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    floats_rn(x[t], y + 16 * t);
    floats_rz(x[t], y + 16 * t + 4);
    floats_ru(x[t], y + 16 * t + 8);
    floats_rd(x[t], y + 16 * t + 12);
}

// y has 32 results for each of n numbers.
extern "C" __global__ void functions(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], s, c, results[32] = {};
    results[0] = rsqrtf(v);
    results[1] = rcbrtf(v);
    results[2] = sinpif(v);
    results[3] = cospif(v);
    results[4] = erfinvf(v);
    results[5] = erfcinvf(v);
    results[6] = erfcxf(v);
    results[7] = normcdff(v);
    results[8] = normcdfinvf(v);
    results[9] = norm3df(v, 2.0f, 3.0f);
    results[10] = rhypotf(v, 1.0f);
    results[11] = __expf(v);
    results[12] = __logf(v);
    results[13] = __powf(v, 1.5f);
    __sincosf(v, &s, &c);
    results[14] = s;
    results[15] = c;
    results[16] = __fdividef(v, 3.0f);
    results[17] = __saturatef(v);
    results[18] = __frsqrt_rn(v);
    results[19] = exp10f(v);
    results[20] = norm4df(v, 1.0f, 2.0f, 3.0f);
    results[21] = (float)normcdf((double)v);
    results[22] = (float)rsqrt((double)v);
    sincospif(v, &s, &c);
    results[23] = s + c;
    results[24] = __tanf(v);
    results[25] = __log10f(v);
    results[26] = (float)erfinv((double)v);
    results[27] = CUDART_PI_F + (float)CUDART_LN2 * v;
    for (int k = 0; k < 32; k++) y[32 * i + k] = results[k];
}

extern "C" __global__ void extremes(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n) return;
    float a = x[i / n], b = x[i % n];
    y[4 * i] = fmaxf(a, b);
    y[4 * i + 1] = fminf(a, b);
    y[4 * i + 2] = max(a, b);
    y[4 * i + 3] = __fdividef(a, b);
}

// y has 32 results for each pair of numbers.
extern "C" __global__ void integers(const unsigned *x, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = x[2 * i], b = x[2 * i + 1], *r = y + 32 * i;
    unsigned long long wide = (unsigned long long)a << 32 | b;
    r[0] = __brev(a);
    r[1] = (unsigned)(__brevll(wide) >> 32);
    r[2] = __byte_perm(a, b, 0x3715);
    r[3] = __byte_perm(a, b, 0x8c40);
    r[4] = __funnelshift_l(a, b, b & 63);
    r[5] = __funnelshift_r(a, b, b & 63);
    r[6] = __funnelshift_lc(a, b, b & 63);
    r[7] = __funnelshift_rc(a, b, b & 63);
    r[8] = __clz(a);
    r[9] = __clzll(wide);
    r[10] = __ffs(a);
    r[11] = __ffsll((unsigned long long)b << 32);
    r[12] = __popc(a);
    r[13] = __popcll(wide);
    r[14] = __dp4a(a, b, 7u);
    r[15] = __dp4a((int)a, (int)b, 7);
    r[16] = __mulhi((int)a, (int)b);
    r[17] = __umulhi(a, b);
    r[18] = (unsigned)__mul64hi((long long)wide, (long long)b << 20);
    r[19] = (unsigned)__umul64hi(wide, wide);
    r[20] = __mul24((int)a, (int)b);
    r[21] = __umul24(a, b);
    r[22] = __sad((int)a, (int)b, 5u);
    r[23] = __usad(a, b, 5u);
    r[24] = __hadd((int)a, (int)b);
    r[25] = __rhadd((int)a, (int)b);
    r[26] = __uhadd(a, b);
    r[27] = __dp2a_lo((int)a, (int)b, 3);
    r[28] = min(a, b) ^ max((int)a, (int)b);
    r[29] = abs((int)a >> 1);
    r[30] = __float_as_uint(__uint_as_float(a & 0x7f7fffff));
    r[31] = __double2hiint(__hiloint2double(a & 0x7fefffff, b)) ^
            __double2loint(__hiloint2double(a & 0x7fefffff, b));
}
