// Attention in separate kernels: a softmax and two matrix products.
//
// Version 1, the textbook's: a thread for each result of a product, a thread for each row of
// softmax. Threads share nothing, so there is no barrier; what one needs it reads from device
// memory (or from a cache on the way), however many others need it, too.

// ---- softmax -------------------------------------------------------------------
//
// Softmax of x [outer, len, inner] along the dimension len, written to y. Row r = o * inner + j
// has its element i at x[(o * len + i) * inner + j]. A row is read twice, and y, which holds the
// exponentials until their sum is known, is written twice and read once. With inner = 1
// neighbouring threads read addresses that lie len apart: each of their reads is of 32 bytes, of
// which only a cache can save the rest for the next elements.
extern "C" __global__ void softmax(const float *x, float *y, int rows, int len, int inner) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const size_t first = (size_t)(row / inner) * len * inner + row % inner; // element 0

    // 1. The row's maximum.
    float largest = -INFINITY;
    for (int i = 0; i < len; i++) largest = fmaxf(largest, x[first + (size_t)i * inner]);

    // 2. Exponentials, and their sum. With the maximum subtracted no exponent is above 0, so
    //    nothing overflows, and the largest term is exactly 1, so that the sum is never 0.
    float sum = 0.0f;
    for (int i = 0; i < len; i++) {
        const float term = expf(x[first + (size_t)i * inner] - largest);
        y[first + (size_t)i * inner] = term;
        sum += term;
    }

    // 3. Normalise.
    for (int i = 0; i < len; i++) y[first + (size_t)i * inner] /= sum;
}

// ---- products ------------------------------------------------------------------
//
// c = a * b for a batch of matrices: a [M, K], c [M, N], and b [K, N] or, stored transposed,
// [N, K]. A thread computes one element of c: it reads 2 K numbers for K multiply-adds. So
// every element of a is asked for N times, and every element of b M times.

// The result in (row, column) of c. Term k of column n of b lies at n * bLine + k * bDepth.
__device__ void multiply(const float *a, const float *b, float *c, int M, int N, int K,
                         size_t bLine, size_t bDepth) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column =
        blockIdx.x * blockDim.x + threadIdx.x; // neighbours have neighbouring columns
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += a[(size_t)row * K + k] * b[column * bLine + k * bDepth];
    c[(size_t)row * N + column] = sum;
}

// b is stored transposed, [N, K]: the scores q * k^T. Neighbouring threads read b K apart.
extern "C" __global__ void gemm_nt(const float *a, const float *b, float *c, int M, int N, int K) {
    const size_t batch = blockIdx.z;
    multiply(a + batch * M * K, b + batch * N * K, c + batch * M * N, M, N, K, K, 1);
}

// b is stored as it is, [K, N]: the weighted sum of v. Neighbouring threads read neighbours of b.
extern "C" __global__ void gemm_nn(const float *a, const float *b, float *c, int M, int N, int K) {
    const size_t batch = blockIdx.z;
    multiply(a + batch * M * K, b + batch * K * N, c + batch * M * N, M, N, K, 1, N);
}
