// Scores to softmax: scaling and the causal mask. This file is provided; it is an
// example of a kernel as well.
//
// scores [matrices, seqQ, seqK] are changed in place. Each is multiplied by scale;
// with causal, those whose key lies after their query become -infinity, so that
// the softmax gives them a share of exactly 0. The last query sees all keys:
// query i sees the keys 0 … i + seqK - seqQ.
//
// One thread changes one score. n is their number; the last block is partial.
extern "C" __global__ void scale_and_mask(float *scores, long long n, int seqQ, int seqK,
                                          float scale, int causal) {
    const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= n) {
        return; // no barrier follows, so a thread may leave
    }
    const int key = at % seqK;
    const int query = at / seqK % seqQ;
    const bool hidden = causal && key > query + seqK - seqQ;
    scores[at] = hidden ? -INFINITY : scores[at] * scale;
}
