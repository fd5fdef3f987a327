// A Llama's decoding step for one text as one kernel: a token goes in, the next one comes out.
//
// A step reads every weight once, so memory sets its time. Launched one by one, kernels leave
// memory idle while the last sums of the one before are added, sent and read. Here all blocks live
// from the first product to the last, one on each multiprocessor. A block owns a share of the rows
// of every matrix, and one of its warps asks for these in the order of their use, by bulk copies to
// a ring in shared memory, which holds 6 to 9 microseconds' worth: weights of the next products
// arrive while blocks wait for one another. Old keys and values come the same way.
//
//   1. norm, product: q, k and v
//   2. attention of a part of the keys to the query heads that share them; the token's own key and
//      value go to the cache
//   3. a head's parts combined, by one or two warps of the grid
//   4. product: added to x
//   5. norm, product with the gate's rows and up's in turn, SwiGLU
//   6. product: added to x
//
// After each of them blocks wait for the others' results. These are sent as halves, two in a word
// with a tag (mail.cuh), or, of parts of the keys, as floats; so the grid never has to meet. Sums
// are float32, and so is what a block keeps of x. The step ends with a norm, the head, and the
// search for the largest logit.
//
// A norm costs nothing: what a product multiplies by is x times the norm's gains, and the factor of
// the whole vector multiplies the sums at the end.
//
// persistent.go defines HIDDEN, MLP, HEADS, KV_HEADS, DIM and LAYERS, the model's shape; BITS of a
// layer's weights, 16 or 4, and with 4 the GROUPS of a chunk; WARPS of a block that calculate;
// SEGMENT, the numbers of a row that a warp multiplies; SPLITS, parts of the keys; SLOT, the halves
// in a slot of the ring; SLOTS, how many slots there are; FLIGHT, how many are being filled at a
// time; SUMS, how many sums are kept until the block meets; and OWN, the numbers of x that a block
// has at most.

#include "best.cuh"
#include "four.cuh"
#include "halves.cuh"
#include "heads.cuh"

// Products with a layer's matrices, of either kind; vector is for four bits alone.
struct Products {
    Stream &stream;
    Shared &shared;
    Eights *vector;
    float epsilon;
    int half = 0; // of the sums, in turn

    template <int IN, bool NORM, class Then>
    __device__ void times(Source source, int rows, Then then) {
        if constexpr (BITS == 4)
            timesFour<IN, NORM>(stream, source, rows, shared, *vector, epsilon, then);
        else
            timesHalves<IN, NORM>(stream, source, rows, shared, half, epsilon, then);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS + 32, 1)
    llama_step(const __grid_constant__ CUtensorMap cache, const uint64_t *addresses, int *token,
               int *before, int *after, const double *turns, uint64_t *x, uint64_t *qkv,
               uint64_t *parts, uint64_t *mixed, uint64_t *inner, float *logits, float *best,
               int *bestAt, unsigned *arrived, unsigned *launches, int vocabulary, int positions,
               float epsilon) {
    extern __shared__ __align__(128) __half ring[]; // [SLOTS, SLOT], and a vector behind it
    __shared__ Mbarrier full[SLOTS], empty[SLOTS];
    __shared__ __half *at[ADDRESSES];
    __shared__ Shared shared;
    __shared__ Heads heads;
    __shared__ float own[OWN]; // the block's numbers of x, by their place in its share
    const int warp = threadIdx.x / 32;
    const Share some = shareIn(HIDDEN), ofQkv = shareIn(QKV_ROWS), ofInner = shareIn(MLP);
    const Share ofHead = shareIn<2>(vocabulary);
    const int now = before[0], word = token[0]; // now: the token's position

    // A position outside the cache becomes NaN, and nothing is read or counted.
    if (now < 0 || now >= positions) {
        for (int i = ofHead.first + threadIdx.x; i < ofHead.last; i += blockDim.x) logits[i] = NAN;
        return;
    }

    // 0. Weights come from now on.
    for (int i = threadIdx.x; i < ADDRESSES; i += blockDim.x)
        at[i] = reinterpret_cast<__half *>(addresses[i]);
    for (int i = threadIdx.x; i < SLOTS; i += blockDim.x) full[i].init(1), empty[i].init(WARPS);
    fence_mbarrier_init();
    __syncthreads();
    if (warp == WARPS) {
        Asking{ring, full, empty, cache, positions}.askForAll(at, now, vocabulary);
        return;
    }
    Stream stream = {ring, full, empty};
    uint32_t tag = *launches * (2 * LAYERS + 1) + 1; // it rises by 1 when x is new
    turn(heads.turns, turns, now);

    Products products = {stream, shared, (Eights *)(ring + SLOTS * SLOT), epsilon};
    const auto add = [&](auto sumOf, int first, int count) {
        for (int i = 2 * threadIdx.x; i < count; i += 2 * THREADS) {
            const float a = own[first + i] += sumOf(i), b = own[first + i + 1] += sumOf(i + 1);
            postPair(x, (some.first + first + i) / 2, a, b, tag);
        }
    };

    // x is the token's row of the table. One that is not there becomes NaN, which no later step can
    // hide.
    const bool known = word >= 0 && word < vocabulary;
    const __half *row = at[EMBEDDING] + (size_t)(known ? word : 0) * HIDDEN + some.first;
    for (int i = 2 * threadIdx.x; i < some.last - some.first; i += 2 * THREADS) {
        for (int j = i; j < i + 2; j++) own[j] = known ? __half2float(row[j]) : NAN;
        postPair(x, (some.first + i) / 2, own[i], own[i + 1], tag);
    }
    tag++;
    const Attention attention = {&heads, qkv, parts, mixed};
    for (int layer = 0; layer < LAYERS; layer++) {
        __half *const *w = at + layer * OF_LAYER;

        // 1. Queries, keys and values.
        products.times<HIDDEN, true>(
            Source{x, tag - 1, w[NORM1]}, ofQkv.last - ofQkv.first,
            [&](auto sumOf, int first, int count) {
                for (int i = 2 * threadIdx.x; i < count; i += 2 * THREADS) {
                    const __half2 two = __floats2half2_rn(sumOf(i), sumOf(i + 1));
                    postBits(qkv + (ofQkv.first + first + i) / 2, *(const uint32_t *)&two, tag);
                }
            });

        // 2. Attention. 3. A head's parts together.
        attend(attention, stream, tag, w[KEYS], w[VALUES], now);
        togetherAll(attention, tag, now + 1);

        // 4. The projection.
        products.times<WIDTH, false>(Source{mixed, tag}, some.last - some.first, add);
        tag++;

        // 5. The MLP's gate and up.
        products.times<HIDDEN, true>(
            Source{x, tag - 1, w[NORM2]}, 2 * (ofInner.last - ofInner.first),
            [&](auto sumOf, int first, int count) {
                const auto gated = [&](int i) {
                    const float gate = sumOf(gateRow(i)), up = sumOf(upRow(i));
                    return gate / (1.0f + expf(-gate)) * up; // expf overflows to infinity: 0
                };
                for (int i = 2 * threadIdx.x; i < count / 2; i += 2 * THREADS)
                    postPair(inner, (ofInner.first + first / 2 + i) / 2, gated(i), gated(i + 1),
                             tag);
            });

        // 6. Down.
        products.times<MLP, false>(Source{inner, tag}, some.last - some.first, add);
        tag++;
    }

    // 7. Logits, and the largest. The head has halves.
    Best largest = {-INFINITY, INT32_MAX};
    timesHalves<HIDDEN, true>(
        stream, Source{x, tag - 1, at[NORM]}, ofHead.last - ofHead.first, shared, products.half,
        epsilon, [&](auto sumOf, int first, int count) {
            for (int i = threadIdx.x; i < count; i += THREADS) {
                const float value = sumOf(i);
                const int row = ofHead.first + first + i;
                logits[row] = value;
                largest = better(largest, value == value ? Best{value, row} : Best{INFINITY, -1});
            }
        });
    if (!bestOfGrid(largest, best, bestAt, arrived)) return;

    // 8. All other blocks have read before and token.
    token[0] = largest.column;
    before[0] = now + 1, after[0] = now + 2;
    *launches += 1, *arrived = 0;
}
