// The attention that a layer of task b4 is given: softmax(q * k^T / sqrt(dim)) * v in float16, sums
// and weights in float32. It is plain and slow: a warp for each query, key by key.
//
//   q, out [batch, heads, seq, dim]      k, v [batch, heads / group, seq, dim]

#include <cuda_fp16.h>

#define PARTS 8 // of a row, 32 numbers each: dim is at most 256

extern "C" __global__ void attend(const __half *q, const __half *k, const __half *v, __half *out,
                                  int seq, int group, int dim, int causal, float scale) {
    const size_t head = blockIdx.x / seq;
    const int token = blockIdx.x % seq, lane = threadIdx.x;
    const size_t row = (head * seq + token) * dim, keys = head / group * seq * dim;
    float query[PARTS] = {}, sum[PARTS] = {}, largest = -INFINITY, weights = 0;
    for (int i = 0; i < PARTS && i * 32 + lane < dim; i++)
        query[i] = scale * __half2float(q[row + i * 32 + lane]);
    for (int key = 0; key < (causal ? token + 1 : seq); key++) {
        const size_t at = keys + (size_t)key * dim;
        float score = 0;
        for (int i = 0; i < PARTS && i * 32 + lane < dim; i++)
            score += query[i] * __half2float(k[at + i * 32 + lane]);
        for (int by = 16; by > 0; by /= 2) score += __shfl_xor_sync(0xffffffffu, score, by);
        const float higher = fmaxf(largest, score);
        const float rescale = expf(largest - higher), weight = expf(score - higher);
        for (int i = 0; i < PARTS && i * 32 + lane < dim; i++)
            sum[i] = sum[i] * rescale + weight * __half2float(v[at + i * 32 + lane]);
        weights = weights * rescale + weight;
        largest = higher;
    }
    for (int i = 0; i < PARTS && i * 32 + lane < dim; i++)
        out[row + i * 32 + lane] = __float2half_rn(sum[i] / weights);
}
