// A linear layer for few rows, as in a decoding step: out = x * w^T + bias.
//
// x [rows, in], w [width, in], out [rows, width]. Up to three layers of one x run
// together; blockIdx.y says which. Every weight is read once and used for all rows, so
// the time is the time it takes to read w. What counts is to have enough loads in flight.
// A block computes COLUMNS columns of out, and its threads split `in` between them. Each
// reads VEC neighbours of every column, then those blockDim.x * VEC further on. So what
// it reads of x is used for COLUMNS columns, and all its loads are independent.

// linear.go repeats COLUMNS. defines.go defines BLOCK, the most threads a block has, and
// what happens to x * w^T + bias: GELU; ADD, which adds it to what is already in out; or
// SWIGLU of two layers, silu(x * w0^T) * (x * w1^T), without a bias.

#define WARP 32

#include <early.h>

__device__ float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

__device__ float finish(float value, const float *out, int then) {
    if (then == ADD) return *out + value;
    if (then != GELU) return value;
    const float u = 0.7978845608028654f * (value + 0.044715f * value * value * value);
    return value * sigmoid(2.0f * u); // as in elementwise.cu
}

// VEC neighbours, 16 bytes at once if rows start at multiples of 16 bytes.
template <int VEC> __device__ void load(float (&d)[VEC], const float *from) {
    if (VEC == 4) {
        const float4 v = *(const float4 *)from;
        d[0] = v.x, d[1] = v.y, d[2] = v.z, d[3] = v.w;
    } else {
        d[0] = *from;
    }
}

// The same for weights. Nobody reads them again, so the caches need not keep them.
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

// The sum over all the block's warps for one column and row.
template <int SUMS> __device__ float total(const float (&partial)[BLOCK / WARP][SUMS], int of) {
    float sum = 0.0f;
    for (int warp = 0; warp < blockDim.x / WARP; warp++) sum += partial[warp][of];
    return sum;
}

// ROWS rows, from row0 on, times COLUMNS columns. A row or column beyond the last repeats
// the last one, and is not written. DEEP is how many pieces of each column are on
// their way. For SWIGLU, columns come from its two layers in turn.
template <int ROWS, int COLUMNS, int DEEP, int VEC>
__device__ void multiply(const float *x, const float *w, const float *other, const float *bias,
                         float *out, int row0, int rows, int in, int width, int then, int column0) {
    __shared__ float partial[BLOCK / WARP][ROWS * COLUMNS];
    const int stride = blockDim.x * VEC; // terms that the block reads at a time
    const float *xs[ROWS], *ws[COLUMNS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) xs[r] = x + (size_t)min(row0 + r, rows - 1) * in;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
        const int column = then == SWIGLU ? column0 + c / 2 : column0 + c;
        const float *matrix = then == SWIGLU && c % 2 == 1 ? other : w;
        ws[c] = matrix + (size_t)min(column, width - 1) * in;
    }

    // 1. Ask for the first weights.
    float weight[DEEP][COLUMNS][VEC];
    int k = threadIdx.x * VEC;
#pragma unroll
    for (int d = 0; d < DEEP; d++)
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            loadOnce<VEC>(weight[d][c], ws[c] + k + d * stride, k + d * stride < in);

    waitForInputs(); // no kernel writes weights
    // 2. Add up this thread's share of the sums. Each weight, once used, makes room for
    //    the one DEEP strides further on. So the loads never stop, and the compiler
    //    cannot move them down to where they are used.
    float sum[ROWS][COLUMNS] = {};
    while (k < in) {
#pragma unroll
        for (int d = 0; d < DEEP; d++, k += stride) {
            const int here = min(k, in - VEC); // beyond the end weights are zeros
            const int next = k + DEEP * stride;
            float value[ROWS][VEC];
#pragma unroll
            for (int r = 0; r < ROWS; r++) load<VEC>(value[r], xs[r] + here);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int i = 0; i < VEC; i++) sum[r][c] += value[r][i] * weight[d][c][i];
                loadOnce<VEC>(weight[d][c], ws[c] + next, next < in);
            }
        }
    }

    // 3. Add the shares up within each warp: then every lane has its warp's sum.
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            float whole = sum[r][c];
#pragma unroll
            for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
                whole += __shfl_xor_sync(0xffffffffu, whole, lanes);
            if (lane == r * COLUMNS + c) partial[threadIdx.x / WARP][lane] = whole;
        }
    __syncthreads(); // each warp's sums are in place before others read them

    // 4. Each thread writes one result.
    const int outputs = then == SWIGLU ? COLUMNS / 2 : COLUMNS;
    const int r = threadIdx.x / outputs, c = threadIdx.x % outputs;
    const int row = row0 + r, column = column0 + c;
    if (r >= ROWS || row >= rows || column >= width) return;
    float *at = out + (size_t)row * width + column;
    if (then == SWIGLU) {
        const float gate = total(partial, r * COLUMNS + 2 * c);
        *at = gate * sigmoid(gate) * total(partial, r * COLUMNS + 2 * c + 1);
    } else {
        *at = finish(total(partial, threadIdx.x) + (bias ? bias[column] : 0.0f), at, then);
    }
}

// Blocks with the same columns and different rows are neighbours, so that the second
// finds the weights in the L2 cache.
template <int ROWS, int COLUMNS, int DEEP>
__device__ void linear(const float *x, const float *w, const float *other, const float *bias,
                       float *out, int rows, int in, int width, int then, int wide) {
    static_assert(ROWS * COLUMNS <= WARP, "a lane keeps one sum of its warp");
    const int groups = (rows + ROWS - 1) / ROWS;
    const int row0 = blockIdx.x % groups * ROWS;
    const int column0 = blockIdx.x / groups * (then == SWIGLU ? COLUMNS / 2 : COLUMNS);
    if (wide)
        multiply<ROWS, COLUMNS, DEEP, 4>(x, w, other, bias, out, row0, rows, in, width, then,
                                         column0);
    else
        multiply<ROWS, COLUMNS, DEEP, 1>(x, w, other, bias, out, row0, rows, in, width, then,
                                         column0);
}

// This block's layer, of up to three.
template <class T> __device__ T *mine(T *first, T *second, T *third) {
    return blockIdx.y == 0 ? first : blockIdx.y == 1 ? second : third;
}

// Two blocks per processor: this leaves the compiler registers to load all of x at once.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    linear_1(const float *x, const float *w0, const float *w1, const float *w2, const float *bias0,
             const float *bias1, const float *bias2, float *out0, float *out1, float *out2,
             int rows, int in, int width, int hasBias, int then, int wide) {
    linear<1, 2, 1>(x, mine(w0, w1, w2), w1, hasBias ? mine(bias0, bias1, bias2) : 0,
                    mine(out0, out1, out2), rows, in, width, then, wide);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    linear_2(const float *x, const float *w0, const float *w1, const float *w2, const float *bias0,
             const float *bias1, const float *bias2, float *out0, float *out1, float *out2,
             int rows, int in, int width, int hasBias, int then, int wide) {
    linear<2, 4, 1>(x, mine(w0, w1, w2), w1, hasBias ? mine(bias0, bias1, bias2) : 0,
                    mine(out0, out1, out2), rows, in, width, then, wide);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    linear_4(const float *x, const float *w0, const float *w1, const float *w2, const float *bias0,
             const float *bias1, const float *bias2, float *out0, float *out1, float *out2,
             int rows, int in, int width, int hasBias, int then, int wide) {
    linear<4, 4, 2>(x, mine(w0, w1, w2), w1, hasBias ? mine(bias0, bias1, bias2) : 0,
                    mine(out0, out1, out2), rows, in, width, then, wide);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    linear_8(const float *x, const float *w0, const float *w1, const float *w2, const float *bias0,
             const float *bias1, const float *bias2, float *out0, float *out1, float *out2,
             int rows, int in, int width, int hasBias, int then, int wide) {
    linear<8, 4, 1>(x, mine(w0, w1, w2), w1, hasBias ? mine(bias0, bias1, bias2) : 0,
                    mine(out0, out1, out2), rows, in, width, then, wide);
}
