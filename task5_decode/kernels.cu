// The cache's k and v are each [batch, slots, kvHeads * dim]; lengths and positions
// are one int for each sequence, in device memory.
//
// Go launches these kernels by their names, so keep extern "C". You may change names and
// parameters, together with decode.go. More kernels are welcome.

// Copies k and v [batch, count, width], width = kvHeads * dim, to the slots from
// at[sequence] on.
extern "C" __global__ void update(const float *k, const float *v, const int *at, float *cacheK,
                                  float *cacheV, int count, int slots, int width) {
    // Yours to write.
}

// out = softmax(q * k^T / sqrt(dim)) * v, with q and out [batch, heads, dim].
extern "C" __global__ void decode(const float *q, const float *k, const float *v,
                                  const int *lengths, float *out, int slots, int heads, int kvHeads,
                                  int dim) {
    // Yours to write.
}
