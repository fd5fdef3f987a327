// heads.cuh: attention of one token to a cache. Blocks share out the keys; warps, a block's.
#pragma once

#include "vector.cuh"

constexpr int SHARING = HEADS / KV_HEADS;               // query heads that share keys and values
constexpr int LANES = DIM / 8, TEAMS = THREADS / LANES; // a team has eight numbers of a key a lane
static_assert(LANES > 0 && LANES <= 32 && 32 % LANES == 0, "a head has 8, 16, …, 256 numbers");

// What a block knows of its part of the keys, in shared memory.
struct Heads {
    __align__(16) float query[SHARING][DIM];            // rotated, times log2(e) / √DIM
    __align__(16) __half key[DIM], value[DIM];          // the token's own, the key rotated
    __align__(16) float scores[SHARING][KEYS_OF_CHUNK]; // then weights, relative to that of `most`
    float most[SHARING], weight[SHARING], rescale[SHARING];
    float2 turns[DIM / 2]; // cosine and sine of the token's position, for each pair
};

// What blocks tell each other about heads, with tags: the projection, two halves a word, [QKV_ROWS
// / 2]; of each part and head, [UNITS, SHARING, 2 + DIM], the largest score, the sum of weights
// relative to it, and the values' sums; and the mean of all parts' values, a vector [WIDTH].
struct Attention {
    Heads *heads;
    uint64_t *qkv, *parts, *mixed;

    __device__ uint64_t *part(int unit, int head) const {
        return parts + (unit * SHARING + head) * (2 + DIM);
    }
};

// For the whole step: in double, for in float a position of 10 000 would leave an error of some
// thousandths.
__device__ void turn(float2 *turns, const double *each, int now) {
    for (int j = threadIdx.x; j < DIM / 2; j += THREADS) {
        const double angle = now * each[j];
        sincospif((float)(2.0 * (angle - rint(angle))), &turns[j].y, &turns[j].x);
    }
}

__device__ float2 receiveTwo(const uint64_t *from, uint32_t tag) {
    const uint32_t bits = __float_as_uint(receive(from, tag));
    return __half22float2(*(const __half2 *)&bits);
}

// Receives a part's queries and, where the part has the token itself, its key and value, which go
// to the cache as well. Pairs (j, j + DIM / 2) are rotated.
__device__ void receiveHeads(Attention all, uint32_t tag, Part part, __half *keys, __half *values,
                             int now) {
    constexpr int EACH = DIM / 4; // a thread has the numbers j, j + 1, and as many half a head on
    Heads &heads = *all.heads;
    const bool mine = part.last > now;
    const float root = 1.4426950408889634f / sqrtf(DIM);
    for (int i = threadIdx.x; i < (SHARING + 2 * mine) * EACH; i += THREADS) {
        const int head = i / EACH, j = i % EACH * 2;
        const int row = (head < SHARING ? part.head * SHARING + head
                                        : HEADS + (head - SHARING) * KV_HEADS + part.head) *
                        DIM;
        float2 x = receiveTwo(all.qkv + (row + j) / 2, tag);
        float2 y = receiveTwo(all.qkv + (row + j + DIM / 2) / 2, tag);
        if (head <= SHARING) {
            const float2 a = heads.turns[j], b = heads.turns[j + 1], u = x, v = y;
            x = make_float2(u.x * a.x - v.x * a.y, u.y * b.x - v.y * b.y);
            y = make_float2(v.x * a.x + u.x * a.y, v.y * b.x + u.y * b.y);
        }
        if (head < SHARING) {
            *(float2 *)&heads.query[head][j] = make_float2(x.x * root, x.y * root);
            *(float2 *)&heads.query[head][j + DIM / 2] = make_float2(y.x * root, y.y * root);
            continue;
        }
        const __half2 low = __floats2half2_rn(x.x, x.y), high = __floats2half2_rn(y.x, y.y);
        __half *here = head == SHARING ? heads.key : heads.value;
        __half *there =
            (head == SHARING ? keys : values) + (size_t)now * KV_WIDTH + part.head * DIM;
        *(__half2 *)(here + j) = low, *(__half2 *)(here + j + DIM / 2) = high;
        *(__half2 *)(there + j) = low, *(__half2 *)(there + j + DIM / 2) = high;
    }
}

// The scores of so many keys, the first of which are old.
__device__ void score(Heads &heads, const __half *keys, int old, int count) {
    const int lane = threadIdx.x % LANES, team = threadIdx.x / LANES;
    float q[SHARING][8];
#pragma unroll
    for (int h = 0; h < SHARING; h++)
#pragma unroll
        for (int e = 0; e < 8; e += 4)
            *(float4 *)&q[h][e] = *(const float4 *)&heads.query[h][lane * 8 + e];
    for (int first = 0; first < count; first += TEAMS) {
        const int at = first + team;
        Eight k = {};
        if (at < count) k = ((const Eight *)(at < old ? keys + at * DIM : heads.key))[lane];
        float sum[SHARING] = {};
#pragma unroll
        for (int p = 0; p < 4; p++) {
            const float2 two = k.two(p);
#pragma unroll
            for (int h = 0; h < SHARING; h++)
                sum[h] = fmaf(q[h][2 * p], two.x, fmaf(q[h][2 * p + 1], two.y, sum[h]));
        }
#pragma unroll
        for (int h = 0; h < SHARING; h++) {
#pragma unroll
            for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
                sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], lanes);
            if (lane == 0 && at < count) heads.scores[h][at] = sum[h];
        }
    }
}

__device__ float largestOfWarp(float value) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    return value;
}

// Scores become weights, a head a warp. `more`: there were keys before.
__device__ void softmax(Heads &heads, int count, bool more) {
    const int lane = threadIdx.x % 32;
    for (int h = threadIdx.x / 32; h < SHARING; h += WARPS) {
        const float before = more ? heads.most[h] : -INFINITY;
        float most = before, sum = 0;
        for (int i = lane; i < count; i += 32) most = fmaxf(most, heads.scores[h][i]);
        most = largestOfWarp(most);
        for (int i = lane; i < count; i += 32)
            sum += heads.scores[h][i] = exp2f(heads.scores[h][i] - most);
        sum = sumOfWarp(sum);
        __syncwarp(); // all lanes have read what was before
        if (lane > 0) continue;
        const float by = more ? exp2f(before - most) : 0;
        heads.rescale[h] = by, heads.most[h] = most;
        heads.weight[h] = more ? fmaf(heads.weight[h], by, sum) : sum;
    }
}

// A thread's numbers of values' sums: two of a head at a time.
constexpr int PAIRS = SHARING * DIM / 2, ITEMS = (PAIRS + THREADS - 1) / THREADS;
__device__ void addValues(float2 (&sum)[ITEMS], const Heads &heads, const __half *values, int old,
                          int count) {
#pragma unroll
    for (int n = 0; n < ITEMS; n++) {
        const int i = threadIdx.x + n * THREADS, h = i / (DIM / 2), d = i % (DIM / 2) * 2;
        if (i >= PAIRS) break;
        const auto add = [&](const __half *value, int at) {
            const float2 two = __half22float2(*(const __half2 *)(value + d));
            sum[n].x = fmaf(heads.scores[h][at], two.x, sum[n].x);
            sum[n].y = fmaf(heads.scores[h][at], two.y, sum[n].y);
        };
        sum[n].x *= heads.rescale[h], sum[n].y *= heads.rescale[h];
#pragma unroll 8
        for (int at = 0; at < old; at++) add(values + at * DIM, at);
        if (old < count) add(heads.value, old);
    }
}

// The block's parts.
__device__ void attend(Attention all, Stream &stream, uint32_t tag, __half *keys, __half *values,
                       int now) {
    Heads &heads = *all.heads;
    for (int unit = blockIdx.x; unit < UNITS; unit += gridDim.x) {
        const Part part = partOf(unit, now + 1);
        if (part.first >= part.last) continue;
        if (unit != blockIdx.x) meetBlock(); // nobody reads heads any more
        receiveHeads(all, tag, part, keys, values, now);
        meetBlock(); // queries are there
        float2 sum[ITEMS] = {};
        for (int first = part.first; first < part.last; first += KEYS_OF_CHUNK) {
            const int count = min(KEYS_OF_CHUNK, part.last - first), old = min(count, now - first);
            const __half *chunk = old > 0 ? stream.next() : stream.ring;
            if (first > part.first) meetBlock(); // nobody reads weights any more
            score(heads, chunk, old, count);
            meetBlock(); // scores are there
            softmax(heads, count, first > part.first);
            meetBlock(); // weights are there
            addValues(sum, heads, chunk + KEYS_OF_CHUNK * DIM, old, count);
            if (old > 0) stream.take();
        }
#pragma unroll
        for (int n = 0; n < ITEMS; n++) {
            const int i = threadIdx.x + n * THREADS, h = i / (DIM / 2), d = i % (DIM / 2) * 2;
            if (i >= PAIRS) break;
            uint64_t *to = all.part(unit, h);
            post(to + 2 + d, sum[n].x, tag), post(to + 2 + d + 1, sum[n].y, tag);
            if (d == 0) post(to, heads.most[h], tag), post(to + 1, heads.weight[h], tag);
        }
    }
}

// Combines the parts of 64 numbers of a head, in one warp: two for each lane.
__device__ void together(Attention all, int head, int first, uint32_t tag, int keys) {
    const int there = (keys + keysOfPart(keys) - 1) / keysOfPart(keys); // parts that have keys
    const int lane = threadIdx.x % 32, d = first + 2 * lane;
    const auto part = [&](int s) { return all.part(head / SHARING * SPLITS + s, head % SHARING); };
    Two sums[SPLITS] = {}, weight = {};
    for (bool complete = false; !complete;) {
        complete = true;
        if (lane < there && !weight.has(tag)) weight.ask(part(lane));
#pragma unroll
        for (int s = 0; s < SPLITS; s++)
            if (s < there && d < DIM && !sums[s].has(tag)) sums[s].ask(part(s) + 2 + d);
        if (lane < there) complete = weight.has(tag);
#pragma unroll
        for (int s = 0; s < SPLITS; s++)
            complete = complete && (s >= there || d >= DIM || sums[s].has(tag));
    }
    __syncwarp();
    const float2 its = lane < there ? weight.numbers() : make_float2(-INFINITY, 0);
    const float most = largestOfWarp(its.x);
    const float by = lane < there ? exp2f(its.x - most) : 0;
    const float weights = sumOfWarp(by * its.y);
    float2 sum = make_float2(0, 0);
#pragma unroll
    for (int s = 0; s < SPLITS; s++) {
        const float factor = __shfl_sync(0xffffffffu, by, s);
        if (s >= there) continue;
        sum.x = fmaf(factor, sums[s].numbers().x, sum.x);
        sum.y = fmaf(factor, sums[s].numbers().y, sum.y);
    }
    if (d < DIM) postPair(all.mixed, (head * DIM + d) / 2, sum.x / weights, sum.y / weights, tag);
}
// What falls to the block: first to blocks that have no part of their own. Its last warp does it,
// which may have no row of the next product.
__device__ void togetherAll(Attention all, uint32_t tag, int keys) {
    constexpr int OF_HEAD = (DIM + 63) / 64;
    if (threadIdx.x / 32 != WARPS - 1) return;
    const int first = blockIdx.x + gridDim.x - UNITS % gridDim.x; // modulo the grid's size
    for (int job = first < gridDim.x ? first : first - gridDim.x; job < HEADS * OF_HEAD;
         job += gridDim.x)
        together(all, job / OF_HEAD, job % OF_HEAD * 64, tag, keys);
}
