// Attention of one new query a sequence with a cache of 8 or 4 bits; sums are float32.
//
//   q, out [batch, heads, DIM] of halves          lengths [batch]
//   codes of k and v [batch, kvHeads, slots, DIM] of BITS
//   8 bits: scales of k and v [batch, kvHeads, slots]; a number is code * scale
//   4 bits: scales and lows of v [batch, kvHeads, slots], of k [batch, kvHeads, slots / GROUP,
//           DIM]; a number is code * scale + low, rounded once to a half. Tokens of the open group,
//           which has fewer than GROUP, are halves [batch, kvHeads, GROUP, DIM]
//
// Memory is the limit, and there is less to read than for halves, so computing must shrink as well:
//   - Each code becomes a half once, in a register, and serves all query heads that share it.
//   - Tensor cores multiply: scores as [heads x keys] = q * k, then [DIM x heads] = v * weights. So
//     the first product's result is the second one's operand as it lies.
//   - The rest is as for halves: a ring of loads for each warp, parts that share a head's keys.
//
// tile.cuh has the loads and the codes, attend.cuh the products.
//
// The host defines DIM (64 or 128), BITS, SMALL for a GPU with less shared memory, and RESIDENT:
// how many blocks a processor should have room for, at the cost of registers.

#include "attend.cuh"
#include "tile.cuh"
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <early.h>

#ifndef SMALL
constexpr int WARPS = 8;
#else
constexpr int WARPS = 4;
#endif
constexpr int THREADS = 32 * WARPS;
constexpr int STAGES = 2;           // tiles of a warp's ring
constexpr int HEADS = 8;            // query heads of a block, at most
constexpr int RING = STAGES * TILE; // bytes of a warp's
constexpr int WIDTH = DIM + 4;      // floats of a result: whole pieces of 16 bytes
static_assert(HEADS * WIDTH * 4 <= RING, "a warp leaves its results in its ring");

// Rounds, once, and writes the head's output.
__device__ void finish(__half *out, const Found &all) {
    const float4 x = all.output();
    const uint2 y = {pack(x.x, x.y), pack(x.z, x.w)};
    if (threadIdx.x % 32 < DIM / 4) reinterpret_cast<uint2 *>(out)[threadIdx.x % 32] = y;
}

// scale is log2(e) / sqrt(DIM). between has room for the results of all blocks that share keys,
// [batch * heads, parts, WIDTH], and done [gridDim.x] counts which of them are done: 0 before and
// after each launch. Launches that may overlap need a between and a done each.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    decode(const __half *q, const unsigned char *k, const unsigned char *v, const __half *kScales,
           const __half *vScales, const __half *kLows, const __half *vLows, const __half *kOpen,
           const __half *vOpen, const int *lengths, __half *out, float *between, unsigned *done,
           int slots, int heads, int kvHeads, float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    waitForInputs();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    // 1. Which heads, which keys. The length is read here, on the device: a launch that was
    //    recorded in a graph must see today's. Of 4 bits only whole groups are in codes.
    const int groupSize = heads / kvHeads, chunks = (groupSize + HEADS - 1) / HEADS;
    const int chunk = blockIdx.x % chunks, pair = blockIdx.x / chunks; // a sequence's key head
    const int sequence = pair / kvHeads, kvHead = pair % kvHeads;
    const int count = min(HEADS, groupSize - chunk * HEADS); // of this block's query heads
    const size_t head0 = (size_t)sequence * heads + kvHead * groupSize + chunk * HEADS;
    const int parts = gridDim.y, part = blockIdx.y;
    const int length = min(max(lengths[sequence], 0), slots);
    const int open = BITS == 4 ? length % GROUP : 0, closed = length - open;
    const unsigned token0 = (unsigned)pair * slots;

    // 2. Tiles go round among the warps of all blocks that share the keys. This warp's first
    //    ones are on their way before anything else is done.
    unsigned char *ring = memory + warp * RING;
    constexpr int PIECES = DIM / 8; // of a row of halves
    const Source source = {k + 16 * lane, v + 16 * lane,
                           (lane < 4    ? vScales
                            : BITS == 8 ? kScales
                                        : vLows) +
                               lane % 4 * 8,
                           (lane < PIECES ? kScales : kLows) + lane % PIECES * 8};
    const auto ask = [&](int stage, int key) {
        unsigned char *tile = ring + stage * TILE;
        if (key + GROUP <= closed) {
            fetch<true>(tile, source, token0 + key, GROUP);
        } else if (BITS == 8 && key < closed) {
            fetch<false>(tile, source, token0 + key, closed - key);
        }
        __pipeline_commit(); // an empty one counts as well
    };
    const int step = parts * WARPS * GROUP;  // from a warp's tile to its next
    int key = (part * WARPS + warp) * GROUP; // the first of its tile
    for (int i = 0; i < STAGES - 1; i++) ask(i, key + i * step);

    // 3. The queries, as a's fragments. Rows without a head are zeros.
    State is = {{}, {}, -INFINITY, 0};
    const __half *query = q + (head0 + lane / 4) * DIM + lane % 4 * (DIM / 4);
    for (int e = 0; e < DIM / 32 && lane / 4 < count; e++)
        order(&is.query[2 * e][0], *reinterpret_cast<const uint4 *>(query + 8 * e));

    // 4. Tile after tile: scores, softmax, values.
    uint32_t weights[4];
    int stage = 0;
    for (; key < closed; key += step, stage = (stage + 1) % STAGES) {
        __pipeline_wait_prior(STAGES - 2);
        __syncwarp(); // the tile has arrived, and all lanes are done with the one before it
        ask((stage + STAGES - 1) % STAGES, key + (STAGES - 1) * step);
        const unsigned char *tile = ring + stage * TILE;
        float s[4][4] = {};
        scores(s, is, tile);
        if (BITS == 8 && closed - key < GROUP) hide(s, closed - key);
        soften(weights, is, s, scale);
        values(is, tile, weights);
    }
#if BITS == 4
    // 5. The open group is the warp's whose turn it is.
    if (key == closed && open > 0) {
        float s[4][4] = {};
        openScores(s, is, kOpen + (size_t)pair * GROUP * DIM, open);
        hide(s, open);
        soften(weights, is, s, scale);
        openValues(is, vOpen + (size_t)pair * GROUP * DIM, open, weights);
    }
#endif

    // 6. Every warp leaves its results in its own ring.
    __pipeline_wait_prior(0);
    __syncwarp(); // all lanes are done with the ring
    float *results = reinterpret_cast<float *>(memory), *mine = results + warp * (RING / 4);
    for (int j = 0; j < DIM / 16; j++) {
        float *two = mine + lane % 4 * 2 * WIDTH + lane / 4 * (DIM / 8) + 2 * j;
        *reinterpret_cast<float2 *>(two) = make_float2(is.o[j][0], is.o[j][2]);
        *reinterpret_cast<float2 *>(two + WIDTH) = make_float2(is.o[j][1], is.o[j][3]);
    }
    const float sum = sumOf<4>(is.sum);
    if (lane % 4 == 0)
        *reinterpret_cast<float2 *>(mine + lane / 4 * WIDTH + DIM) = {is.largest, sum};
    __syncthreads(); // all results are in place

    // 7. A warp merges a head. With all keys here that is the end of it.
    between += head0 * parts * WIDTH;
    for (int h = warp; h < count; h += WARPS) {
        const Found all = merge<DIM, WARPS>(results + h * WIDTH, RING / 4, WARPS, power);
        float *one = between + (h * parts + part) * WIDTH;
        if (parts == 1) finish(out + (head0 + h) * DIM, all);
        if (parts > 1 && lane < DIM / 4) reinterpret_cast<float4 *>(one)[lane] = all.numbers;
        if (parts > 1 && lane == 0) *reinterpret_cast<float2 *>(one + DIM) = {all.largest, all.sum};
    }
    if (parts == 1) return;

    // 8. The last of the blocks that share these keys merges what they found. It sees all results,
    //    for the others' fences came before their counting.
    __shared__ bool last;
    __threadfence();
    __syncthreads(); // all results are written, each before its fence; the count ends at 0 again
    if (threadIdx.x == 0) last = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
    __syncthreads(); // everyone knows whether this block is the last
    if (!last) return;
    __threadfence();
    for (int h = warp; h < count; h += WARPS)
        finish(out + (head0 + h) * DIM,
               merge<DIM, 16>(between + h * parts * WIDTH, WIDTH, parts, power));
}
