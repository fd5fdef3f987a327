// stream.cuh: where weights, keys and values come from. step.cu tells what for.
#pragma once

#include "gate.cuh"

#include <cuda_fp16.h>

constexpr int WIDTH = HEADS * DIM, KV_WIDTH = KV_HEADS * DIM; // of queries; of keys or values
constexpr int QKV_ROWS = WIDTH + 2 * KV_WIDTH;

// Where things are: for each layer, then for the model. A matrix of four bits is codes, scales and
// zeros.
constexpr int PARTS = BITS == 4 ? 3 : 1;
enum { NORM1, NORM2, KEYS, VALUES, QKV };
enum { OUT = QKV + PARTS, GATE_UP = OUT + PARTS, DOWN = GATE_UP + PARTS, OF_LAYER = DOWN + PARTS };
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
static_assert(tall(HIDDEN) > 0 && (BITS == 4 || (tall(WIDTH) > 0 && tall(MLP) > 0)),
              "a row has a warp a segment");

// Numbers of a vector fall to blocks in pairs, or, with weights of four bits, 16 at a time: and so
// do the rows of matrices from which they come.
constexpr int TOGETHER = BITS == 4 ? 16 : 2;
template <int UNIT = TOGETHER> __device__ Share shareIn(int numbers) {
    const Share units = shareOf((numbers + UNIT - 1) / UNIT);
    return {UNIT * units.first, min(UNIT * units.last, numbers)};
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
// A chunk holds so many keys, and their values behind them. Up to BOX of them come at a time:
// copies of one, of 256 bytes or so, come one every 33 ns.
constexpr int BOX = 8, FIT = SLOT / (2 * DIM);
constexpr int KEYS_OF_CHUNK = FIT < BOX ? FIT : FIT / BOX * BOX;
static_assert(KEYS_OF_CHUNK > 0, "a slot has room for a key and its value");

// Four bits: weights are laid out as bonus task b8 lays them, in the order in which tensor cores
// want them. A chunk has some groups of 128 numbers of a tile, which is 16 rows: codes, then
// scales, then zeros.
constexpr int GROUP = 128, TILE = 16;
constexpr int CODES = TILE * GROUP / 2, SCALES = TILE * 2, ZEROS = TILE; // bytes of a group
static_assert(BITS == 16 || GROUPS * (CODES + SCALES + ZEROS) <= 2 * SLOT, "a chunk fits a slot");

// --- What is asked for

// The warp that asks. Chunk n goes to slot n % SLOTS of the ring [SLOTS, SLOT]; full and empty are
// [SLOTS]. At most FLIGHT chunks are under way at a time.
struct Asking {
    __half *ring;
    Mbarrier *full, *empty;
    const CUtensorMap &cache; // [2 * LAYERS * positions, KV_WIDTH]: of each layer keys, then values
    int positions, chunk = 0;

    // The next chunk: copies of so many bytes in all; one(i, slot, gate) asks for number i.
    template <class One> __device__ void ask(int copies, int bytes, One one) {
        const int slot = chunk % SLOTS, earlier = chunk - FLIGHT;
        empty[slot].wait((chunk / SLOTS & 1) ^ 1);
        if (FLIGHT < SLOTS && earlier >= 0) full[earlier % SLOTS].wait(earlier / SLOTS & 1);
        if (threadIdx.x % 32 == 0) full[slot].arrive_expect_tx(bytes);
        __syncwarp(); // before they come, it is known how many
        for (int i = threadIdx.x % 32; i < copies; i += 32)
            one(i, (char *)(ring + slot * SLOT), full[slot]);
        chunk++;
    }
    // So many rows of halves, each the rowOf(i)-th of a matrix.
    template <int IN, class RowOf>
    __device__ void askHalves(const __half *w, int rows, RowOf rowOf) {
#pragma unroll 1
        for (int row = 0; row < rows; row += tall(IN)) {
            const int count = min(tall(IN), rows - row);
            ask(count, count * IN * 2, [&](int i, char *slot, const Mbarrier &gate) {
                bulk_load(slot + i * IN * 2, w + (size_t)rowOf(row + i) * IN, IN * 2, gate);
            });
        }
    }
    // So many tiles of four bits, each the tileOf(i)-th of a matrix. w has the addresses of codes,
    // scales and zeros.
    template <int IN, class TileOf>
    __device__ void askFour(__half *const *w, int tiles, TileOf tileOf) {
        constexpr int ALL = IN / GROUP;
#pragma unroll 1
        for (int tile = 0; tile < tiles; tile++)
#pragma unroll 1
            for (int group = 0; group < ALL; group += GROUPS) {
                const int groups = min(GROUPS, ALL - group);
                ask(3, groups * (CODES + SCALES + ZEROS),
                    [&](int i, char *slot, const Mbarrier &gate) {
                        const int each = i == 0 ? CODES : i == 1 ? SCALES : ZEROS;
                        const int to = i == 0   ? 0
                                       : i == 1 ? GROUPS * CODES
                                                : GROUPS * (CODES + SCALES);
                        const size_t from = ((size_t)tileOf(tile) * ALL + group) * each;
                        bulk_load(slot + to, (const char *)w[i] + from, groups * each, gate);
                    });
            }
    }
    // A matrix's share.
    template <int IN> __device__ void askMatrix(__half *const *w, Share share) {
        if constexpr (BITS == 4)
            askFour<IN>(w, (share.last - share.first) / TILE,
                        [=](int tile) { return share.first / TILE + tile; });
        else
            askHalves<IN>(*w, share.last - share.first, [=](int row) { return share.first + row; });
    }
    // The gate's and up's rows of a share, in turn: one and one, or a tile and a tile.
    __device__ void askGated(__half *const *w, Share share) {
        const int rows = 2 * (share.last - share.first);
        if constexpr (BITS == 4)
            askFour<HIDDEN>(w, rows / TILE, [=](int tile) {
                return share.first / TILE + tile / 2 + tile % 2 * (MLP / TILE);
            });
        else
            askHalves<HIDDEN>(*w, rows,
                              [=](int row) { return share.first + row / 2 + row % 2 * MLP; });
    }
    // Keys and values of tokens before this one: boxes, then one by one what does not fill a box.
    __device__ void askOld(int layer, const __half *keys, const __half *values, int now) {
        for (int unit = blockIdx.x; unit < UNITS; unit += gridDim.x) {
            const Part part = partOf(unit, now + 1);
            const int last = min(part.last, now);
#pragma unroll 1
            for (int key = part.first; key < last; key += KEYS_OF_CHUNK) {
                const int count = min(KEYS_OF_CHUNK, last - key), boxes = count / BOX;
                const int copies = boxes + count % BOX; // of keys, and as many of values
                ask(2 * copies, 2 * count * DIM * 2, [&](int i, char *slot, const Mbarrier &gate) {
                    const bool value = i >= copies;
                    const int it = value ? i - copies : i;
                    const int its = it < boxes ? it * BOX : boxes * BOX + it - boxes;
                    char *to = slot + ((value ? KEYS_OF_CHUNK : 0) + its) * DIM * 2;
                    if (it < boxes)
                        tma_load(to, cache, gate, part.head * DIM,
                                 (2 * layer + value) * positions + key + its);
                    else
                        bulk_load(to,
                                  (value ? values : keys) + (size_t)(key + its) * KV_WIDTH +
                                      part.head * DIM,
                                  DIM * 2, gate);
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
                bulk_prefetch(w[NORM1], HIDDEN * 2), bulk_prefetch(w[NORM2], HIDDEN * 2);
            askMatrix<HIDDEN>(w + QKV, shareIn(QKV_ROWS));
            askOld(layer, w[KEYS], w[VALUES], now);
            askMatrix<WIDTH>(w + OUT, shareIn(HIDDEN));
            askGated(w + GATE_UP, shareIn(MLP));
            askMatrix<MLP>(w + DOWN, shareIn(HIDDEN));
        }
        const Share head = shareIn<2>(vocabulary);
        askHalves<HIDDEN>(addresses[HEAD], head.last - head.first,
                          [=](int row) { return head.first + row; });
    }
};

// Rows of the gate and of up in a share, for number i.
__device__ int gateRow(int i) {
    return BITS == 4 ? i / TILE * 2 * TILE + i % TILE : 2 * i;
}
__device__ int upRow(int i) {
    return gateRow(i) + (BITS == 4 ? TILE : 1);
}

// What a warp that calculates knows of it: the next chunk, which all of these warps have to take.
struct Stream {
    const __half *ring;
    Mbarrier *full, *empty;
    int chunk = 0;

    // The next one, when it is there.
    __device__ const __half *next() const {
        full[chunk % SLOTS].wait(chunk / SLOTS & 1);
        return ring + chunk % SLOTS * SLOT;
    }
    // The warp is done with it. Without the fence an arrival overtakes loads that wait behind
    // somebody's requests for mail, and the next copy overwrites what they have yet to read.
    __device__ void take() {
        fence_proxy_async();
        __syncwarp(); // all lanes have read
        if (threadIdx.x % 32 == 0) empty[chunk % SLOTS].arrive();
        chunk++;
    }
};
