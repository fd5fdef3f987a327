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

// half.go launches this kernel early; see linear.cu.
__device__ void waitForInputs() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
}

// A block has one token, and a thread one pair of one of its heads.
extern "C" __global__ void rotate(const __half *qkv, __half *q, __half *k, __half *v,
                                  const int *before, const double *turns, int count, int heads,
                                  int kvHeads, int dim, long long sequence, long long head,
                                  long long token, int bySlot, int slots) {
    const int half = dim / 2, all = heads + 2 * kvHeads;
    const unsigned row = blockIdx.x, at = blockIdx.y * blockDim.x + threadIdx.x;
    const int j = at % half, h = at / half;
    const double each = turns[j];
    waitForInputs(); // nothing above reads what a kernel wrote
    if (h >= all) return;
    const int b = row / count, i = row % count, position = before[b] + i;

    const __half *from = qkv + ((size_t)row * all + h) * dim + j;
    float x = __half2float(from[0]), y = __half2float(from[half]);
    if (h < heads + kvHeads) {
        // In double: in float, a position of 10 000 would leave an error of some thousandths.
        const double angle = position * each;
        float sine, cosine;
        sincospif((float)(2.0 * (angle - rint(angle))), &sine, &cosine);
        const float turned = x * cosine - y * sine;
        y = y * cosine + x * sine, x = turned;
    }
    __half *to;
    if (h < heads) {
        to = q + (((size_t)b * heads + h) * count + i) * dim;
    } else {
        const int kvHead = (h - heads) % kvHeads, slot = bySlot ? position : i;
        if (bySlot && (slot < 0 || slot >= slots)) return;
        to = (h < heads + kvHeads ? k : v) + b * sequence + kvHead * head + slot * token;
    }
    to[j] = __float2half_rn(x);
    to[j + half] = __float2half_rn(y);
}
