// out = softmax(q * k^T / sqrt(dim)) * v, in one kernel. For each head, q and out
// are [seqQ, dim], k and v are [seqK, dim], one head after another in memory.
//
// A block has BR queries of one head and walks over that head's keys, BC at a
// time; BR and BC are macros that attention.go defines.
//
// Go launches this kernel by its name, so keep extern "C"; name and parameters are
// yours to change together with attention.go.
extern "C" __global__ void flash(const float *q, const float *k, const float *v, float *out,
                                 int seqQ, int seqK, int dim, int causal) {
    // Yours to write.
}
