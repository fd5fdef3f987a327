// The gradients of out = softmax(q * k^T / sqrt(DIM)) * v. For each head, q, out, dOut and dq are
// [seqQ, DIM], lse is [seqQ], and k, v, dk and dv are [seqK, DIM], one head after another in
// memory. group query heads in a row share a key head.
//
// Go compiles this file once for each DIM (64 or 128). You may change that, the names and the
// parameters, together with backward.go.

// keys: a block owns the sums dk and dv of some keys.
extern "C" __global__ void keys(const float *q, const float *k, const float *v, const float *out,
                                const float *lse, const float *dOut, float *dk, float *dv, int seqQ,
                                int seqK, int group, int causal, float scale) {
    // Yours to write.
}

// queries: a block owns the sums dq of some queries.
extern "C" __global__ void queries(const float *q, const float *k, const float *v, const float *out,
                                   const float *lse, const float *dOut, float *dq, int seqQ,
                                   int seqK, int group, int causal, float scale) {
    // Yours to write.
}
