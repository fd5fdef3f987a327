// Two caches, written and read: halves, and KIVI's four bits.
//
//   halves    k, v [batch, kvHeads, slots, dim]
//   KIVI      codes [batch, kvHeads, slots, dim / 2]: byte c of a token has channel c in its low
//   half,
//             channel c + dim / 2 in its high one; a number is code * scale + low
//             K: scale and low for each channel of a group of GROUP tokens [batch, kvHeads, slots /
//             GROUP, dim] V: for each token [batch, kvHeads, slots] open [batch, kvHeads, GROUP,
//             dim]: the tokens of the group that is not full, halves
//
// lengths [batch] are those before the step: the new token's slot. qkv [batch, (heads + 2 kvHeads)
// * dim].

#include <cuda_fp16.h>

constexpr int GROUP = 16;

// Writes keys and values to rows of places: slots of a cache, or GROUP of what is open.
extern "C" __global__ void append(__half *k, __half *v, const float *qkv, const int *lengths,
                                  int batch, int heads, int kvHeads, int dim, int slots, int rows) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x, width = kvHeads * dim;
    if (at >= batch * width) return;
    const int b = at / width, i = at % width, length = lengths[b];
    if (length < 0 || length >= slots) return; // a graph may be launched once too often
    const float *from = qkv + (size_t)b * (heads + 2 * kvHeads) * dim + heads * dim + i;
    const size_t to = (((size_t)b * kvHeads + i / dim) * rows + length % rows) * dim + i % dim;
    k[to] = __float2half(from[0]);
    v[to] = __float2half(from[width]);
}

struct Range {
    float low = INFINITY, high = -INFINITY;
    __device__ void take(__half x) {
        low = fminf(low, __half2float(x));
        high = fmaxf(high, __half2float(x));
    }
    __device__ __half scale() const { return __float2half((high - low) / 15); }
};

__device__ unsigned char code(__half x, float low, __half scale) {
    const float by = __half2float(scale);
    if (!(by > 0)) return 0;
    return (unsigned char)fminf(fmaxf(rintf((__half2float(x) - low) / by), 0), 15);
}

// Makes codes of an open group that the new token has filled; of others nothing. A block for each
// head of a sequence: a thread has two channels of K, and a token of V.
extern "C" __global__ void close_group(unsigned char *k, unsigned char *v, __half *kScales,
                                       __half *kLows, __half *vScales, __half *vLows,
                                       const __half *kOpen, const __half *vOpen, const int *lengths,
                                       int dim, int slots) {
    const size_t head = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    const int length = lengths[blockIdx.y];
    if (length < 0 || length >= slots || (length + 1) % GROUP != 0) return;
    const int group = length / GROUP, half = dim / 2;
    const size_t token = head * slots + (size_t)group * GROUP;
    kOpen += head * GROUP * dim;
    vOpen += head * GROUP * dim;
    for (int c = threadIdx.x; c < half; c += blockDim.x) {
        Range a, b;
        for (int t = 0; t < GROUP; t++) {
            a.take(kOpen[t * dim + c]);
            b.take(kOpen[t * dim + c + half]);
        }
        const size_t at = (head * (slots / GROUP) + group) * dim + c;
        kScales[at] = a.scale(), kScales[at + half] = b.scale();
        kLows[at] = __float2half(a.low), kLows[at + half] = __float2half(b.low);
        for (int t = 0; t < GROUP; t++)
            k[(token + t) * half + c] = code(kOpen[t * dim + c], a.low, a.scale()) |
                                        code(kOpen[t * dim + c + half], b.low, b.scale()) << 4;
    }
    for (int t = threadIdx.x; t < GROUP; t += blockDim.x) {
        Range r;
        for (int c = 0; c < dim; c++) r.take(vOpen[t * dim + c]);
        vScales[token + t] = r.scale(), vLows[token + t] = __float2half(r.low);
        for (int c = 0; c < half; c++)
            v[(token + t) * half + c] = code(vOpen[t * dim + c], r.low, r.scale()) |
                                        code(vOpen[t * dim + c + half], r.low, r.scale()) << 4;
    }
}

// One query's attention; key(t, c) and value(t, c) are channel c of token t. A thread computes
// scores of whole keys, then one channel of the output at a time.
template <class Key, class Value>
__device__ void attention(float *out, const float *query, int tokens, int dim, Key key,
                          Value value) {
    extern __shared__ float scores[];
    for (int t = threadIdx.x; t < tokens; t += blockDim.x) {
        float sum = 0;
        for (int c = 0; c < dim; c++) sum += query[c] * key(t, c);
        scores[t] = sum / sqrtf((float)dim);
    }
    __syncthreads();
    float largest = -INFINITY;
    for (int t = 0; t < tokens; t++) largest = fmaxf(largest, scores[t]);
    for (int c = threadIdx.x; c < dim; c += blockDim.x) {
        float sum = 0, weights = 0;
        for (int t = 0; t < tokens; t++) {
            const float weight = expf(scores[t] - largest);
            weights += weight;
            sum += weight * value(t, c);
        }
        out[c] = sum / weights;
    }
}

extern "C" __global__ void attend(float *out, const float *qkv, const __half *k, const __half *v,
                                  const int *lengths, int heads, int kvHeads, int dim, int slots) {
    const int head = blockIdx.x, b = blockIdx.y, tokens = min(max(lengths[b], 0) + 1, slots);
    const size_t first = ((size_t)b * kvHeads + head / (heads / kvHeads)) * slots * dim;
    attention(
        out + ((size_t)b * heads + head) * dim,
        qkv + ((size_t)b * (heads + 2 * kvHeads) + head) * dim, tokens, dim,
        [=](int t, int c) { return __half2float(k[first + (size_t)t * dim + c]); },
        [=](int t, int c) { return __half2float(v[first + (size_t)t * dim + c]); });
}

extern "C" __global__ void attend_kivi(float *out, const float *qkv, const unsigned char *k,
                                       const unsigned char *v, const __half *kScales,
                                       const __half *kLows, const __half *vScales,
                                       const __half *vLows, const __half *kOpen,
                                       const __half *vOpen, const int *lengths, int heads,
                                       int kvHeads, int dim, int slots) {
    const int head = blockIdx.x, b = blockIdx.y, half = dim / 2;
    const int tokens = min(max(lengths[b], 0) + 1, slots), closed = tokens / GROUP * GROUP;
    const size_t kv = (size_t)b * kvHeads + head / (heads / kvHeads), first = kv * slots;
    const auto coded = [=](const unsigned char *codes, int t, int c) {
        const int pair = codes[(first + t) * half + c % half];
        return (float)(c < half ? pair % 16 : pair / 16);
    };
    const auto open = [=](const __half *rows, int t, int c) {
        return __half2float(rows[(kv * GROUP + t % GROUP) * dim + c]);
    };
    attention(
        out + ((size_t)b * heads + head) * dim,
        qkv + ((size_t)b * (heads + 2 * kvHeads) + head) * dim, tokens, dim,
        [=](int t, int c) {
            if (t >= closed) return open(kOpen, t, c);
            const size_t at = (kv * (slots / GROUP) + t / GROUP) * dim + c;
            return coded(k, t, c) * __half2float(kScales[at]) + __half2float(kLows[at]);
        },
        [=](int t, int c) {
            if (t >= closed) return open(vOpen, t, c);
            return coded(v, t, c) * __half2float(vScales[first + t]) +
                   __half2float(vLows[first + t]);
        });
}
