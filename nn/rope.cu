// Rotary positions: x [batch, count, heads * dim], in place. Token i of sequence b
// has position p = before[b] + i. The pair (x[j], x[j + dim / 2]) of each of its
// heads is turned by the angle p / base^(2 j / dim). One launch may handle two tensors:
// blockIdx.y says which one a block has. defines.go defines HEADS, the number of heads
// that a thread turns by one angle.

#include <early.h>

extern "C" __global__ void rope(float *first, float *second, const int *before, int batch,
                                int count, int heads, int dim, double log2Base) {
    const int half = dim / 2;
    const int groups = (heads + HEADS - 1) / HEADS;
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int j = at % half;
    const int head0 = at / half % groups * HEADS;
    const size_t token = at / half / groups; // of all sequences

    // The angle in turns, in double: in float, a position of 10 000 would leave an error
    // of some thousandths. Whole turns do not count.
    const double each = exp2(-2.0 * j / dim * log2Base) * 0.15915494309189535;
    waitForInputs(); // nothing above reads what a kernel wrote
    if (at >= (size_t)batch * count * groups * half) return;
    const double position = before[token / count] + (int)(token % count);
    const double turns = position * each;
    float sine, cosine;
    sincospif((float)(2.0 * (turns - rint(turns))), &sine, &cosine);

    float *x = blockIdx.y == 0 ? first : second;
    float *pair = x + (token * heads + head0) * dim + j;
    for (int head = head0; head < min(head0 + HEADS, heads); head++, pair += dim) {
        const float a = pair[0], b = pair[half];
        pair[0] = a * cosine - b * sine;
        pair[half] = b * cosine + a * sine;
    }
}

// The same where queries and keys differ in heads, and a model has its own frequencies: at each
// position, pair j turns by turns[j] whole turns. blockIdx.y says which of the two a block has.
extern "C" __global__ void rope_turns(float *q, float *k, const int *before, const double *turns,
                                      int batch, int count, int heads, int kvHeads, int dim) {
    const int half = dim / 2;
    const int own = blockIdx.y == 0 ? heads : kvHeads;
    const int groups = (own + HEADS - 1) / HEADS;
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int j = at % half;
    const int head0 = at / half % groups * HEADS;
    const size_t token = at / half / groups; // of all sequences
    const double each = turns[j];            // no kernel writes frequencies
    waitForInputs();
    if (at >= (size_t)batch * count * groups * half) return;
    const double position = before[token / count] + (int)(token % count);
    const double angle = position * each; // in turns, of which whole ones do not count
    float sine, cosine;
    sincospif((float)(2.0 * (angle - rint(angle))), &sine, &cosine);

    float *x = blockIdx.y == 0 ? q : k;
    float *pair = x + (token * own + head0) * dim + j;
    for (int head = head0; head < min(head0 + HEADS, own); head++, pair += dim) {
        const float a = pair[0], b = pair[half];
        pair[0] = a * cosine - b * sine;
        pair[half] = b * cosine + a * sine;
    }
}
