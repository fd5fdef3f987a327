// What transformers do to rows: softmax and the norms.

struct Add {
    __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <class Op> __device__ __forceinline__ float warp_all(float v, Op op) {
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) v = op(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

// block_all gives every thread of the block the result.
template <class Op> __device__ float block_all(float v, float neutral, Op op) {
    __shared__ float warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_all(v, op);
    __syncthreads(); // an earlier call may still be reading
    if (lane == 0) warps[warp] = v;
    __syncthreads();
    return warp_all(lane < (blockDim.x + 31) / 32 ? warps[lane] : neutral, op);
}

// softmax_two_pass: a block a row; the maximum first, then the sum.
extern "C" __global__ void softmax_two_pass(const float *x, float *y, int cols) {
    x += (size_t)blockIdx.x * cols, y += (size_t)blockIdx.x * cols;
    float largest = -INFINITY, total = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) largest = fmaxf(largest, x[c]);
    largest = block_all(largest, -INFINITY, Max());
    for (int c = threadIdx.x; c < cols; c += blockDim.x) total += expf(x[c] - largest);
    total = block_all(total, 0.f, Add());
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = expf(x[c] - largest) / total;
}

// softmax_online: maximum and sum in one pass, a pair of numbers in step.
extern "C" __global__ void softmax_online(const float *x, float *y, int cols) {
    __shared__ float2 warps[32];
    x += (size_t)blockIdx.x * cols, y += (size_t)blockIdx.x * cols;
    float m = -INFINITY, s = 0;
    auto join = [&](float m2, float s2) {
        float now = fmaxf(m, m2);
        if (now == -INFINITY) return;
        s = s * __expf(m - now) + s2 * __expf(m2 - now);
        m = now;
    };
    for (int c = threadIdx.x; c < cols; c += blockDim.x) join(x[c], 1.f);
    for (int d = 16; d > 0; d >>= 1) join(__shfl_xor_sync(~0u, m, d), __shfl_xor_sync(~0u, s, d));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = make_float2(m, s);
    __syncthreads();
    m = -INFINITY, s = 0;
    for (int w = 0; w < blockDim.x / 32; w++) join(warps[w].x, warps[w].y);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = __expf(x[c] - m) / s;
}

// softmax_tree: small rows, a block each, the row held in shared memory.
extern "C" __global__ void __launch_bounds__(128) softmax_tree(const float *x, float *y, int cols) {
    extern __shared__ float row[]; // cols elements
    __shared__ float part[128];
    int t = threadIdx.x;
    float v = -INFINITY;
    for (int c = t; c < cols; c += 128) {
        row[c] = x[blockIdx.x * cols + c];
        v = fmaxf(v, row[c]);
    }
    part[t] = v;
    __syncthreads();
    for (int half = 64; half > 0; half >>= 1) {
        if (t < half) part[t] = fmaxf(part[t], part[t + half]);
        __syncthreads();
    }
    float largest = part[0];
    __syncthreads();
    v = 0;
    for (int c = t; c < cols; c += 128) {
        row[c] = expf(row[c] - largest);
        v += row[c];
    }
    part[t] = v;
    __syncthreads();
    for (int half = 64; half > 0; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    float total = part[0];
    __syncthreads(); // spare: from here on each thread keeps to what it wrote
    for (int c = t; c < cols; c += 128) y[blockIdx.x * cols + c] = row[c] / total;
}

// layer_norm: a block a row; the variance from the differences to the mean.
extern "C" __global__ void layer_norm(const float *x, const float *gamma, const float *beta,
                                      float *y, int cols, float epsilon) {
    x += (size_t)blockIdx.x * cols, y += (size_t)blockIdx.x * cols;
    float sum = 0, squares = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += x[c];
    float mean = block_all(sum, 0.f, Add()) / cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) squares += (x[c] - mean) * (x[c] - mean);
    float scale = rsqrtf(block_all(squares, 0.f, Add()) / cols + epsilon);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
}

// rms_norm: a warp a row, four numbers a load; cols is a multiple of 4.
extern "C" __global__ void rms_norm(const float *x, const float *gamma, float *y, int rows,
                                    int cols, float epsilon) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    const float4 *in = reinterpret_cast<const float4 *>(x + (size_t)row * cols);
    const float4 *by = reinterpret_cast<const float4 *>(gamma);
    float4 *out = reinterpret_cast<float4 *>(y + (size_t)row * cols);
    float squares = 0;
    for (int c = lane; c < cols / 4; c += 32) {
        float4 v = in[c];
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    float scale = rsqrtf(warp_all(squares, Add()) / cols + epsilon);
    for (int c = lane; c < cols / 4; c += 32) {
        float4 v = in[c], g = __ldg(by + c);
        v.x *= scale * g.x, v.y *= scale * g.y, v.z *= scale * g.z, v.w *= scale * g.w;
        out[c] = v;
    }
}
