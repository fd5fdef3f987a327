// Operations on one number at a time. A thread handles four neighbouring numbers. wide
// says that all tensors start at multiples of 16 bytes. An output may also be an input:
// a thread writes only what it alone has read.

__device__ float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x)); // expf overflows to infinity, and gives 0
}

struct Gelu { // 0.5 * x * (1 + tanh(u)), which is x * sigmoid(2 * u)
    __device__ float operator()(float x, float) const {
        const float u = 0.7978845608028654f * (x + 0.044715f * x * x * x); // sqrt(2 / pi)
        return x * sigmoid(2.0f * u);
    }
};

struct SwiGlu { // silu(gate) * up
    __device__ float operator()(float gate, float up) const { return gate * sigmoid(gate) * up; }
};

struct Add {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Function>
__device__ void apply(Function f, const float *a, const float *b, float *out, size_t n, int wide) {
    const size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (wide && first + 4 <= n) {
        const float4 p = *(const float4 *)(a + first), q = *(const float4 *)(b + first);
        *(float4 *)(out + first) = make_float4(f(p.x, q.x), f(p.y, q.y), f(p.z, q.z), f(p.w, q.w));
        return;
    }
    for (size_t i = first; i < first + 4 && i < n; i++) out[i] = f(a[i], b[i]);
}

extern "C" __global__ void gelu(const float *x, float *out, long long n, int wide) {
    apply(Gelu(), x, x, out, n, wide);
}

extern "C" __global__ void swiglu(const float *gate, const float *up, float *out, long long n,
                                  int wide) {
    apply(SwiGlu(), gate, up, out, n, wide);
}

extern "C" __global__ void add(const float *a, const float *b, float *out, long long n, int wide) {
    apply(Add(), a, b, out, n, wide);
}
