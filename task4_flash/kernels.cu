// out = softmax(q * k^T / sqrt(dim)) * v, in one kernel. For each head, q and out
// are [seqQ, dim], k and v are [seqK, dim], one head after another in memory.
//
// A block handles BR queries of one head and walks over that head's keys, BC at a
// time. attention.go defines the macros BR and BC.
//
// Go launches this kernel by its name, so keep extern "C". You may change the name and
// the parameters, together with attention.go.
extern "C" __global__ void flash(const float *q, const float *k, const float *v, float *out,
                                 int seqQ, int seqK, int dim, int causal) {
    // Yours to write.
}
