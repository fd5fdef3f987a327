// stream.cuh: where weights come from. persistent.cu tells what for.
#pragma once

#include "gate.cuh"

#include <cuda_fp16.h>

constexpr int DIM = WIDTH / HEADS;
constexpr int PIECES = (WIDTH / 4 + 31) / 32; // float4 of a vector [WIDTH] that a lane holds

// Where things are: for each layer, then for the model.
enum { GAIN1, SHIFT1, QKV, QKV_BIAS, OUT, OUT_BIAS, GAIN2, SHIFT2, UP, UP_BIAS, DOWN, DOWN_BIAS };
enum { KEYS = DOWN_BIAS + 1, VALUES, OF_LAYER };
enum { TOKENS = LAYERS * OF_LAYER, POSITIONS, GAIN, SHIFT, ADDRESSES };

// --- Weights

// Those of matrices, the table of tokens among them; and four of them, as they come.
#if BITS == 16
typedef __half Weight;
struct __align__(8) Four {
    __half2 low, high;
};
__device__ float4 numbers(Four w) {
    const float2 low = __half22float2(w.low), high = __half22float2(w.high);
    return make_float4(low.x, low.y, high.x, high.y);
}
__device__ float2 numbers(__half2 w) {
    return __half22float2(w);
}
typedef __half2 Pair;
#else
typedef float Weight;
typedef float2 Pair;
typedef float4 Four;
__device__ float4 numbers(Four w) {
    return w;
}
#endif
__device__ float2 numbers(float2 w) {
    return w;
}

// Asks the L2 cache early for what is no matrix of a layer, and small or old: the block's share of
// the vectors for norms and of biases, and of the keys and values of tokens before this one.
__device__ void prefetchLayer(float *const *addresses, int tokens) {
    for (int i = blockIdx.x; i < KEYS; i += gridDim.x)
        if (i != QKV && i != OUT && i != UP && i != DOWN)
            bulk_prefetch(addresses[i], (i == QKV_BIAS  ? 3 * WIDTH
                                         : i == UP_BIAS ? INNER
                                                        : WIDTH) *
                                            4);
    const Share old = shareOf(tokens);
    for (int i = KEYS; i <= VALUES; i++)
        bulk_prefetch(addresses[i] + (size_t)old.first * WIDTH, (old.last - old.first) * WIDTH * 4);
}

// Rows of a length that make a chunk: what is copied at once, to one slot. A round has at most 32.
__host__ __device__ constexpr int tall(int in) {
    return SLOT / in < 32 / ROUND ? SLOT / in : 32 / ROUND;
}

// Asks for the block's rows of all matrices in the order of their use, as chunks 0, 1, 2 ... Chunk
// n goes to slot n % SLOTS. A chunk never has rows of two matrices. ring is [SLOTS, SLOT], full and
// empty are [SLOTS]. One thread calls it.
//
// When the ring has been filled once, only FLIGHT chunks are under way at a time: what blocks send
// each other takes the same ways as weights do, and waits behind them. But nobody sends anything
// during the head's product.
__device__ void askForAll(Weight *ring, Mbarrier *full, Mbarrier *empty, float *const *addresses,
                          int now, int vocabulary) {
    int chunk = 0;
#pragma unroll 1
    for (int matrix = 0; matrix <= 4 * LAYERS; matrix++) {
        const bool head = matrix == 4 * LAYERS;
        const int kind = head ? 4 : matrix % 4;
        float *const *layer = addresses + matrix / 4 * OF_LAYER;
        if (kind == 0) prefetchLayer(layer, now);
        const float *its = kind == 0   ? layer[QKV]
                           : kind == 1 ? layer[OUT]
                           : kind == 2 ? layer[UP]
                           : kind == 3 ? layer[DOWN]
                                       : addresses[TOKENS];
        const Weight *w = (const Weight *)its;
        Share left = shareOf(kind == 0   ? 3 * WIDTH
                             : kind == 2 ? INNER
                             : kind == 4 ? vocabulary
                                         : WIDTH);
        const int in = kind == 3 ? INNER : WIDTH, each = kind == 3 ? tall(INNER) : tall(WIDTH);
#pragma unroll 1
        for (; left.first < left.last; left.first += each, chunk++) {
            const int slot = chunk % SLOTS,
                      bytes = min(each, left.last - left.first) * in * (int)sizeof(Weight);
            empty[slot].wait((chunk / SLOTS & 1) ^ 1);
            const int earlier = chunk - FLIGHT; // the last that has to be there by now
            if (chunk >= SLOTS && !head) full[earlier % SLOTS].wait(earlier / SLOTS & 1);
            full[slot].arrive_expect_tx(bytes);
            bulk_load(ring + slot * SLOT, w + (size_t)left.first * in, bytes, full[slot]);
        }
    }
}

// What all other threads know of it.
struct Stream {
    Weight *ring;
    Mbarrier *full, *empty;
    int taken = 0; // chunks that all of the block are done with

    // Row r of those that are not taken, when it is there.
    template <int IN> __device__ const Weight *row(int r) const {
        const int chunk = taken + r / tall(IN), slot = chunk % SLOTS;
        full[slot].wait(chunk / SLOTS & 1);
        return ring + slot * SLOT + r % tall(IN) * IN;
    }
    // Behind a barrier: nobody reads the next chunks any more, 32 at most.
    __device__ void take(int chunks) {
        if (threadIdx.x / 32 == 1 % WARPS && threadIdx.x % 32 < chunks)
            empty[(taken + threadIdx.x % 32) % SLOTS].arrive();
        taken += chunks;
    }
};
