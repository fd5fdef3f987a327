// A linear layer for the simulator: out = x * w^T + bias, each result by a thread of its own. On a
// GPU neighbours would read addresses far apart; in the simulator nothing is faster, for no thread
// waits for another.

// defines.go defines what happens to x * w^T + bias, as for linear.cu.

__device__ float dot(const float *x, const float *w, int in) {
    float sums[4] = {}; // as many that do not wait for each other
    int k = 0;
    for (; k + 4 <= in; k += 4)
#pragma unroll
        for (int i = 0; i < 4; i++) sums[i] += x[k + i] * w[k + i];
    for (; k < in; k++) sums[0] += x[k] * w[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// x [rows, in], w [width, in], out [rows, width]. then is 0, ADD, or SWIGLU: silu(x * w^T) * (x *
// other^T), without a bias.
extern "C" __global__ void linear_alone(const float *x, const float *w, const float *other,
                                        const float *bias, float *out, int rows, int in, int width,
                                        bool biased, int then) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * width) return;
    const float *row = x + i / width * in;
    const size_t column = i % width;
    float value = dot(row, w + column * in, in);
    if (biased) value += bias[column];
    if (then == ADD) value += out[i];
    if (then == SWIGLU) value *= dot(row, other + column * in, in) / (1.0f + expf(-value));
    out[i] = value;
}
