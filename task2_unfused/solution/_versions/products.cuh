// The products of the rungs: c = a * b for a batch of matrices, a [M, K], c [M, N], and b [K, N]
// or, stored transposed, [N, K]. A rung has multiply, which computes a block's results. From
// 3_registers on these are TILE x TILE. The block walks along K in steps of DEPTH: a slab of a and
// a slab of b are staged in shared memory, where each of their elements is used TILE times.

// b is stored transposed, [N, K]: the scores q * k^T.
extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
    gemm_nt(const float *a, const float *b, float *c, int M, int N, int K) {
    const size_t batch = blockIdx.z;
    multiply(a + batch * M * K, b + batch * N * K, c + batch * M * N, M, N, K, K, 1);
}

// b is stored as it is, [K, N]: the weighted sum of v.
extern "C" __global__ void __launch_bounds__(SIDE *SIDE)
    gemm_nn(const float *a, const float *b, float *c, int M, int N, int K) {
    const size_t batch = blockIdx.z;
    multiply(a + batch * M * K, b + batch * K * N, c + batch * M * N, M, N, K, 1, N);
}
