// Attention in separate kernels: a softmax and two matrix products. Version 2. What is new: the
// threads of a block share, through shared memory, what they read from device memory.
// The host defines BLOCK, the most threads that a block of softmax may have, and for the products
// SIDE: a block has SIDE * SIDE threads, and as many results.

// ---- softmax -------------------------------------------------------------------
//
// Softmax of x [outer, len, inner] along the dimension len, written to y.
//
// Block b handles row b = o * inner + j; element i of row (o, j) lies at
// x[(o * len + i) * inner + j]. A row is read from device memory once and written once: between the
// two it is staged in shared memory. The host launches a power of two of threads (the trees below
// halve it), with len floats of dynamic shared memory.

extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax(const float *__restrict__ x, float *__restrict__ y, int len, int inner) {
    extern __shared__ float row[];   // the row: x, then exp(x - max)
    __shared__ float partial[BLOCK]; // one value a thread, for the trees

    const int thread = threadIdx.x;
    const int threads = blockDim.x;
    const int o = blockIdx.x / inner;
    const int j = blockIdx.x % inner;
    const size_t first = (size_t)o * len * inner + j; // element 0 of this row

    // 1. Stage the row. The threads stride over it, so that neighbours read
    //    neighbours; each keeps the largest value it has seen.
    float largest = -INFINITY;
    for (int i = thread; i < len; i += threads) {
        const float value = x[first + (size_t)i * inner];
        row[i] = value;
        largest = fmaxf(largest, value);
    }
    partial[thread] = largest;
    __syncthreads(); // every thread's maximum is in place before others read it

    // 2. The row's maximum, by a tree: each step folds the upper half of partial
    //    onto the lower half.
    for (int half = threads / 2; half > 0; half /= 2) {
        if (thread < half) {
            partial[thread] = fmaxf(partial[thread], partial[thread + half]);
        }
        __syncthreads(); // the next step reads what this one wrote
    }
    largest = partial[0];
    __syncthreads(); // all have read partial[0] before stage 3 overwrites it

    // 3. Exponentials. With the maximum subtracted no exponent is above 0, so nothing overflows,
    //    and the largest term is exactly 1, so that the sum is never 0. No barrier guards row: a
    //    thread reads back only what it wrote itself, in stage 1 and here.
    float sum = 0.0f;
    for (int i = thread; i < len; i += threads) {
        const float term = expf(row[i] - largest);
        row[i] = term;
        sum += term;
    }
    partial[thread] = sum;
    __syncthreads(); // every thread's sum is in place before others read it

    // 4. The row's sum, by the same tree.
    for (int half = threads / 2; half > 0; half /= 2) {
        if (thread < half) {
            partial[thread] += partial[thread + half];
        }
        __syncthreads(); // the next step reads what this one wrote
    }
    sum = partial[0]; // nothing writes partial from here on: no barrier needed

    // 5. Normalise, and write the row once.
    for (int i = thread; i < len; i += threads) {
        y[first + (size_t)i * inner] = row[i] / sum;
    }
}

// ---- products ------------------------------------------------------------------
//
// c = a * b for a batch of matrices: a [M, K], c [M, N], and b [K, N] or, stored transposed,
// [N, K]. A block computes SIDE x SIDE results, one a thread. It walks along K in steps of SIDE: a
// square of a and a square of b are staged in shared memory, where each of their elements is used
// SIDE times. So device memory is asked for a SIDEth of what version 1 asks for. A multiply-add
// still waits for two loads, though from shared memory.

// One column more than SIDE: neighbours in k then lie in different banks.
typedef float Square[SIDE][SIDE + 1];

// Stages SIDE terms of SIDE lines (rows of a, or columns of b) from (line0, k0) on, one a thread.
// Beyond the matrix come zeros, which add nothing to a sum.
__device__ void stage(Square square, const float *matrix, int line0, int lines, int k0, int depth,
                      size_t lineStride, size_t kStride) {
    // Neighbouring threads read neighbouring addresses, whichever way the matrix is stored.
    const int line = kStride == 1 ? threadIdx.y : threadIdx.x;
    const int k = kStride == 1 ? threadIdx.x : threadIdx.y;
    const bool inside = line0 + line < lines && k0 + k < depth;
    square[k][line] = inside ? matrix[(line0 + line) * lineStride + (k0 + k) * kStride] : 0.0f;
}

// The block's SIDE x SIDE results. bLine and bDepth are the strides of b.
__device__ void multiply(const float *a, const float *b, float *c, int M, int N, int K,
                         size_t bLine, size_t bDepth) {
    __shared__ Square aSquare, bSquare;
    const int row0 = blockIdx.y * SIDE, column0 = blockIdx.x * SIDE;

    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += SIDE) {
        stage(aSquare, a, row0, M, k0, K, K, 1);
        stage(bSquare, b, column0, N, k0, K, bLine, bDepth);
        __syncthreads(); // the squares are complete before anyone reads them
        for (int k = 0; k < SIDE; k++) sum += aSquare[k][threadIdx.y] * bSquare[k][threadIdx.x];
        __syncthreads(); // all have read the squares before the next overwrite them
    }

    const int row = row0 + threadIdx.y, column = column0 + threadIdx.x;
    if (row < M && column < N) c[(size_t)row * N + column] = sum;
}

#include "products.cuh"
