// A thread an element, or a few.

// saxpy: y = alpha x + y, by a grid-stride loop.
extern "C" __global__ void saxpy(float alpha, const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = alpha * x[i] + y[i];
}

// gelu: by the error function.
extern "C" __global__ void gelu(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] * (1.f + erff(x[i] * 0.70710678f));
}

// gelu_tanh: GPT-2's approximation.
extern "C" __global__ void gelu_tanh(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], inner = 0.79788456f * (v + 0.044715f * v * v * v);
    y[i] = 0.5f * v * (1.f + tanhf(inner));
}

// swiglu: each row holds the gates, then the values.
extern "C" __global__ void swiglu(const float *__restrict__ x, float *__restrict__ y, int rows,
                                  int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    int row = i / cols, col = i - row * cols;
    float gate = x[row * 2 * cols + col], v = x[row * 2 * cols + cols + col];
    y[i] = gate / (1.f + __expf(-gate)) * v;
}

// rope: turns neighbouring pairs of each head by an angle that grows with the
// position. x is [tokens, heads, dim].
extern "C" __global__ void rope(float2 *x, const int *positions, int tokens, int heads, int dim,
                                float base) {
    int pair = threadIdx.x, head = blockIdx.x, token = blockIdx.y;
    if (pair >= dim / 2) return;
    float angle = positions[token] * powf(base, -2.f * pair / dim), s, c;
    sincosf(angle, &s, &c);
    float2 *at = x + (token * heads + head) * (dim / 2) + pair;
    float2 v = *at;
    *at = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

// gather: rows of an embedding, four numbers a thread; an id outside of the
// table gives zeros.
extern "C" __global__ void gather(const float4 *__restrict__ table, const int *__restrict__ ids,
                                  float4 *__restrict__ rows, int vocabulary, int width) {
    int id = ids[blockIdx.x];
    for (int c = threadIdx.x; c < width / 4; c += blockDim.x) {
        float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
        if (id >= 0 && id < vocabulary) v = table[id * (width / 4) + c];
        rows[blockIdx.x * (width / 4) + c] = v;
    }
}
