// The gradients of out = softmax(q * k^T / sqrt(DIM)) * v, the plain way: P and dS are written to
// memory, a number for each pair of a query and a key, and each gradient is a product with one of
// them. For each head, q, out, dOut and dq are [seqQ, DIM], lse is [seqQ], k, v, dk and dv are
// [seqK, DIM], and p and dS [seqQ, seqK], one head after another. group query heads in a row share
// a key head.

// pairs: a thread for each pair of a query and a key; y is the query's row in all heads.
extern "C" __global__ void pairs(const float *q, const float *k, const float *v, const float *out,
                                 const float *lse, const float *dOut, float *p, float *dS, int seqQ,
                                 int seqK, int group, int causal, float scale) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y % seqQ;
    if (j >= seqK) return;
    const size_t row = blockIdx.y, key = (size_t)(blockIdx.y / seqQ / group) * seqK + j;
    float score = 0.0f, dP = 0.0f, d = 0.0f;
    for (int x = 0; x < DIM; x++) {
        const float g = dOut[row * DIM + x];
        score += q[row * DIM + x] * k[key * DIM + x];
        dP += g * v[key * DIM + x];
        d += g * out[row * DIM + x];
    }
    const bool sees = !causal || j <= i + seqK - seqQ; // else lse may be -Inf
    const float one = sees ? expf(score * scale - lse[row]) : 0.0f;
    p[row * seqK + j] = one;
    dS[row * seqK + j] = sees ? one * (dP - d) : 0.0f;
}

// keys: a block for each key of a key head, a thread for each number of its dk and dv.
extern "C" __global__ void keys(const float *q, const float *dOut, const float *p, const float *dS,
                                float *dk, float *dv, int seqQ, int seqK, int group, float scale) {
    const int j = blockIdx.x, x = threadIdx.x;
    float sumK = 0.0f, sumV = 0.0f;
    for (int n = 0; n < group * seqQ; n++) { // the queries of all heads that read this one
        const size_t row = (size_t)blockIdx.y * group * seqQ + n;
        sumK += dS[row * seqK + j] * q[row * DIM + x];
        sumV += p[row * seqK + j] * dOut[row * DIM + x];
    }
    const size_t at = ((size_t)blockIdx.y * seqK + j) * DIM + x;
    dk[at] = sumK * scale;
    dv[at] = sumV;
}

// queries: a block for each query of a head, a thread for each number of its dq.
extern "C" __global__ void queries(const float *k, const float *dS, float *dq, int seqQ, int seqK,
                                   int group, float scale) {
    const size_t row = (size_t)blockIdx.y * seqQ + blockIdx.x;
    const size_t keyHead = (size_t)(blockIdx.y / group) * seqK * DIM;
    float sum = 0.0f;
    for (int j = 0; j < seqK; j++)
        sum += dS[row * seqK + j] * k[keyHead + (size_t)j * DIM + threadIdx.x];
    dq[row * DIM + threadIdx.x] = sum * scale;
}
