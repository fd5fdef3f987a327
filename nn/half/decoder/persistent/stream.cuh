// stream.cuh: where weights, keys and values come from. step.cu tells what for.
#pragma once

#include "gate.cuh"

#include <cuda_fp16.h>

constexpr int WIDTH = HEADS * DIM,
              SLOT_WIDTH = KV_HEADS * DIM; // of queries; of keys, and of values
constexpr int QKV_ROWS = WIDTH + 2 * SLOT_WIDTH;

// Where things are: for each layer, then for the model.
enum { NORM1, QKV, OUT, NORM2, GATE_UP, DOWN, KEYS, VALUES, OF_LAYER };
enum { EMBEDDING = LAYERS * OF_LAYER, NORM, HEAD, ADDRESSES };

// --- Who does what

// A row of a matrix […, in] is cut into segments of up to SEGMENT numbers, and a chunk, which is
// what a slot of the ring holds, has rows enough for each warp to have one segment of it.
__host__ __device__ constexpr int segments(int in) {
    return (in + SEGMENT - 1) / SEGMENT;
}
__host__ __device__ constexpr int tall(int in) {
    return WARPS / segments(in);
}
static_assert(tall(HIDDEN) > 0 && tall(WIDTH) > 0 && tall(MLP) > 0, "a row has a warp a segment");

// Numbers of a vector fall to blocks in pairs: the rows of matrices from which they come.
__device__ Share pairsOf(int numbers) {
    const Share pairs = shareOf((numbers + 1) / 2);
    return {2 * pairs.first, min(2 * pairs.last, numbers)};
}

// A part of the keys, for all query heads that share them; one block goes over it. The last key is
// that of the token itself.
constexpr int UNITS = KV_HEADS * SPLITS;
constexpr int FEWEST = 16; // keys that are worth a part of their own
struct Part {
    int head, first, last;
};
// How many keys a part has, of so many in all; the last may have fewer, or none.
__device__ int keysOfPart(int keys) {
    return max((keys + SPLITS - 1) / SPLITS, FEWEST);
}
__device__ Part partOf(int unit, int keys) {
    const int each = keysOfPart(keys), first = unit % SPLITS * each;
    return {unit / SPLITS, min(first, keys), min(first + each, keys)};
}
// A chunk holds so many keys, and their values behind them.
constexpr int KEYS_OF_CHUNK = SLOT / (2 * DIM);
static_assert(KEYS_OF_CHUNK > 0, "a slot has room for a key and its value");

// --- What is asked for

// The warp that asks. Chunk n goes to slot n % SLOTS of the ring [SLOTS, SLOT]; full and empty are
// [SLOTS]. At most FLIGHT chunks are under way at a time.
struct Asking {
    __half *ring;
    Gate *full, *empty;
    int chunk = 0;

    // The next chunk: `copies` copies of so many halves, number i from where(i) to at(i) of a slot.
    template <class At, class Where>
    __device__ void ask(int copies, int halves, At at, Where where) {
        const int slot = chunk % SLOTS, earlier = chunk - FLIGHT;
        empty[slot].pass((chunk / SLOTS & 1) ^ 1);
        if (FLIGHT < SLOTS && earlier >= 0) full[earlier % SLOTS].pass(earlier / SLOTS & 1);
        if (threadIdx.x % 32 == 0) full[slot].arriveWith(copies * halves * 2);
        __syncwarp(); // before they come, it is known how many
        for (int i = threadIdx.x % 32; i < copies; i += 32)
            copy(ring + slot * SLOT + at(i), where(i), halves * 2, full[slot]);
        chunk++;
    }
    // The rows of a share, of so many halves each.
    template <int IN, class Where> __device__ void askRows(int rows, Where where) {
#pragma unroll 1
        for (int row = 0; row < rows; row += tall(IN))
            ask(
                min(tall(IN), rows - row), IN, [](int i) { return i * IN; },
                [&](int i) { return where(row + i); });
    }
    template <int IN> __device__ void askMatrix(const __half *w, Share share) {
        askRows<IN>(share.last - share.first,
                    [=](int row) { return w + (size_t)(share.first + row) * IN; });
    }
    // Keys and values of tokens before this one.
    __device__ void askOld(const __half *keys, const __half *values, int now) {
        for (int unit = blockIdx.x; unit < UNITS; unit += gridDim.x) {
            const Part part = partOf(unit, now + 1);
            const int last = min(part.last, now);
#pragma unroll 1
            for (int key = part.first; key < last; key += KEYS_OF_CHUNK) {
                const int count = min(KEYS_OF_CHUNK, last - key);
                const size_t from = (size_t)key * SLOT_WIDTH + part.head * DIM;
                ask(
                    2 * count, DIM,
                    [=](int i) { return (i < count ? i : KEYS_OF_CHUNK + i - count) * DIM; },
                    [=](int i) {
                        return i < count ? keys + from + (size_t)i * SLOT_WIDTH
                                         : values + from + (size_t)(i - count) * SLOT_WIDTH;
                    });
            }
        }
    }
    // All of a step, in the order of its use.
    __device__ void askForAll(__half *const *addresses, int now, int vocabulary) {
#pragma unroll 1
        for (int layer = 0; layer < LAYERS; layer++) {
            __half *const *w = addresses + layer * OF_LAYER;
            if (threadIdx.x % 32 == 0 && blockIdx.x == layer % gridDim.x)
                prefetch(w[NORM1], HIDDEN * 2), prefetch(w[NORM2], HIDDEN * 2);
            askMatrix<HIDDEN>(w[QKV], pairsOf(QKV_ROWS));
            askOld(w[KEYS], w[VALUES], now);
            askMatrix<WIDTH>(w[OUT], pairsOf(HIDDEN));
            // A row of the gate, then the one of up that belongs to it.
            const Share inner = pairsOf(MLP);
            const __half *gate = w[GATE_UP] + (size_t)inner.first * HIDDEN;
            askRows<HIDDEN>(2 * (inner.last - inner.first), [=](int row) {
                return gate + (size_t)(row / 2 + row % 2 * MLP) * HIDDEN;
            });
            askMatrix<MLP>(w[DOWN], pairsOf(HIDDEN));
        }
        askMatrix<HIDDEN>(addresses[HEAD], pairsOf(vocabulary));
    }
};

// What a warp that calculates knows of it: the next chunk, which all of these warps have to take.
struct Stream {
    const __half *ring;
    Gate *full, *empty;
    int chunk = 0;

    // The next one, when it is there.
    __device__ const __half *next() const {
        full[chunk % SLOTS].pass(chunk / SLOTS & 1);
        return ring + chunk % SLOTS * SLOT;
    }
    // The warp is done with it. Without the fence an arrival overtakes loads that wait behind
    // somebody's requests for mail, and the next copy overwrites what they have yet to read.
    __device__ void take() {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp(); // all lanes have read
        if (threadIdx.x % 32 == 0) empty[chunk % SLOTS].arrive();
        chunk++;
    }
};
