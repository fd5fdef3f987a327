// What a layer's projection is turned into: queries and keys rotated by their positions, keys and
// values where they belong.
//
//   qkv [batch, count, (heads + 2 * kvHeads) * dim]     before [batch]     turns [dim / 2]
//   q   [batch, heads, count, dim]
//   k, v: a token's head kvHead of sequence b is at b * sequence + kvHead * head + at * token,
//   where
//        `at` is its place in this pass, or, bySlot, its position. A position of slots or more is
//        not written.
//
// Token i of sequence b has the position p = before[b] + i. The pair (x[j], x[j + dim / 2]) of each
// of its heads is turned by the angle p * turns[j], in whole turns. The host gives turns, so a
// scaled rotation such as Llama 3's is no concern of this kernel.

#include <cuda_fp16.h>
#include <early.h>

constexpr int SHARE = 4;

// A thread turns the same two pairs, j and j + 1, of up to SHARE heads: the angles are theirs in
// common, and cost more than the rest. A block has threads of one token.
extern "C" __global__ void rotate(const __half *qkv, __half *q, __half *k, __half *v,
                                  const int *before, const double *turns, int count, int heads,
                                  int kvHeads, int dim, long long sequence, long long head,
                                  long long token, int bySlot, int slots) {
    const int half = dim / 2, all = heads + 2 * kvHeads, pairs = half / 2;
    const unsigned row = blockIdx.x, at = blockIdx.y * blockDim.x + threadIdx.x;
    const int j = at % pairs * 2, first = at / pairs * SHARE;
    const double each[2] = {turns[j], turns[j + 1]};
    waitForInputs(); // nothing above reads what a kernel wrote
    if (first >= all) return;
    const int b = row / count, i = row % count, position = before[b] + i;
    const int slot = bySlot ? position : i;

    float2 sine, cosine;
    // In double: in float, a position of 10 000 would leave an error of some thousandths.
    const double angle[2] = {position * each[0], position * each[1]};
    sincospif((float)(2.0 * (angle[0] - rint(angle[0]))), &sine.x, &cosine.x);
    sincospif((float)(2.0 * (angle[1] - rint(angle[1]))), &sine.y, &cosine.y);

    const __half *from = qkv + ((size_t)row * all + first) * dim + j;
    float2 x[SHARE], y[SHARE];
#pragma unroll
    for (int s = 0; s < SHARE; s++) {
        if (first + s >= all) break;
        x[s] = __half22float2(*(const __half2 *)(from + s * dim));
        y[s] = __half22float2(*(const __half2 *)(from + s * dim + half));
    }
#pragma unroll
    for (int s = 0; s < SHARE; s++) {
        const int h = first + s;
        if (h >= all) break;
        if (h < heads + kvHeads) {
            const float2 a = x[s], c = y[s];
            x[s] = make_float2(a.x * cosine.x - c.x * sine.x, a.y * cosine.y - c.y * sine.y);
            y[s] = make_float2(c.x * cosine.x + a.x * sine.x, c.y * cosine.y + a.y * sine.y);
        }
        __half *to;
        if (h < heads) {
            to = q + (((size_t)b * heads + h) * count + i) * dim;
        } else {
            if (bySlot && (slot < 0 || slot >= slots)) break;
            to = (h < heads + kvHeads ? k : v) + b * sequence + (h - heads) % kvHeads * head +
                 slot * token;
        }
        *(__half2 *)(to + j) = __floats2half2_rn(x[s].x, x[s].y);
        *(__half2 *)(to + j + half) = __floats2half2_rn(y[s].x, y[s].y);
    }
}
