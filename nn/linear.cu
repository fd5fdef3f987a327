// A linear layer for few rows, such as a decoding step has: out = x * w^T + bias.
//
// x [rows, in], w [width, in], out [rows, width]; up to three layers of one x go
// together, blockIdx.y is which of them. Every weight is read once and
// serves all rows, so the time is that of reading w: what counts is to have
// enough loads in flight. A warp has OUTPUTS columns of out. Its lanes read the
// weights VEC at a time, neighbours reading neighbours, and each lane asks for
// BATCH such pieces before it uses the first. x is small, and comes from the caches.

#define WARP 32
#define BLOCK 256 // threads; linear.go knows it
#define BATCH 8   // loads of weights that a lane has in flight

// What happens to x * w^T + bias: linear.go knows the numbers.
#define GELU 1
#define ADD 2 // it is added to what is in out

__device__ float finish(float value, const float *out, int then) {
    if (then == ADD) return *out + value;
    if (then != GELU) return value;
    const float u = 0.7978845608028654f * (value + 0.044715f * value * value * value);
    return value / (1.0f + expf(-2.0f * u)); // as in elementwise.cu
}

// VEC neighbours: 16 bytes at once where rows start at multiples of 16 bytes.
template <int VEC> __device__ void load(float (&d)[VEC], const float *from) {
    if (VEC == 4) {
        const float4 v = *(const float4 *)from;
        d[0] = v.x, d[1] = v.y, d[2] = v.z, d[3] = v.w;
    } else {
        d[0] = *from;
    }
}

// The same of weights, which nobody reads again: the caches need not keep them.
// Beyond the row's end they are zeros.
template <int VEC> __device__ void loadOnce(float (&d)[VEC], const float *from, bool inside) {
    if (VEC == 4) {
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (inside) v = __ldcs((const float4 *)from);
        d[0] = v.x, d[1] = v.y, d[2] = v.z, d[3] = v.w;
    } else {
        d[0] = inside ? __ldcs(from) : 0.0f;
    }
}

// ROWS rows, from row0 on, times OUTPUTS columns. A row or column too many repeats
// the last one, and is not written.
//
// With a gate, the two columns are column0 of gate and of w, and what is written is
// silu(the one) * the other.
template <int ROWS, int OUTPUTS, int VEC>
__device__ void multiply(const float *x, const float *w, const float *bias, float *out, int row0,
                         int rows, int in, int width, int then, int column0,
                         const float *gate = 0) {
    constexpr int STEPS = BATCH / OUTPUTS; // pieces in flight for each column
    constexpr int STRIDE = WARP * VEC;     // terms that a warp reads at a time
    const int lane = threadIdx.x % WARP;
    const float *xs[ROWS], *ws[OUTPUTS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) xs[r] = x + (size_t)min(row0 + r, rows - 1) * in;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) ws[o] = w + (size_t)min(column0 + o, width - 1) * in;
    if (gate) ws[0] = gate + (size_t)column0 * in, ws[OUTPUTS - 1] = w + (size_t)column0 * in;

    // 1. Ask for the first weights.
    float weight[STEPS][OUTPUTS][VEC];
    int k = lane * VEC;
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++)
            loadOnce<VEC>(weight[s][o], ws[o] + k + s * STRIDE, k + s * STRIDE < in);

    // 2. Each lane's share of the sums. A weight that was used makes room for the
    //    one a batch further on: so the loads never cease, and the compiler cannot
    //    move them down to where they are used.
    float sum[ROWS][OUTPUTS] = {};
    while (k < in) {
#pragma unroll
        for (int s = 0; s < STEPS; s++, k += STRIDE) {
            const int here = min(k, in - VEC); // beyond the end weights are zeros
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                float value[VEC];
                load<VEC>(value, xs[r] + here);
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++)
#pragma unroll
                    for (int i = 0; i < VEC; i++) sum[r][o] += value[i] * weight[s][o][i];
            }
            const int next = k + STEPS * STRIDE;
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) loadOnce<VEC>(weight[s][o], ws[o] + next, next < in);
        }
    }

    // 3. Add the shares up. Every lane has the whole sums then; lane n writes the
    //    n-th of them.
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) {
            float whole = sum[r][o];
#pragma unroll
            for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
                whole += __shfl_xor_sync(0xffffffffu, whole, lanes);
            const int row = row0 + r, column = column0 + o;
            if (lane == r * OUTPUTS + o && row < rows && column < width) {
                float *at = out + (size_t)row * width + column;
                *at = finish(whole + (bias ? bias[column] : 0.0f), at, then);
            }
        }
}

// A block is 8 warps, side by side in the columns. Blocks that share columns and
// differ in their rows are neighbours, so that the second finds the weights in the
// L2 cache. Narrow layers give a warp one column: they would not fill the device
// otherwise; so do rows that do not allow 16 bytes at once.
template <int ROWS>
__device__ void linear(const float *x, const float *w, const float *bias, float *out, int rows,
                       int in, int width, int then, int wide, int outputs) {
    const int groups = (rows + ROWS - 1) / ROWS;
    const int row0 = blockIdx.x % groups * ROWS;
    const int warp = blockIdx.x / groups * (BLOCK / WARP) + threadIdx.x / WARP;
    if (warp * outputs >= width) return; // the whole warp
    if (!wide)
        multiply<ROWS, 1, 1>(x, w, bias, out, row0, rows, in, width, then, warp);
    else if (outputs == 1)
        multiply<ROWS, 1, 4>(x, w, bias, out, row0, rows, in, width, then, warp);
    else
        multiply<ROWS, 2, 4>(x, w, bias, out, row0, rows, in, width, then, warp * 2);
}

// Without a bias, bias is 0.
__device__ const float *mine(const float *first, const float *second, const float *third) {
    return blockIdx.y == 0 ? first : blockIdx.y == 1 ? second : third;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_1(const float *x, const float *w0, const float *w1, const float *w2, const float *bias0,
             const float *bias1, const float *bias2, float *out0, float *out1, float *out2,
             int rows, int in, int width, int hasBias, int then, int wide, int outputs) {
    linear<1>(x, mine(w0, w1, w2), hasBias ? mine(bias0, bias1, bias2) : 0,
              (float *)mine(out0, out1, out2), rows, in, width, then, wide, outputs);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_2(const float *x, const float *w0, const float *w1, const float *w2, const float *bias0,
             const float *bias1, const float *bias2, float *out0, float *out1, float *out2,
             int rows, int in, int width, int hasBias, int then, int wide, int outputs) {
    linear<2>(x, mine(w0, w1, w2), hasBias ? mine(bias0, bias1, bias2) : 0,
              (float *)mine(out0, out1, out2), rows, in, width, then, wide, outputs);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_4(const float *x, const float *w0, const float *w1, const float *w2, const float *bias0,
             const float *bias1, const float *bias2, float *out0, float *out1, float *out2,
             int rows, int in, int width, int hasBias, int then, int wide, int outputs) {
    linear<4>(x, mine(w0, w1, w2), hasBias ? mine(bias0, bias1, bias2) : 0,
              (float *)mine(out0, out1, out2), rows, in, width, then, wide, outputs);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_8(const float *x, const float *w0, const float *w1, const float *w2, const float *bias0,
             const float *bias1, const float *bias2, float *out0, float *out1, float *out2,
             int rows, int in, int width, int hasBias, int then, int wide, int outputs) {
    linear<8>(x, mine(w0, w1, w2), hasBias ? mine(bias0, bias1, bias2) : 0,
              (float *)mine(out0, out1, out2), rows, in, width, then, wide, outputs);
}
