// heads.cuh: attention of one query to a cache. Blocks share out each head's keys, warps a block's.
#pragma once

#include "vector.cuh"

// --- Attention

// A team of LANES threads goes over keys, four floats of each to a lane.
constexpr int HELD = 4;    // keys that a team asks for at a time
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

// What a team has of the keys and values of a part, some at a time.
struct Kept {
    float4 k[HELD], v[HELD];

    // Asks for those of a part, from a key of it on; only for keys of [from, to).
    __device__ void load(const float *keys, const float *values, Part part, int ahead, int from,
                         int to) {
#pragma unroll
        for (int i = 0; i < HELD; i++) {
            const int key = part.first + ahead + i * TEAMS + threadIdx.x / LANES;
            if (key < from || key >= min(part.last, to)) continue;
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
// What blocks tell each other about heads: [3, WIDTH] queries, keys and values of the token, with
// tags; and of all parts the largest scores and weights, [HEADS, SPLITS, 2], and the sums, [HEADS,
// SPLITS, DIM].
struct Attention {
    Means *means; // in shared memory, as is fresh
    Fresh *fresh;
    const uint64_t *qkv;
    float *parts, *weights;
};

// The block's parts. Of the first, kept has all but the new token's key. Warp 0 writes.
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
        meetBlock(); // fresh is there; the last was read before the means were written
        float4 query = ((const float4 *)all.fresh->at[0])[threadIdx.x % LANES];
        const float root = 1.0f / sqrtf(DIM);
        query.x *= root, query.y *= root, query.z *= root, query.w *= root;
        Mean mean;
        for (int ahead = 0; part.first + ahead < part.last; ahead += HELD * TEAMS) {
            if (!first || ahead > 0) kept.load(keys, values, part, ahead, 0, now);
            takeFresh(kept, *all.fresh, part, ahead, now);
            add(mean, kept, query, part.first + ahead, part.last);
        }
#pragma unroll
        for (int bit = LANES; bit < 32; bit *= 2) mean.merge(bit);
        if (!first) meetBlock(); // warp 0 has read the means before
        if (lane < LANES) ((float4 *)means.sum[warp])[lane] = mean.sum;
        if (lane == 0) means.weights[warp] = make_float2(mean.most, mean.weights);
        meetBlock(); // the warps' means are there
        if (warp > 0) continue;
        const float2 its = lane < WARPS ? means.weights[lane] : make_float2(-INFINITY, 0);
        float most = its.x;
        for (int lanes = 16; lanes > 0; lanes /= 2)
            most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lanes));
        const float by = expf(its.x - most), weights = sumOfWarp(its.y * by);
        if (lane == 0) ((float2 *)all.weights)[unit] = make_float2(most, weights);
        for (int d = lane; d < (DIM + 31) / 32 * 32; d += 32) {
            float sum = 0;
#pragma unroll
            for (int other = 0; other < WARPS; other++) {
                const float factor = __shfl_sync(0xffffffffu, by, other);
                if (d < DIM) sum = fmaf(factor, means.sum[other][d], sum);
            }
            if (d < DIM) all.parts[unit * DIM + d] = sum;
        }
    }
}

// Puts the parts of all heads together, [WIDTH] in shared memory.
__device__ void together(float *mixed, Attention all, int keys) {
    const int there = (keys + keysOfPart(keys) - 1) / keysOfPart(keys); // parts that have keys
    for (int i = threadIdx.x; i < WIDTH / 4; i += THREADS) {
        const int first = i / LANES * SPLITS; // part of the head
        // Zeros, else ptxas keeps registers for them all the time.
        float2 weights[SPLITS] = {};
        float4 part[SPLITS] = {};
#pragma unroll
        for (int s = 0; s < SPLITS; s++) {
            if (s >= there) break;
            weights[s] = ((const float2 *)all.weights)[first + s];
            part[s] = ((const float4 *)(all.parts + (first + s) * DIM))[i % LANES];
        }
        Mean mean;
#pragma unroll
        for (int s = 0; s < SPLITS; s++)
            if (s < there) mean.most = fmaxf(mean.most, weights[s].x);
#pragma unroll
        for (int s = 0; s < SPLITS; s++) {
            if (s >= there) break;
            const float by = expf(weights[s].x - mean.most);
            mean.weights = fmaf(by, weights[s].y, mean.weights);
            mean.sum.x = fmaf(by, part[s].x, mean.sum.x);
            mean.sum.y = fmaf(by, part[s].y, mean.sum.y);
            mean.sum.z = fmaf(by, part[s].z, mean.sum.z);
            mean.sum.w = fmaf(by, part[s].w, mean.sum.w);
        }
        const float by = 1 / mean.weights;
        ((float4 *)mixed)[i] =
            make_float4(mean.sum.x * by, mean.sum.y * by, mean.sum.z * by, mean.sum.w * by);
    }
}
