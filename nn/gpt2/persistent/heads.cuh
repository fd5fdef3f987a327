// heads.cuh: attention of one query to a cache. Blocks share out each head's keys, warps a block's.
#pragma once

#include "vector.cuh"

// --- Attention

// A team of LANES threads goes over keys, HELD at a time, four floats of each to a lane.
constexpr int FEWEST = 16; // keys that are worth a part of their own
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
    if (unit >= HEADS * SPLITS) return {0, 0, 0};
    const int each = keysOfPart(keys), first = unit % SPLITS * each;
    return {unit / SPLITS, first, min(first + each, keys)};
}

// The keys and values of earlier tokens that the block's teams begin with, HELD for each. A warp
// that does nothing else requests them a layer early, so that they do not delay the query.
struct Old {
    float *keys, *values; // [HELD, TEAMS, DIM], in shared memory
    Mbarrier *full, *empty;
    int first, count;

    __device__ Old(float *room, Mbarrier *gates, int now)
        : keys(room), values(room + HELD * TEAMS * DIM), full(gates), empty(gates + 1) {
        const Part part = partOf(blockIdx.x, now + 1);
        first = part.head * DIM + part.first * WIDTH;
        count = max(min(min(part.last, now) - part.first, HELD * TEAMS), 0);
    }
    // One warp calls it, for all layers.
    __device__ void ask(float *const *addresses) const {
        for (int layer = 0; layer < LAYERS && count > 0; layer++) {
            float *const *its = addresses + layer * OF_LAYER;
            empty->wait((layer & 1) ^ 1);
            if (threadIdx.x % 32 == 0) full->arrive_expect_tx(2 * count * DIM * 4);
            __syncwarp(); // before they come, it is known how many
            for (int key = threadIdx.x % 32; key < count; key += 32) {
                const int from = first + key * WIDTH;
                bulk_load(keys + key * DIM, its[KEYS] + from, DIM * 4, *full);
                bulk_load(values + key * DIM, its[VALUES] + from, DIM * 4, *full);
            }
        }
    }
};

// What a team has of the keys and values of a part, some at a time.
struct Kept {
    float4 k[HELD], v[HELD];

    // The first of all, in the layer's turn.
    __device__ void take(const Old &old, int layer) {
        if (old.count > 0) old.full->wait(layer & 1);
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const int key = i * TEAMS + threadIdx.x / LANES, at = key * LANES + threadIdx.x % LANES;
            const bool there = key < old.count; // the new token's comes later
            const float4 zero = make_float4(0, 0, 0, 0);
            k[i] = there ? ((const float4 *)old.keys)[at] : zero;
            v[i] = there ? ((const float4 *)old.values)[at] : zero;
        }
        // Read before an arrival says so, which could overtake loads, and more is asked for.
        fence_proxy_async();
    }

    // Asks for those of a part, from a key of it on, of tokens before this one.
    __device__ void load(const float *keys, const float *values, Part part, int ahead, int now) {
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const int key = part.first + ahead + i * TEAMS + threadIdx.x / LANES;
            if (key >= min(part.last, now)) continue;
            const size_t at = (size_t)key * WIDTH + part.head * DIM + threadIdx.x % LANES * 4;
            k[i] = *(const float4 *)(keys + at), v[i] = *(const float4 *)(values + at);
        }
    }
};

// The new token's query, key and value of a head.
struct __align__(16) Fresh {
    float at[3][DIM];
};
__device__ void takeFresh(Kept &kept, const Fresh &fresh, Part part, int ahead, int now) {
    if (now >= part.last) return;
#pragma unroll
    for (int i = 0; i < HELD; i++)
        if (part.first + ahead + i * TEAMS + threadIdx.x / LANES == now) {
            kept.k[i] = ((const float4 *)fresh.at[1])[threadIdx.x % LANES];
            kept.v[i] = ((const float4 *)fresh.at[2])[threadIdx.x % LANES];
        }
}

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

// Adds HELD keys for each team, of those from `start` on and before `last`.
__device__ void add(Mean &mean, const Kept &kept, float4 q, int start, int last) {
    float score[HELD], most = mean.most;
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        const bool there = start + i * TEAMS + threadIdx.x / LANES < last;
        const float4 k = there ? kept.k[i] : make_float4(0, 0, 0, 0);
        score[i] = q.x * k.x + q.y * k.y + (q.z * k.z + q.w * k.w);
#pragma unroll
        for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
            score[i] += __shfl_xor_sync(0xffffffffu, score[i], lanes);
        if (there) most = fmaxf(most, score[i]);
    }
    mean.rescale(most);
#pragma unroll
    for (int i = 0; i < HELD; i++)
        if (start + i * TEAMS + threadIdx.x / LANES < last)
            mean.add(expf(score[i] - most), kept.v[i]);
}

// Of the warps of a block, in shared memory: their largest scores, weights and sums.
struct __align__(16) Means {
    float sum[WARPS][DIM];
    float2 weights[WARPS];
};
// What blocks tell each other about heads, with tags: [3, WIDTH] queries, keys and values of the
// token; of each part, [HEADS, SPLITS, 2 + DIM], the largest score, weights relative to it, and the
// sums; and what comes of all parts, [WIDTH].
struct Attention {
    Means *means; // in shared memory, as is fresh
    Fresh *fresh;
    const Old *old;
    uint64_t *qkv, *parts, *mixed;

    __device__ uint64_t *part(int unit) const { return parts + unit * (2 + DIM); }
};

// The block's parts. Of the first, kept has the first old keys.
__device__ void attend(Attention all, uint32_t tag, const float *keys, const float *values, int now,
                       Kept &kept) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Means &means = *all.means;
    for (int unit = blockIdx.x; unit < HEADS * SPLITS; unit += gridDim.x) {
        const bool first = unit == blockIdx.x;
        const Part part = partOf(unit, now + 1);
        if (part.first >= part.last) continue;
        const uint64_t *head =
            all.qkv + part.head * DIM; // its key and value only where they are used
        for (int i = threadIdx.x; i < (part.last > now ? 3 : 1) * DIM; i += THREADS)
            all.fresh->at[i / DIM][i % DIM] = receive(head + i / DIM * WIDTH + i % DIM, tag);
        meetBlock(); // fresh is there, and the last part's means were read
        if (first && all.old->count > 0 && threadIdx.x == 0)
            all.old->empty->arrive(); // all have kept
        float4 query = ((const float4 *)all.fresh->at[0])[threadIdx.x % LANES];
        const float root = 1.0f / sqrtf(DIM);
        query.x *= root, query.y *= root, query.z *= root, query.w *= root;
        Mean mean;
        for (int ahead = 0; part.first + ahead < part.last; ahead += HELD * TEAMS) {
            if (!first || ahead > 0) kept.load(keys, values, part, ahead, now);
            takeFresh(kept, *all.fresh, part, ahead, now);
            add(mean, kept, query, part.first + ahead, part.last);
        }
#pragma unroll
        for (int bit = LANES; bit < 32; bit *= 2) mean.merge(bit);
        if (lane < LANES) ((float4 *)means.sum[warp])[lane] = mean.sum;
        if (lane == 0) means.weights[warp] = make_float2(mean.most, mean.weights);
        meetBlock(); // the warps' means are there
        for (int d = threadIdx.x; d < DIM; d += THREADS) {
            float most = -INFINITY, weights = 0, sum = 0;
#pragma unroll
            for (int w = 0; w < WARPS; w++) most = fmaxf(most, means.weights[w].x);
#pragma unroll
            for (int w = 0; w < WARPS; w++) { // one that had no key counts 0
                const float by = expf(means.weights[w].x - most);
                weights = fmaf(by, means.weights[w].y, weights);
                sum = fmaf(by, means.sum[w][d], sum);
            }
            post(all.part(unit) + 2 + d, sum, tag);
            if (d == 0) post(all.part(unit), most, tag), post(all.part(unit) + 1, weights, tag);
        }
    }
}

// Combines the parts of a head, in one warp: each lane has two numbers at a time.
__device__ void together(Attention all, int head, uint32_t tag, int keys) {
    const int there = (keys + keysOfPart(keys) - 1) / keysOfPart(keys); // parts that have keys
    for (int d = 2 * (threadIdx.x % 32); d < DIM; d += 64) {
        Two weights[SPLITS] = {}, sums[SPLITS] = {};
        for (bool complete = false; !complete;) {
            complete = true;
#pragma unroll
            for (int s = 0; s < SPLITS; s++) {
                if (s >= there) break;
                const uint64_t *part = all.part(head * SPLITS + s);
                if (!weights[s].has(tag)) weights[s].ask(part);
                if (!sums[s].has(tag)) sums[s].ask(part + 2 + d);
            }
#pragma unroll
            for (int s = 0; s < SPLITS; s++)
                complete = complete && (s >= there || (weights[s].has(tag) && sums[s].has(tag)));
        }
        float most = -INFINITY, weight = 0;
        float2 sum = make_float2(0, 0);
#pragma unroll
        for (int s = 0; s < SPLITS; s++)
            if (s < there) most = fmaxf(most, weights[s].numbers().x);
#pragma unroll
        for (int s = 0; s < SPLITS; s++) {
            if (s >= there) break;
            const float by = expf(weights[s].numbers().x - most);
            weight = fmaf(by, weights[s].numbers().y, weight);
            sum.x = fmaf(by, sums[s].numbers().x, sum.x);
            sum.y = fmaf(by, sums[s].numbers().y, sum.y);
        }
        post(all.mixed + head * DIM + d, sum.x / weight, tag);
        post(all.mixed + head * DIM + d + 1, sum.y / weight, tag);
    }
}
// Combines the heads that fall to the block: first to blocks that have no part of their own.
__device__ void togetherAll(Attention all, uint32_t tag, int keys) {
    if (threadIdx.x >= 32) return;
    const int first = blockIdx.x + gridDim.x - HEADS * SPLITS % gridDim.x; // modulo the grid's size
    for (int head = first < gridDim.x ? first : first - gridDim.x; head < HEADS; head += gridDim.x)
        together(all, head, tag, keys);
}
