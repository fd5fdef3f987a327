// A linear layer for few rows, such as a decoding step has: out = x * w^T + bias.
//
// x [rows, in], w [width, in], out [rows, width]. Every weight is read once and
// serves all rows, so the time is that of reading w: what counts is to have
// enough loads in flight. A warp has OUTPUTS columns of out. Its lanes read the
// weights four at a time, neighbours reading neighbours, and each lane asks for
// BATCH of them before it uses the first. x is small, and comes from the caches.

#define WARP 32
#define BLOCK 256 // threads; linear.go knows it
#define BATCH 8   // loads of weights that a lane has in flight, 16 bytes each

// Four neighbours of a row of length in, from x on. wide says that rows start at
// multiples of 16 bytes; otherwise a row may end amid the four.
__device__ float4 load(const float *row, int x, int in, int wide) {
    if (x >= in) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (wide) return *(const float4 *)(row + x);
    return make_float4(row[x], x + 1 < in ? row[x + 1] : 0.0f, x + 2 < in ? row[x + 2] : 0.0f,
                       x + 3 < in ? row[x + 3] : 0.0f);
}

// The same of weights, which nobody reads again: the caches need not keep them.
__device__ float4 loadOnce(const float *row, int x, int in, int wide) {
    return wide && x < in ? __ldcs((const float4 *)(row + x)) : load(row, x, in, wide);
}

__device__ float dot(float sum, float4 a, float4 b) {
    return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// ROWS rows at most, from row0 on. A row too many repeats the last one, so that no
// load needs a condition, and is not written.
template <int ROWS, int OUTPUTS>
__device__ void multiply(const float *x, const float *w, const float *bias, float *out, int row0,
                         int rows, int in, int width, int hasBias, int wide, int column0) {
    constexpr int STEPS = BATCH / OUTPUTS; // of four terms, in flight for each column
    const int lane = threadIdx.x % WARP;
    const float *xs[ROWS], *ws[OUTPUTS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) xs[r] = x + (size_t)min(row0 + r, rows - 1) * in;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) ws[o] = w + (size_t)min(column0 + o, width - 1) * in;

    // 1. Each lane's share of the sums.
    float sum[ROWS][OUTPUTS] = {};
    for (int k0 = lane * 4; k0 < in; k0 += STEPS * WARP * 4) {
        float4 weight[STEPS][OUTPUTS];
#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++)
                weight[s][o] = loadOnce(ws[o], k0 + s * WARP * 4, in, wide);
#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const float4 value = load(xs[r], k0 + s * WARP * 4, in, wide);
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) sum[r][o] = dot(sum[r][o], value, weight[s][o]);
            }
    }

    // 2. Add the shares up. Every lane has the whole sums then; lane n writes the
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
            if (lane == r * OUTPUTS + o && row < rows && column < width)
                out[(size_t)row * width + column] = whole + (hasBias ? bias[column] : 0.0f);
        }
}

// A block is 8 warps, side by side in the columns. Blocks that share columns and
// differ in their rows are neighbours, so that the second finds the weights in the
// L2 cache. Narrow layers give a warp one column: they would not fill the device
// otherwise.
template <int ROWS>
__device__ void linear(const float *x, const float *w, const float *bias, float *out, int rows,
                       int in, int width, int hasBias, int wide, int outputs) {
    const int groups = (rows + ROWS - 1) / ROWS;
    const int row0 = blockIdx.x % groups * ROWS;
    const int warp = blockIdx.x / groups * (BLOCK / WARP) + threadIdx.x / WARP;
    if (warp * outputs >= width) return; // the whole warp
    if (outputs == 1)
        multiply<ROWS, 1>(x, w, bias, out, row0, rows, in, width, hasBias, wide, warp);
    else
        multiply<ROWS, 2>(x, w, bias, out, row0, rows, in, width, hasBias, wide, warp * 2);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_1(const float *x, const float *w, const float *bias, float *out, int rows, int in,
             int width, int hasBias, int wide, int outputs) {
    linear<1>(x, w, bias, out, rows, in, width, hasBias, wide, outputs);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_2(const float *x, const float *w, const float *bias, float *out, int rows, int in,
             int width, int hasBias, int wide, int outputs) {
    linear<2>(x, w, bias, out, rows, in, width, hasBias, wide, outputs);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_4(const float *x, const float *w, const float *bias, float *out, int rows, int in,
             int width, int hasBias, int wide, int outputs) {
    linear<4>(x, w, bias, out, rows, in, width, hasBias, wide, outputs);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    linear_8(const float *x, const float *w, const float *bias, float *out, int rows, int in,
             int width, int hasBias, int wide, int outputs) {
    linear<8>(x, w, bias, out, rows, in, width, hasBias, wide, outputs);
}
