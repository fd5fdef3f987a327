// A Llama's decoding step for one text as one kernel: a token goes in, the next one comes out.
//
// A step reads every weight once, so memory sets its time. Launched one by one, kernels leave
// memory idle while the last sums of the one before are added, sent and read. Here all blocks live
// from the first product to the last, one on each multiprocessor. A block owns a share of the rows
// of every matrix, and one of its warps asks for these in the order of their use, by bulk copies to
// a ring in shared memory, which holds some six microseconds' worth: weights of the next products
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
// with a tag (mail.cuh), so the grid never has to meet. Sums are float32, and so is what a block
// keeps of x. The step ends with a norm, the head, and the search for the largest logit.
//
// A norm costs nothing: what a product multiplies by is x times the norm's gains, and the factor of
// the whole vector multiplies the sums at the end.
//
// persistent.go defines HIDDEN, MLP, HEADS, KV_HEADS, DIM and LAYERS, the model's shape; WARPS of a
// block that calculate; SEGMENT, the numbers of a row that a warp multiplies; SPLITS, parts of the
// keys; SLOT, the halves in a slot of the ring; SLOTS, how many slots there are; FLIGHT, how many
// are being filled at a time; SUMS, how many sums are kept until the block meets; and OWN, the
// numbers of x that a block has at most.

#include "best.cuh"
#include "heads.cuh"

extern "C" __global__ void __launch_bounds__(THREADS + 32, 1)
    llama_step(const uint64_t *addresses, int *token, int *before, int *after, const double *turns,
               uint64_t *x, uint64_t *qkv, uint64_t *parts, uint64_t *mixed, uint64_t *inner,
               float *logits, float *best, int *bestAt, unsigned *arrived, unsigned *launches,
               int vocabulary, int positions, float epsilon) {
    extern __shared__ __align__(128) __half ring[]; // [SLOTS, SLOT]
    __shared__ Gate full[SLOTS], empty[SLOTS];
    __shared__ __half *at[ADDRESSES];
    __shared__ float sums[2][SUMS], squares[segments(HIDDEN)];
    __shared__ Heads heads;
    __shared__ float own[OWN]; // the block's numbers of x, by their place in its share
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Share some = pairsOf(HIDDEN), ofQkv = pairsOf(QKV_ROWS), ofInner = pairsOf(MLP);
    const Share ofHead = pairsOf(vocabulary);
    const int now = before[0], word = token[0]; // now: the token's position

    // A position outside the cache becomes NaN, and nothing is read or counted.
    if (now < 0 || now >= positions) {
        for (int i = ofHead.first + threadIdx.x; i < ofHead.last; i += blockDim.x) logits[i] = NAN;
        return;
    }

    // 0. Weights come from now on.
    for (int i = threadIdx.x; i < ADDRESSES; i += blockDim.x)
        at[i] = reinterpret_cast<__half *>(addresses[i]);
    for (int i = threadIdx.x; i < SLOTS; i += blockDim.x) full[i].setUp(1), empty[i].setUp(WARPS);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); // for the copy engine
    __syncthreads();
    if (warp == WARPS) {
        Asking{ring, full, empty}.askForAll(at, now, vocabulary);
        return;
    }
    Stream stream = {ring, full, empty};
    uint32_t tag = *launches * (2 * LAYERS) + 1; // it rises by 1 with each addition to x
    int half = 0;
    turn(heads.turns, turns, now);

    Rows rows; // the warp's next
    Row gain;
    Vector v; // what comes next is multiplied by
    const auto loadGain = [&](const __half *from) {
        gain.load<HIDDEN>(from + segment<HIDDEN>() * SEGMENT);
    };
    // A norm's factor is for those who end the product.
    const auto normed = [&] {
        const float sum = sumOfWarp(v.squares());
        if (lane == 0 && warp < segments(HIDDEN)) squares[warp] = sum;
        v.scale(gain);
    };
    const auto add = [&](uint32_t tag, auto sumOf, int first, int count) {
        for (int i = first + 2 * threadIdx.x; i < first + count; i += 2 * THREADS) {
            const float a = own[i] += sumOf(i - first), b = own[i + 1] += sumOf(i + 1 - first);
            postPair(x, (some.first + i) / 2, a, b, tag);
        }
    };

    { // a token that is not in the table becomes NaN, which no later step can hide
        const bool known = word >= 0 && word < vocabulary;
        const __half *from = at[EMBEDDING] + (size_t)(known ? word : 0) * HIDDEN;
        for (int i = some.first + threadIdx.x; i < some.last; i += THREADS)
            own[i - some.first] = known ? __half2float(from[i]) : NAN;
        Row row;
        row.load<HIDDEN>(from + segment<HIDDEN>() * SEGMENT);
        v.set(row);
        if (!known) v.at[0][0] = NAN;
    }
    loadGain(at[NORM1]);
    const Attention attention = {&heads, qkv, parts, mixed};
    for (int layer = 0; layer < LAYERS; layer++) {
        __half *const *w = at + layer * OF_LAYER;

        // 1. Queries, keys and values.
        rows.load<HIDDEN>(stream, 0, ofQkv.last - ofQkv.first);
        if (layer > 0) v.receive<HIDDEN>(x, tag - 1);
        normed();
        product<HIDDEN>(
            stream, rows, v, ofQkv.last - ofQkv.first, sums, half,
            [&](const float *sums, int first, int count) {
                const float scale = scaleOf(squares, epsilon);
                for (int i = 2 * threadIdx.x; i < count; i += 2 * THREADS) {
                    const __half2 two = __floats2half2_rn(scale * sumOf<HIDDEN>(sums, i),
                                                          scale * sumOf<HIDDEN>(sums, i + 1));
                    postBits(qkv + (ofQkv.first + first + i) / 2, *(const uint32_t *)&two, tag);
                }
            });

        // 2. Attention. 3. A head's parts together.
        attend(attention, stream, tag, w[KEYS], w[VALUES], now);
        togetherAll(attention, tag, now + 1);

        // 4. The projection.
        rows.load<WIDTH>(stream, 0, some.last - some.first);
        loadGain(w[NORM2]);
        v.receive<WIDTH>(mixed, tag);
        product<WIDTH>(stream, rows, v, some.last - some.first, sums, half,
                       [&](const float *sums, int first, int count) {
                           add(
                               tag, [&](int i) { return sumOf<WIDTH>(sums, i); }, first, count);
                       });
        tag++;

        // 5. The MLP's gate and up: row 2 i of the share is the gate's of number i, row 2 i + 1
        // up's.
        rows.load<HIDDEN>(stream, 0, 2 * (ofInner.last - ofInner.first));
        v.receive<HIDDEN>(x, tag - 1);
        normed();
        product<HIDDEN>(stream, rows, v, 2 * (ofInner.last - ofInner.first), sums, half,
                        [&](const float *sums, int first, int count) {
                            const float scale = scaleOf(squares, epsilon);
                            const auto gated = [&](int row) {
                                const float gate = scale * sumOf<HIDDEN>(sums, row);
                                const float up = scale * sumOf<HIDDEN>(sums, row + 1);
                                return gate / (1.0f + expf(-gate)) *
                                       up; // expf overflows to infinity: 0
                            };
                            for (int i = 4 * threadIdx.x; i < count; i += 4 * THREADS)
                                postPair(inner, (ofInner.first + (first + i) / 2) / 2, gated(i),
                                         gated(i + 2), tag);
                        });

        // 6. Down, and the next norm's gains.
        rows.load<MLP>(stream, 0, some.last - some.first);
        loadGain(layer == LAYERS - 1 ? at[NORM] : w[OF_LAYER + NORM1]);
        v.receive<MLP>(inner, tag);
        product<MLP>(stream, rows, v, some.last - some.first, sums, half,
                     [&](const float *sums, int first, int count) {
                         add(
                             tag, [&](int i) { return sumOf<MLP>(sums, i); }, first, count);
                     });
        tag++;
    }

    // 7. Logits, and the largest.
    Best largest = {-INFINITY, INT32_MAX};
    rows.load<HIDDEN>(stream, 0, ofHead.last - ofHead.first);
    v.receive<HIDDEN>(x, tag - 1);
    normed();
    product<HIDDEN>(
        stream, rows, v, ofHead.last - ofHead.first, sums, half,
        [&](const float *sums, int first, int count) {
            const float scale = scaleOf(squares, epsilon);
            for (int i = threadIdx.x; i < count; i += THREADS) {
                const float value = scale * sumOf<HIDDEN>(sums, i);
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
