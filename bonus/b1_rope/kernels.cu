// out = softmax(rot(q) * rot(k)^T / sqrt(dim)) * v, in one kernel. For each head, q and out are
// [seqQ, dim], k and v are [seqK, dim], one head after another in memory, and start[b] is the
// position of the first query of sequence b. log2Base is the binary logarithm of the base.
//
// Go launches this kernel by its name, so keep extern "C". You may change the name and the
// parameters, together with rope.go. Begin with your kernel of task 4.
extern "C" __global__ void rope(const float *q, const float *k, const float *v, const int *start,
                                float *out, int heads, int seqQ, int seqK, int dim, int causal,
                                int neighbours, double log2Base) {
    // Yours to write.
}
