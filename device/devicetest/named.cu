// Kernels without C linkage, which Go asks for by an expression: templates, overloads, and what
// lies in namespaces. One per idea, so that a failure names what is broken.

#include "named.cuh"

// launches counts across kernels: they are one module's, however they are named.
__device__ int launches;

// scale: a type and a number; dynamic shared memory, which all its instances share the name of.
template <typename T, int N> __global__ void __launch_bounds__(64) scale(const T *in, T *out) {
    extern __shared__ unsigned char held[];
    T *mine = reinterpret_cast<T *>(held);
    mine[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = mine[blockDim.x - 1 - threadIdx.x] * T(N);
    if (threadIdx.x == 0) launches++;
}

// count: a plain kernel.
__global__ void count(int *out) {
    out[0] = ++launches;
}

// which: two kernels of one name.
__global__ void which(float *out, int n) {
    out[0] = n;
}
__global__ void which(float *out, float x) {
    out[0] = 2 * x;
}

// hidden and nameless: the same names may be in other files.
static __global__ void hidden(int *out) {
    out[0] = 3;
}
namespace {
__global__ void nameless(int *out) {
    out[0] = 4;
}
template <bool Twice> __global__ void namelessToo(int *out) {
    out[0] = Twice ? 10 : 5;
}
} // namespace

// fold: as many types as one likes, and an operation given by its type.
namespace layers {
struct Add {
    static __device__ float of(float a, float b) { return a + b; }
};
struct Times {
    static __device__ float of(float a, float b) { return a * b; }
};
template <class Operation, typename... T> __global__ void fold(float *out, T... values) {
    float all = out[0];
    ((all = Operation::of(all, float(values))), ...);
    out[0] = all;
}
} // namespace layers

// mixed: parameters whose types have other names: an alias, an enum, a structure, a half.
template <typename T>
__global__ void mixed(real *out, Line line, Mode mode, half h, T x, const float *none) {
    out[0] = line.from + line.slope;
    out[1] = mode;
    out[2] = __half2float(h);
    out[3] = x;
    out[4] = none == nullptr;
}

// bump: what C linkage has beside them.
extern "C" __global__ void bump(int *out) {
    out[0] += 1;
}
