// Softmax of x [outer, len, inner] along the dimension len, written to y, which
// has the same shape and does not overlap x.
//
// The grid has one block for each of the outer * inner rows: block b handles row
// b = o * inner + j. Element i of row (o, j) is x[(o * len + i) * inner + j].
//
// Go launches this kernel by its name, so keep extern "C". You may change the
// parameters, together with attention.go.
extern "C" __global__ void softmax(const float *x, float *y, int len, int inner) {
    // Yours to write.
}

// c [batch, M, N] = a [batch, M, K] times b, which is stored transposed as [batch, N, K].
extern "C" __global__ void gemm_nt(const float *a, const float *b, float *c, int M, int N, int K) {
    // Yours to write.
}

// c [batch, M, N] = a [batch, M, K] times b [batch, K, N].
extern "C" __global__ void gemm_nn(const float *a, const float *b, float *c, int M, int N, int K) {
    // Yours to write.
}
