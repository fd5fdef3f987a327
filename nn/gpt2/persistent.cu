// GPT-2's decoding step for one text as one kernel: a token goes in, the next one comes out.
//
// A step reads every weight once, so memory sets its time; and it is a chain of some sixty
// products, each of which needs all of the one before. Launched one by one, each begins by asking
// for its weights, and memory idles while the last sums are added. Here all blocks live from the
// first product to the last, one on each multiprocessor. A block owns a share of the rows of every
// matrix. It asks for these in the order of their use, by bulk copies to a ring in shared memory,
// as soon as there is room: weights of the next products arrive while blocks wait for one another.
//
//   1. norm, product: q; and k and v, which go to the cache
//   2. attention of a part of the keys of one head
//   3. the parts together, product: added to x
//   4. norm, product, GELU
//   5. product: added to x
//
// after each of which the grid meets; at the end norm, the product with the table of tokens, and
// the largest. What blocks exchange between two meetings is a few KB, in the L2 cache.
//
// persistent.go defines WIDTH, INNER, HEADS and LAYERS, the model's shape; WARPS of a block;
// SPLITS, parts of a head's keys; SLOT, the floats of a slot of the ring; SLOTS, how many there
// are; and ROUND, how many of them are read before they are filled again.

#include <stdint.h>
#ifdef WHOLE_GRID
#include <cooperative_groups.h>
#endif

constexpr int DIM = WIDTH / HEADS, THREADS = WARPS * 32;
constexpr int REFILLER =
    32; // the thread that asks for weights: of warp 1, for warp 0 has enough to do
constexpr int PIECES = (WIDTH / 4 + 31) / 32; // float4 of a vector [WIDTH] that a lane holds
constexpr int HELD = 4;                       // keys and values that a lane asks for early
constexpr int FEWEST = 16;                    // keys that are worth a part of their own

// Where things are: for each layer, then for the model.
enum { GAIN1, SHIFT1, QKV, QKV_BIAS, OUT, OUT_BIAS, GAIN2, SHIFT2, UP, UP_BIAS, DOWN, DOWN_BIAS };
enum { KEYS = DOWN_BIAS + 1, VALUES, OF_LAYER };
enum { TOKENS = LAYERS * OF_LAYER, POSITIONS, GAIN, SHIFT, ADDRESSES };

// --- Weights

// It opens once for each of its phases 0, 1, 0, 1 ..., when all expected arrivals and bytes are
// there.
struct Gate {
    uint64_t state;

    __device__ uint32_t where() const { return (uint32_t)__cvta_generic_to_shared(this); }
    __device__ void setUp(int arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(where()), "r"(arrivals));
    }
    __device__ void arriveWith(int bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :
                     : "r"(where()), "r"(bytes)
                     : "memory");
    }
    // Before phase 0, phase 1 counts as past.
    __device__ void pass(int phase) {
        for (uint32_t open = 0; !open;)
            asm volatile("{\n"
                         ".reg .pred opened;\n"
                         "mbarrier.try_wait.parity.shared::cta.b64 opened, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, opened;\n"
                         "}"
                         : "=r"(open)
                         : "r"(where()), "r"(phase)
                         : "memory");
    }
};

// Asks the L2 cache for what somebody will read soon. Both are multiples of 16.
__device__ void prefetch(const void *from, int bytes) {
    if (bytes > 0)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(from), "r"(bytes));
}

// The block's rows of a matrix.
struct Share {
    int first, last;
};
__device__ Share shareOf(unsigned rows) {
    return {(int)(rows * blockIdx.x / gridDim.x), (int)(rows * (blockIdx.x + 1) / gridDim.x)};
}

// Rows of a length that make a chunk: what is copied at once, to one slot. A round has at most 32.
__host__ __device__ constexpr int tall(int in) {
    return SLOT / in < 32 / ROUND ? SLOT / in : 32 / ROUND;
}

// The block's rows of all matrices in the order of their use, as chunks 0, 1, 2 ... Chunk n goes to
// slot n % SLOTS. A chunk never has rows of two matrices.
//
// What comes next, in shared memory; one thread uses it.
struct Next {
    int chunk, matrix, in; // in: how long the matrix's rows are
    Share left;            // of these
};
// Fills the slots that are free: up to chunk `until`. ring is [SLOTS, SLOT], full [SLOTS].
__device__ __noinline__ void refill(Next *next, int until, float *ring, Gate *full,
                                    float *const *addresses, int vocabulary) {
    for (; next->chunk < until; next->chunk++) {
        while (next->left.first == next->left.last) { // the block may have no row of a matrix
            if (next->matrix == 4 * LAYERS) return;
            const int kind = ++next->matrix % 4, rows = kind == 0   ? 3 * WIDTH
                                                        : kind == 2 ? INNER
                                                                    : WIDTH;
            next->in = kind == 3 ? INNER : WIDTH;
            next->left = shareOf(next->matrix == 4 * LAYERS ? vocabulary : rows);
        }
        const int matrix = next->matrix, kind = matrix % 4, in = next->in,
                  slot = next->chunk % SLOTS;
        const int place = kind == 0 ? QKV : kind == 1 ? OUT : kind == 2 ? UP : DOWN;
        const float *w =
            addresses[matrix == 4 * LAYERS ? (int)TOKENS : matrix / 4 * OF_LAYER + place];
        const int count =
            min(kind == 3 ? tall(INNER) : tall(WIDTH), next->left.last - next->left.first);
        full[slot].arriveWith(count * in * 4);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];"
                     :
                     : "r"((uint32_t)__cvta_generic_to_shared(ring + slot * SLOT)),
                       "l"(w + (size_t)next->left.first * in), "r"(count * in * 4),
                       "r"(full[slot].where())
                     : "memory");
        next->left.first += count;
    }
}

// What all threads know of it.
struct Stream {
    Next *next;
    float *ring;
    Gate *full;
    float *const *addresses;
    int vocabulary;
    int taken = 0; // chunks that all of the block are done with

    // Only REFILLER calls it, behind a barrier of the block.
    __device__ void ask() { refill(next, taken + SLOTS, ring, full, addresses, vocabulary); }

    // Row r of those that are not taken, when it is there.
    template <int IN> __device__ const float *row(int r) {
        const int chunk = taken + r / tall(IN), slot = chunk % SLOTS;
        full[slot].pass(chunk / SLOTS & 1);
        return ring + slot * SLOT + r % tall(IN) * IN;
    }
};

// --- Meetings of the grid

// A count that only rises: each block adds 1 when it has written what the others wait for, and goes
// on when all have. The last block of a launch sets it to 0 again.
struct Meeting {
    unsigned *count;
    unsigned target = 0; // when all are there

    // Warp 0 calls it, which writes all that a block hands over.
    __device__ void arrive() {
#ifndef WHOLE_GRID
        __syncwarp(); // all lanes have written, and thread 0 releases that with its own
        if (threadIdx.x == 0)
            asm volatile("red.release.gpu.global.add.u32 [%0], 1;" : : "l"(count) : "memory");
#endif
    }
    // All threads call it. What blocks wrote before they arrived can be read behind it.
    __device__ void wait() {
#ifdef WHOLE_GRID // the same by the library, whose barriers the simulator tells apart one by one
        cooperative_groups::this_grid().sync();
#else
        target += gridDim.x;
        if (threadIdx.x == 0)
            for (unsigned there = 0; there < target;)
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                             : "=r"(there)
                             : "l"(count)
                             : "memory");
        __syncthreads();
#endif
    }
};

// --- Vectors [WIDTH], of which each warp has a copy: lane l holds floats 4 (l + 32 j) and so on.

__device__ float sumOfWarp(float value) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

struct Vector {
    float4 at[PIECES];

    // Whether there is a piece j, of so many floats.
    static __device__ bool has(int j, int floats) {
        return floats == PIECES * 128 || 4 * (threadIdx.x % 32 + 32 * j) < floats;
    }
    __device__ void load(const float *from, int floats = WIDTH) {
#pragma unroll
        for (int j = 0; j < PIECES; j++)
            at[j] = has(j, floats) ? ((const float4 *)from)[threadIdx.x % 32 + 32 * j]
                                   : make_float4(0, 0, 0, 0);
    }
    // A lane's share of the product with floats in shared memory.
    __device__ float times(const float *w, int floats) const {
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
        for (int j = 0; j < PIECES; j++) {
            if (!has(j, floats)) continue;
            const float4 v = ((const float4 *)w)[threadIdx.x % 32 + 32 * j];
            sum.x = fmaf(v.x, at[j].x, sum.x), sum.y = fmaf(v.y, at[j].y, sum.y);
            sum.z = fmaf(v.z, at[j].z, sum.z), sum.w = fmaf(v.w, at[j].w, sum.w);
        }
        return sum.x + sum.y + (sum.z + sum.w);
    }
    // The variance comes from differences from the mean: squares of x itself would lose precision
    // if the mean is large.
    __device__ void normalise(const Vector &gain, const Vector &shift, float epsilon) {
        float sum = 0, squares = 0;
#pragma unroll
        for (int j = 0; j < PIECES; j++) sum += at[j].x + at[j].y + (at[j].z + at[j].w);
        const float mean = sumOfWarp(sum) / WIDTH;
#pragma unroll
        for (int j = 0; j < PIECES; j++) {
            if (!has(j, WIDTH)) continue;
            at[j].x -= mean, at[j].y -= mean, at[j].z -= mean, at[j].w -= mean;
            squares +=
                at[j].x * at[j].x + at[j].y * at[j].y + (at[j].z * at[j].z + at[j].w * at[j].w);
        }
        const float scale = 1.0f / sqrtf(sumOfWarp(squares) / WIDTH + epsilon);
#pragma unroll
        for (int j = 0; j < PIECES; j++) {
            const float4 g = gain.at[j], s = shift.at[j];
            at[j] = make_float4(at[j].x * scale * g.x + s.x, at[j].y * scale * g.y + s.y,
                                at[j].z * scale * g.z + s.z, at[j].w * scale * g.w + s.w);
        }
    }
};

// --- Products

// Segments of a row, of up to WIDTH floats: each is another warp's.
__host__ __device__ constexpr int segments(int in) {
    return (in + WIDTH - 1) / WIDTH;
}
constexpr int MOST = segments(INNER);
static_assert(MOST <= WARPS, "a row of the second matrix of the MLP has a warp for each segment");

// The segment of a vector [IN] that the thread's warp multiplies.
template <int IN> __device__ int segment() {
    return threadIdx.x / 32 % segments(IN);
}
template <int IN> __device__ int segmentFloats() {
    return IN % WIDTH == 0 ? WIDTH : min(WIDTH, IN - segment<IN>() * WIDTH);
}

// The block's rows times x, a warp's segment of a vector [IN]: warp 0 calls then(row, sum, bias), a
// lane for each row. sums is [2, 32, MOST], one half for each round in turn: who writes a half
// again has passed a barrier behind those who read it.
template <int IN, class Then>
__device__ void product(Stream &stream, const Vector &x, Share share, const float *bias,
                        float *sums, int &half, Then then) {
    constexpr int SEGMENTS = segments(IN), GROUPS = WARPS / SEGMENTS, TALL = tall(IN);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = warp / SEGMENTS;
    const int from = segment<IN>() * WIDTH, floats = segmentFloats<IN>();
    for (int row = share.first; row < share.last; row += ROUND * TALL) {
        const int count = min(ROUND * TALL, share.last - row);
        const float add = bias && warp == 0 && lane < count ? bias[row + lane] : 0;
        float *to = sums + (half ^= 1) * 32 * MOST;
        // Two rows at a time, so that neither waits for the other's sums.
#pragma unroll 1
        for (int r = group; r < count && group < GROUPS; r += 2 * GROUPS) {
            const int other = r + GROUPS;
            float sum = x.times(stream.row<IN>(r) + from, floats), sum2 = 0;
            if (other < count) sum2 = x.times(stream.row<IN>(other) + from, floats);
            sum = sumOfWarp(sum), sum2 = sumOfWarp(sum2);
            if (lane == 0) to[r * SEGMENTS + warp % SEGMENTS] = sum;
            if (lane == 0 && other < count) to[other * SEGMENTS + warp % SEGMENTS] = sum2;
        }
        __syncthreads(); // all sums are there, and nobody reads these chunks any more
        stream.taken += (count + TALL - 1) / TALL;
        if (threadIdx.x == REFILLER) stream.ask();
        if (warp == 0 && lane < count) {
            float sum = 0;
#pragma unroll
            for (int s = 0; s < SEGMENTS; s++) sum += to[lane * SEGMENTS + s];
            then(row + lane, sum + add);
        }
    }
}

__device__ float gelu(float value) {
    const float u = 0.7978845608028654f * (value + 0.044715f * value * value * value);
    return value / (1.0f + expf(-2.0f * u));
}

// --- Attention

// A team of LANES threads goes over keys, four floats of each to a lane.
constexpr int LANES = DIM / 4, TEAMS = THREADS / LANES;
static_assert(DIM % 4 == 0 && 32 % LANES == 0, "a head has 4, 8, 16, 32, 64 or 128 floats");

// A part of the keys of a head, which one block goes over.
struct Part {
    int head, first, last;
};
// How many keys a part has, of so many in all; the last may have fewer, or none.
__device__ int keysOfPart(int keys) {
    return max((keys + SPLITS - 1) / SPLITS, FEWEST);
}
__device__ Part partOf(int unit, int keys) {
    const int each = keysOfPart(keys), first = unit % SPLITS * each;
    return {unit / SPLITS, first, min(first + each, keys)};
}

// What a team has of the keys and values of a part, some at a time.
struct Kept {
    float4 k[HELD], v[HELD];

    // Asks for those of [from, to) in the part that begins with key `start`.
    __device__ void load(const float *keys, const float *values, int head, int start, int from,
                         int to) {
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const int key = start + i * TEAMS + threadIdx.x / LANES;
            const size_t at = (size_t)key * WIDTH + head * DIM + threadIdx.x % LANES * 4;
            if (key < from || key >= to) continue;
            k[i] = *(const float4 *)(keys + at), v[i] = *(const float4 *)(values + at);
        }
    }
};

// The mean of values so far: sum / weights, where weights are relative to that of the score `most`.
struct Mean {
    float most = -INFINITY, weights = 0;
    float4 sum = make_float4(0, 0, 0, 0);

    // Makes weights relative to another score.
    __device__ void rescale(float to) {
        const float by = most == to ? 1 : expf(most - to); // both may be -inf
        most = to, weights *= by;
        sum.x *= by, sum.y *= by, sum.z *= by, sum.w *= by;
    }
    __device__ void add(float weight, float4 v) {
        weights += weight;
        sum.x = fmaf(weight, v.x, sum.x), sum.y = fmaf(weight, v.y, sum.y);
        sum.z = fmaf(weight, v.z, sum.z), sum.w = fmaf(weight, v.w, sum.w);
    }
    // Adds the mean of the lane whose number differs in one bit.
    __device__ void merge(int bit) {
        const auto of = [&](float value) { return __shfl_xor_sync(0xffffffffu, value, bit); };
        rescale(fmaxf(most, of(most)));
        weights += of(weights);
        sum.x += of(sum.x), sum.y += of(sum.y), sum.z += of(sum.z), sum.w += of(sum.w);
    }
};

// Adds HELD keys for each team, from `start` on, of those before `last`.
__device__ void attend(Mean &mean, const Kept &kept, float4 q, int start, int last) {
    float score[HELD], most = mean.most;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const bool there = start + i * TEAMS + threadIdx.x / LANES < last;
        const float4 k = there ? kept.k[i] : make_float4(0, 0, 0, 0);
        float sum = q.x * k.x + q.y * k.y + (q.z * k.z + q.w * k.w);
#pragma unroll
        for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        score[i] = sum;
        if (there) most = fmaxf(most, sum);
    }
    mean.rescale(most);
#pragma unroll
    for (int i = 0; i < HELD; i++)
        if (start + i * TEAMS + threadIdx.x / LANES < last)
            mean.add(expf(score[i] - most), kept.v[i]);
}

// --- The step

struct Best {
    float value;
    int column;
};
// The better of two: of equal ones the lower column. NaN comes as infinity in column -1.
__device__ Best better(Best a, Best b) {
    return b.value > a.value || (b.value == a.value && b.column < a.column) ? b : a;
}
__device__ Best bestOfWarp(Best best) {
    for (int lanes = 16; lanes > 0; lanes /= 2)
        best = better(best, Best{__shfl_xor_sync(0xffffffffu, best.value, lanes),
                                 __shfl_xor_sync(0xffffffffu, best.column, lanes)});
    return best;
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    persistent_step(const uint64_t *addresses, int *tokens, int *before, int *after, float *x,
                    float *q, float *parts, float *partWeights, float *inner, float *logits,
                    float *best, int *bestAt, unsigned *arrived, int vocabulary, int positions,
                    float epsilon) {
    extern __shared__ __align__(128) float ring[]; // [SLOTS, SLOT]
    __shared__ Gate full[SLOTS];
    __shared__ Next next;
    __shared__ float *at[ADDRESSES];
    __shared__ float sums[2 * 32 * MOST];
    __shared__ __align__(16) float means[WARPS][DIM], mixed[WIDTH];
    __shared__ float2 weights[WARPS]; // of means: the largest score, and what they add up to
    __shared__ float own[WIDTH];      // the block's rows of x, by their number in its share
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const Share some = shareOf(WIDTH), ofQkv = shareOf(3 * WIDTH), ofInner = shareOf(INNER);
    const int token = tokens[0], now = before[0]; // now: the token's position
    const Share old = shareOf(now);               // of the tokens before

    // A token or a position outside its table becomes NaN, and nothing is read or counted.
    if (token < 0 || token >= vocabulary || now < 0 || now >= positions) {
        const Share share = shareOf(vocabulary);
        for (int i = share.first + threadIdx.x; i < share.last; i += THREADS) logits[i] = NAN;
        return;
    }

    // 0. Weights come from now on.
    for (int i = threadIdx.x; i < ADDRESSES; i += THREADS)
        at[i] = reinterpret_cast<float *>(addresses[i]);
    if (threadIdx.x < SLOTS) full[threadIdx.x].setUp(1);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"); // for the copy engine
    __syncthreads();
    Stream stream = {&next, ring, full, at, vocabulary};
    if (threadIdx.x == REFILLER) next = {0, -1, 0, {0, 0}}, stream.ask();
    Meeting grid = {arrived};
    int half = 0;

    Vector v, gain, shift; // v: what comes next is multiplied by
    {
        const float *word = at[TOKENS] + (size_t)token * WIDTH;
        const float *place = at[POSITIONS] + (size_t)now * WIDTH;
        for (int i = some.first + threadIdx.x; i < some.last; i += THREADS)
            own[i - some.first] = word[i] + place[i];
        Vector other;
        v.load(word), other.load(place);
#pragma unroll
        for (int j = 0; j < PIECES; j++) {
            v.at[j].x += other.at[j].x, v.at[j].y += other.at[j].y;
            v.at[j].z += other.at[j].z, v.at[j].w += other.at[j].w;
        }
    }
    gain.load(at[GAIN1]), shift.load(at[SHIFT1]);
    __syncthreads(); // own is there

    const int unit0 = blockIdx.x;
    for (int layer = 0; layer < LAYERS; layer++) {
        float *const *w = at + layer * OF_LAYER;
        float *keys = w[KEYS], *values = w[VALUES];

        // 1. Queries, keys and values. Of the next layer's cache the L2 cache is asked for a share.
        if (layer > 0) grid.wait(), v.load(x);
        v.normalise(gain, shift, epsilon);
        product<WIDTH>(stream, v, ofQkv, w[QKV_BIAS], sums, half, [&](int row, float value) {
            float *to = row < WIDTH       ? q + row
                        : row < 2 * WIDTH ? keys + (size_t)now * WIDTH + row - WIDTH
                                          : values + (size_t)now * WIDTH + row - 2 * WIDTH;
            *to = value;
        });
        if (warp == 0) grid.arrive();
        if (threadIdx.x == REFILLER && layer + 1 < LAYERS) {
            const size_t from = (size_t)old.first * WIDTH;
            prefetch(w[OF_LAYER + KEYS] + from, (old.last - old.first) * WIDTH * 4);
            prefetch(w[OF_LAYER + VALUES] + from, (old.last - old.first) * WIDTH * 4);
        }
        // Only the new key is not there yet.
        Kept kept = {};
        const Part mine = partOf(unit0, now + 1);
        if (unit0 < HEADS * SPLITS)
            kept.load(keys, values, mine.head, mine.first, 0, min(mine.last, now));

        // 2. Attention. Warp 0 puts the warps' means together.
        grid.wait();
        for (int unit = unit0; unit < HEADS * SPLITS; unit += gridDim.x) {
            const Part part = partOf(unit, now + 1);
            if (part.first >= part.last) continue;
            float4 query = ((const float4 *)(q + part.head * DIM))[threadIdx.x % LANES];
            const float root = 1.0f / sqrtf(DIM);
            query.x *= root, query.y *= root, query.z *= root, query.w *= root;
            Mean mean;
            for (int start = part.first; start < part.last; start += HELD * TEAMS) {
                const bool early = unit == unit0 && start == part.first;
                kept.load(keys, values, part.head, start, early ? now : 0, part.last);
                attend(mean, kept, query, start, part.last);
            }
#pragma unroll
            for (int bit = LANES; bit < 32; bit *= 2) mean.merge(bit);
            if (unit != unit0) __syncthreads(); // warp 0 has read the means before
            if (lane < LANES) ((float4 *)means[warp])[lane] = mean.sum;
            if (lane == 0) weights[warp] = make_float2(mean.most, mean.weights);
            __syncthreads(); // the warps' means are there
            if (warp > 0) continue;
            const float2 its = lane < WARPS ? weights[lane] : make_float2(-INFINITY, 0);
            float most = its.x;
            for (int lanes = 16; lanes > 0; lanes /= 2)
                most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lanes));
            const float by = expf(its.x - most), all = sumOfWarp(its.y * by);
            if (lane == 0) partWeights[2 * unit] = most, partWeights[2 * unit + 1] = all;
            for (int d = lane; d < (DIM + 31) / 32 * 32; d += 32) {
                float sum = 0;
#pragma unroll
                for (int other = 0; other < WARPS; other++) {
                    const float factor = __shfl_sync(0xffffffffu, by, other);
                    if (d < DIM) sum = fmaf(factor, means[other][d], sum);
                }
                if (d < DIM) parts[unit * DIM + d] = sum;
            }
        }
        if (warp == 0) grid.arrive();

        // 3. A head's parts together, and the projection.
        grid.wait();
        const int there = (now + keysOfPart(now + 1)) / keysOfPart(now + 1); // parts with keys
        for (int i = threadIdx.x; i < WIDTH / 4; i += THREADS) {
            const int head = i * 4 / DIM;
            float2 weight[SPLITS] = {}; // else ptxas keeps registers for them in the whole loop
            float4 part[SPLITS] = {};
            float most = -INFINITY;
#pragma unroll
            for (int s = 0; s < SPLITS; s++) {
                if (s >= there) break;
                weight[s] = ((const float2 *)partWeights)[head * SPLITS + s];
                part[s] = ((const float4 *)(parts + (head * SPLITS + s) * DIM))[i % LANES];
            }
#pragma unroll
            for (int s = 0; s < SPLITS; s++)
                if (s < there) most = fmaxf(most, weight[s].x);
            float all = 0;
            float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
            for (int s = 0; s < SPLITS; s++) {
                if (s >= there) break;
                const float by = expf(weight[s].x - most);
                all = fmaf(by, weight[s].y, all);
                sum.x = fmaf(by, part[s].x, sum.x), sum.y = fmaf(by, part[s].y, sum.y);
                sum.z = fmaf(by, part[s].z, sum.z), sum.w = fmaf(by, part[s].w, sum.w);
            }
            ((float4 *)mixed)[i] = make_float4(sum.x / all, sum.y / all, sum.z / all, sum.w / all);
        }
        __syncthreads(); // mixed is there
        v.load(mixed);
        const auto add = [&](int row, float value) { x[row] = own[row - some.first] += value; };
        product<WIDTH>(stream, v, some, w[OUT_BIAS], sums, half, add);
        if (warp == 0) grid.arrive();
        gain.load(w[GAIN2]), shift.load(w[SHIFT2]);

        // 4. The MLP's first matrix.
        grid.wait();
        v.load(x);
        v.normalise(gain, shift, epsilon);
        product<WIDTH>(stream, v, ofInner, w[UP_BIAS], sums, half,
                       [&](int row, float value) { inner[row] = gelu(value); });
        if (warp == 0) grid.arrive();

        // 5. Its second, and the next norm's gains.
        grid.wait();
        v.load(inner + segment<INNER>() * WIDTH, segmentFloats<INNER>());
        product<INNER>(stream, v, some, w[DOWN_BIAS], sums, half, add);
        if (warp == 0) grid.arrive();
        const bool end = layer == LAYERS - 1;
        gain.load(end ? at[GAIN] : w[OF_LAYER + GAIN1]);
        shift.load(end ? at[SHIFT] : w[OF_LAYER + SHIFT1]);
    }

    // 6. Logits, and the largest.
    grid.wait();
    v.load(x);
    v.normalise(gain, shift, epsilon);
    Best largest = {-INFINITY, INT32_MAX};
    product<WIDTH>(stream, v, shareOf(vocabulary), 0, sums, half, [&](int row, float value) {
        logits[row] = value;
        largest = better(largest, value == value ? Best{value, row} : Best{INFINITY, -1});
    });
    if (warp > 0) return;
    largest = bestOfWarp(largest);

    // 7. Whoever comes last picks the token: all others have read before and tokens.
    unsigned earlier = 0;
    if (lane == 0) {
        best[blockIdx.x] = largest.value, bestAt[blockIdx.x] = largest.column;
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                     : "=r"(earlier)
                     : "l"(arrived)
                     : "memory");
    }
    __syncwarp(); // what lane 0 has come to know, and its own, the other lanes know as well
    earlier = __shfl_sync(0xffffffffu, earlier, 0);
    if (earlier + 1 < grid.target + gridDim.x) return;
    for (int i = lane; i < gridDim.x; i += 32)
        largest = better(largest, Best{__ldcg(best + i), __ldcg(bestAt + i)});
    largest = bestOfWarp(largest);
    if (lane > 0) return;
    tokens[0] = largest.column;
    before[0] = now + 1, after[0] = now + 2;
    *arrived = 0;
}
