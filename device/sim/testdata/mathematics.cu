// What the C library's functions write or read by a pointer: y[at + …] in device memory, or in
// shared memory, which then goes to y. Each thread's x is in x[thread], and so is the function's
// own result.
#define BOTH(name, body)                                                                           \
    extern "C" __global__ void name(double *x, double *y, int at) {                                \
        int t = threadIdx.x;                                                                       \
        double *to = y + at + 2 * t;                                                               \
        body                                                                                       \
    }                                                                                              \
    extern "C" __global__ void name##_shared(double *x, double *y, int at) {                       \
        __shared__ double room[64];                                                                \
        int t = threadIdx.x;                                                                       \
        double *to = room + at + 2 * t;                                                            \
        to[0] = to[1] = 0;                                                                         \
        body y[2 * t] = to[0], y[2 * t + 1] = to[1];                                               \
    }                                                                                              \
    extern "C" __global__ void name##_local(double *x, double *y, int at) {                        \
        int t = threadIdx.x;                                                                       \
        double own[2] = {}, *to = own + at;                                                        \
        body y[2 * t] = own[0], y[2 * t + 1] = own[1];                                             \
    }
#define LIBRARY(f, T)                                                                              \
    BOTH(call_frexp##f, x[t] = frexp##f(x[t], (int *)to);)                                         \
    BOTH(call_modf##f, x[t] = modf##f(x[t], (T *)to);)                                             \
    BOTH(call_remquo##f, x[t] = remquo##f(x[t], (T)3, (int *)to);)                                 \
    BOTH(call_sincos##f, sincos##f(x[t], (T *)to, (T *)to + 1);)
LIBRARY(, double)
LIBRARY(f, float)

// A NaN's text, which somebody else may have to write first.
extern "C" __global__ void call_nan(double *x, double *y, int at) {
    x[threadIdx.x] = nan((const char *)(y + at));
}
extern "C" __global__ void call_nanf(double *x, double *y, int at) {
    x[threadIdx.x] = nanf((const char *)(y + at));
}
// All threads write to one place.
extern "C" __global__ void call_frexp_at_once(double *x, double *y, int at) {
    frexp(x[threadIdx.x], (int *)y + at);
}
