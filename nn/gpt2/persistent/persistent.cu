// GPT-2's decoding step for one text as one kernel: a token goes in, the next one comes out.
//
// A step reads every weight once, so memory sets its time; and it is a chain of some sixty
// products, each of which needs all of the one before. Launched one by one, each begins by asking
// for its weights, and memory idles while the last sums are added. Here all blocks live from the
// first product to the last, one on each multiprocessor. A block owns a share of the rows of every
// matrix. One of its warps asks for these in the order of their use, by bulk copies to a ring in
// shared memory: weights of the next products arrive while blocks wait for one another.
//
//   1. norm, product: q; and k and v, which go to the cache
//   2. attention of a part of the keys of one head
//   3. a head's parts combined, by one warp of the grid
//   4. product: added to x
//   5. norm, product, GELU
//   6. product: added to x
//
// After each of them blocks wait for the others' results: a few KB, in the L2 cache. These are sent
// number by number, with tags, so the grid never has to meet. The step ends with a norm, the
// product with the table of tokens, and the search for the largest logit.
//
// persistent.go defines WIDTH, INNER, HEADS and LAYERS, the model's shape; WARPS of a block that
// calculate; BITS of a weight; SPLITS, parts of a head's keys; HELD, keys that a thread works on at
// a time; OWN, the rows of x that a block has at most; SLOT, the weights in a slot of the ring;
// SLOTS, how many slots there are; ROUND, how many are read before they are filled again; and
// FLIGHT, how many are being filled at a time.

#include "best.cuh"
#include "heads.cuh"

// --- The step

extern "C" __global__ void __launch_bounds__(THREADS + 64, 1)
    persistent_step(const uint64_t *addresses, int *tokens, int *before, int *after, uint64_t *x,
                    uint64_t *qkv, uint64_t *parts, uint64_t *mixed, uint64_t *inner, float *logits,
                    float *best, int *bestAt, unsigned *arrived, unsigned *launches, int vocabulary,
                    int positions, float epsilon) {
    extern __shared__ __align__(128) Weight ring[]; // [SLOTS, SLOT], and room for Old behind it
    __shared__ Mbarrier full[SLOTS], empty[SLOTS], ofOld[2];
    __shared__ float *at[ADDRESSES];
    __shared__ float sums[2 * 32 * MOST];
    __shared__ float2 ofWarps[WARPS];
    __shared__ Means means;
    __shared__ Fresh fresh;
    __shared__ float own[OWN]; // the block's rows of x, by their number in its share
    constexpr int LONGEST = INNER > WIDTH ? INNER : WIDTH;
    __shared__ __align__(16) float vector[LONGEST]; // what a product multiplies by
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Share some = shareOf(WIDTH), ofQkv = shareOf(3 * WIDTH), ofInner = shareOf(INNER);
    const int token = tokens[0], now = before[0]; // now: the token's position

    // A token or a position outside its table becomes NaN, and nothing is read or counted.
    if (token < 0 || token >= vocabulary || now < 0 || now >= positions) {
        const Share share = shareOf(vocabulary);
        for (int i = share.first + threadIdx.x; i < share.last; i += blockDim.x) logits[i] = NAN;
        return;
    }

    // 0. Weights come from now on.
    for (int i = threadIdx.x; i < ADDRESSES; i += blockDim.x)
        at[i] = reinterpret_cast<float *>(addresses[i]);
    if (threadIdx.x < SLOTS) full[threadIdx.x].init(1), empty[threadIdx.x].init(1);
    if (threadIdx.x < 2) ofOld[threadIdx.x].init(1);
    fence_mbarrier_init();
    __syncthreads();
    const Old old((float *)(ring + SLOTS * SLOT), ofOld, now);
    if (warp > WARPS) {
        old.ask(at);
        return;
    }
    if (warp == WARPS) {
        if (lane == 0) askForAll(ring, full, empty, at, now, vocabulary);
        return;
    }
    Stream stream = {ring, full, empty};
    uint32_t tag = *launches * (2 * LAYERS) + 1; // it rises by 1 with each addition to x
    int half = 0;

    Spread<WIDTH> sum; // x
    {
        const Weight *word = (const Weight *)at[TOKENS] + (size_t)token * WIDTH;
        const float *place = at[POSITIONS] + (size_t)now * WIDTH;
        for (int i = some.first + threadIdx.x; i < some.last; i += THREADS)
            own[i - some.first] = (float)word[i] + place[i];
        Spread<WIDTH> other;
        sum.loadPairs((const Pair *)word), other.load(place);
#pragma unroll
        for (int i = 0; i < sum.EACH; i++)
            sum.at[i].x += other.at[i].x, sum.at[i].y += other.at[i].y;
    }
    // What a phase needs besides what it waits for is asked for before it waits.
    Norm norm;
    norm.gain.load(at[GAIN1]), norm.shift.load(at[SHIFT1]);
    float bias = firstOf<WIDTH>(at[QKV_BIAS], ofQkv);

    Vector v;  // what comes next is multiplied by
    Rows rows; // and the warp's first
    const auto normed = [&] {
        norm.apply(vector, sum, ofWarps, epsilon);
        meetBlock(); // vector is there
        v.load(vector);
    };
    const auto add = [&](int row, float value) {
        post(x + row, own[row - some.first] += value, tag);
    };
    const Attention attention = {&means, &fresh, &old, qkv, parts, mixed};
    for (int layer = 0; layer < LAYERS; layer++) {
        float *const *w = at + layer * OF_LAYER;
        float *keys = w[KEYS], *values = w[VALUES];

        // 1. Queries, keys and values.
        rows.loadFirst<WIDTH>(stream, ofQkv);
        if (layer > 0) sum.receive(x, tag - 1);
        normed();
        product<WIDTH>(
            stream, rows, v, ofQkv, w[QKV_BIAS], bias, sums, half, [&](int row, float value) {
                post(qkv + row, value, tag);
                if (row >= WIDTH)
                    (row < 2 * WIDTH ? keys : values)[(size_t)now * WIDTH + row % WIDTH] = value;
            });
        bias = firstOf<WIDTH>(w[OUT_BIAS], some);
        Kept kept;
        kept.take(old, layer);

        // 2. Attention. 3. A head's parts together.
        attend(attention, tag, keys, values, now, kept);
        togetherAll(attention, tag, now + 1);

        // 4. The projection.
        Spread<WIDTH> mean;
        rows.loadFirst<WIDTH>(stream, some);
        mean.receive(mixed, tag);
        mean.store(vector);
        meetBlock(); // vector is there
        v.load(vector);
        product<WIDTH>(stream, rows, v, some, w[OUT_BIAS], bias, sums, half, add);
        tag++;
        norm.gain.load(w[GAIN2]), norm.shift.load(w[SHIFT2]);
        bias = firstOf<WIDTH>(w[UP_BIAS], ofInner);

        // 5. The MLP's first matrix.
        rows.loadFirst<WIDTH>(stream, ofInner);
        sum.receive(x, tag - 1);
        normed();
        product<WIDTH>(stream, rows, v, ofInner, w[UP_BIAS], bias, sums, half,
                       [&](int row, float value) { post(inner + row, gelu(value), tag); });
        bias = firstOf<INNER>(w[DOWN_BIAS], some);

        // 6. Its second, and the next norm's gains.
        Spread<INNER> all;
        rows.loadFirst<INNER>(stream, some);
        all.receive(inner, tag);
        all.store(vector);
        meetBlock(); // vector is there
        v.load(vector + segment<INNER>() * WIDTH, segmentFloats<INNER>());
        product<INNER>(stream, rows, v, some, w[DOWN_BIAS], bias, sums, half, add);
        tag++;
        const bool end = layer == LAYERS - 1;
        norm.gain.load(end ? at[GAIN] : w[OF_LAYER + GAIN1]);
        norm.shift.load(end ? at[SHIFT] : w[OF_LAYER + SHIFT1]);
        if (!end) bias = firstOf<WIDTH>(w[OF_LAYER + QKV_BIAS], ofQkv);
    }

    // 7. Logits, and the largest.
    rows.loadFirst<WIDTH>(stream, shareOf(vocabulary));
    sum.receive(x, tag - 1);
    normed();
    Best largest = {-INFINITY, INT32_MAX};
    product<WIDTH>(
        stream, rows, v, shareOf(vocabulary), 0, 0, sums, half, [&](int row, float value) {
            logits[row] = value;
            largest = better(largest, value == value ? Best{value, row} : Best{INFINITY, -1});
        });
    if (!bestOfGrid(largest, best, bestAt, arrived)) return;

    // 8. All other blocks have read before and tokens.
    tokens[0] = largest.column;
    if (now + 1 < positions) tokens[now + 1] = largest.column; // where it stays
    before[0] = now + 1, after[0] = now + 2;
    *launches += 1, *arrived = 0;
}
