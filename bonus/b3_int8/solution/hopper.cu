// Attention by codes as Hopper wants it: out = softmax(q * k^T / sqrt(dim)) * v, with scales by
// block.
//
//   q codes, out [batch * heads, seqQ, DIM]      k codes, v [batch * heads / group, seqK, DIM]
//
// This is b2's hopper.cu with attention.cu's scores: the tensor cores (wgmma) take codes, 32 in a
// step, so a tile's scores take half as long. A tile of 128 keys has two scales, and 64 queries,
// those of a warpgroup, have one. v stays in halves: wgmma wants 8-bit matrices by rows of the
// sum's direction, and nothing on the way could turn v.
//
// A block has CONSUMERS warpgroups of 128 threads, each with 64 queries, which walk over the keys,
// 128 at a time, from the last to the first; and one more, of which a single thread asks for tiles.
// The warpgroups take turns to ask for products, so that one's softmax meets another's products.
//
// The host defines DIM (64 or 128), and makes the maps: of q and k by boxes of DIM columns and 64
// or KEYS rows, swizzled by DIM bytes; of v and out by boxes of 64 columns (128 bytes, swizzled by
// 128) and KEYS or 16 rows.

#include <hopper.h>
#include <stdint.h>
#include <tensorcore.h>

static_assert(DIM == 64 || DIM == 128, "the head's dimension is 64 or 128");

// With 64 columns a tile's exponentials take longer than its products: a third warpgroup keeps both
// units busy. With 128, two have registers enough to hold their queries as well.
constexpr int CONSUMERS = DIM == 128 ? 2 : 3;
constexpr bool HELD = DIM == 128; // queries in registers
constexpr int KEYS = 128, STAGES = 2, BOXES = DIM / 64;
constexpr int ROWS = 64 * CONSUMERS, THREADS = 128 * (CONSUMERS + 1);
constexpr int BLOCK = 64; // rows that share a scale

// A warpgroup's share of a processor's 65,536 registers, for each of its threads.
constexpr int ASKS = CONSUMERS == 2 ? 24 : 32, COMPUTES = CONSUMERS == 2 ? 240 : 160;

#include "softmax.cuh"

// A tile is in boxes of 64 columns.
struct Tiles {
    int8_t q[CONSUMERS][64][DIM];
    int8_t k[STAGES][KEYS][DIM];
    __half v[STAGES][BOXES][KEYS][64];
    __half out[4 * CONSUMERS][BOXES][16][64]; // for each warp, on the way out
    Mbarrier qFull, qEmpty, kFull[STAGES], vFull[STAGES], kEmpty[STAGES], vEmpty[STAGES];
};

// The 16 bytes of a box's row r from column 16 * j + 8 * half on: the swizzle by 128 puts piece c
// of row r where c ^ r % 8 would be.
template <int LINES>
__device__ __half *piece(__half (&boxes)[BOXES][LINES][64], int r, int j, int half) {
    return &boxes[j / 4][r][((j % 4 * 2 + half) ^ r % 8) * 8];
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(
    const __grid_constant__ CUtensorMap qMap, const __grid_constant__ CUtensorMap kMap,
    const __grid_constant__ CUtensorMap vMap, const __grid_constant__ CUtensorMap outMap,
    const float *qScale, const float *kScale, int seqQ, int seqK, int heads, int group, int causal,
    float scale) {
    extern __shared__ unsigned char memory[]; // swizzled tiles begin at multiples of 1024
    Tiles &tiles = *reinterpret_cast<Tiles *>(((uintptr_t)memory + 1023) / 1024 * 1024);
    const int before = seqK - seqQ; // keys older than the first query

    if (threadIdx.x == 0) {
        tiles.qFull.init(1), tiles.qEmpty.init(4 * CONSUMERS);
        for (int i = 0; i < STAGES; i++) {
            tiles.kFull[i].init(1), tiles.kEmpty[i].init(4 * CONSUMERS);
            tiles.vFull[i].init(1), tiles.vEmpty[i].init(4 * CONSUMERS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();

    // Calls visit(count, head, firstRow, last) for each of the block's tiles of queries: the count
    // of those before, and the tile of keys where its walk begins. Of a masked head late queries
    // see more keys than early ones, so a block takes one of each: all pairs are as much work.
    auto visitTiles = [&](auto visit) {
        const int length = (seqQ + ROWS - 1) / ROWS, pairs = causal ? (length + 1) / 2 : length;
        int count = 0;
        for (int pair = blockIdx.x; pair < pairs * heads; pair += gridDim.x) {
            const int head = pair / pairs, early = pair % pairs, late = length - 1 - early;
            for (int part = 0; part < (causal && late != early ? 2 : 1); part++) {
                const int firstRow = (causal && part == 0 ? late : early) * ROWS;
                const int seen = causal ? min(seqK, before + firstRow + ROWS) : seqK;
                visit(count++, head, firstRow, max(seen - 1, 0) / KEYS);
            }
        }
    };

    const int warpgroup = __shfl_sync(EVERYONE, threadIdx.x / 128, 0); // the same for all: uniform
    if (warpgroup == CONSUMERS) { // asks for tiles, as fast as there is room
        setmaxnreg_dec<ASKS>();
        if (threadIdx.x % 128 != 0) return;
        int tile = 0; // of keys and values, from the first on
        visitTiles([&](int count, int head, int firstRow, int last) {
            tiles.qEmpty.wait(count % 2 ^ 1);
            tiles.qFull.arrive_expect_tx(sizeof tiles.q);
            for (int i = 0; i < CONSUMERS; i++)
                tma_load(tiles.q[i], qMap, tiles.qFull, 0, firstRow + 64 * i, head);
            for (int key = last * KEYS; key >= 0; key -= KEYS, tile++) {
                const int stage = tile % STAGES, parity = tile / STAGES % 2;
                tiles.kEmpty[stage].wait(parity ^ 1);
                tiles.kFull[stage].arrive_expect_tx(sizeof tiles.k[0]);
                tma_load(tiles.k[stage], kMap, tiles.kFull[stage], 0, key, head / group);
                tiles.vEmpty[stage].wait(parity ^ 1);
                tiles.vFull[stage].arrive_expect_tx(sizeof tiles.v[0]);
                for (int box = 0; box < BOXES; box++)
                    tma_load(tiles.v[stage][box], vMap, tiles.vFull[stage], box * 64, key,
                             head / group);
            }
        });
        return;
    }
    setmaxnreg_inc<COMPUTES>();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sums[KEYS / 2];
    Scores s;
    Output o;
    uint32_t p[KEYS / 4], q[DIM / 8]; // the products' left sides: 4 registers for 32 bytes of a row
    const uint64_t qTile = matrix_descriptor<DIM>(tiles.q[warpgroup]);
    const int blocks = (seqQ + BLOCK - 1) / BLOCK, kBlocks = (seqK + BLOCK - 1) / BLOCK;

    auto release = [&](Mbarrier &empty) {
        if (lane == 0) empty.arrive();
    };
    // Products are asked for in turns; the first warpgroup's comes first.
    auto takeTurn = [&] { named_barrier_sync(1 + warpgroup, 256); };
    auto passTurn = [&] { named_barrier_arrive(1 + (warpgroup + 1) % CONSUMERS, 256); };
    if (warpgroup == CONSUMERS - 1) passTurn();

    int tilesBefore = 0; // tiles of keys before this tile of queries
    visitTiles([&](int count, int head, int firstRow, int last) {
        const int row = firstRow + warp * 16 + lane / 4;    // the first of two
        const int limit = causal ? before + row + 1 : seqK; // row sees the keys below
        // Keys below seenByAll are seen by all 64 rows, from seenByNone on by none.
        const int seenByAll = min(seqK, causal ? before + firstRow + 64 * warpgroup + 1 : seqK);
        const int seenByNone = causal ? before + firstRow + 64 * warpgroup + 64 : seqK;
        // The queries of a warpgroup are a block, which has a scale.
        const float ofQ =
            scale * qScale[head * blocks + min(firstRow / BLOCK + warpgroup, blocks - 1)];
        const float *ofK = kScale + head / group * kBlocks;
        Rows rows = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
#pragma unroll
        for (int i = 0; i < DIM / 2; i++) o[i] = 0;

        // The i-th tile on the way: s = q * k^T and o += p * v, both only begun.
        auto scores = [&](int i) {
            const int tile = tilesBefore + i, stage = tile % STAGES;
            tiles.kFull[stage].wait(tile / STAGES % 2);
            const uint64_t k = matrix_descriptor<DIM>(tiles.k[stage]);
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < DIM / 32; j++) { // 32 codes of a row are 32 bytes
                if constexpr (HELD)
                    wgmma<KEYS, int8_t>(sums, q + 4 * j, k + j * 2, j > 0);
                else
                    wgmma<KEYS, int8_t>(sums, qTile + j * 2, k + j * 2, j > 0);
            }
            wgmma_commit();
        };
        auto output = [&](int i) {
            const int tile = tilesBefore + i, stage = tile % STAGES;
            tiles.vFull[stage].wait(tile / STAGES % 2);
            const uint64_t v = matrix_descriptor(tiles.v[stage], sizeof tiles.v[0][0]);
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < KEYS / 16; j++)
                wgmma<DIM, __half, MN_MAJOR>(o, p + 4 * j, v + j * 16 * 128 / 16);
            wgmma_commit();
        };
        auto hidden = [&](int i) { return (last - i) * KEYS + KEYS > seenByAll; };
        auto softmaxOf = [&](int i, bool masked) { // the softmax of its scores, which are there
            const int key = (last - i) * KEYS;
            const float left = ofQ * ofK[key / BLOCK];
            const float right = ofQ * ofK[min(key / BLOCK + 1, kBlocks - 1)];
            release(tiles.kEmpty[(tilesBefore + i) % STAGES]);
            toFloat(s, sums);
            if (masked) hide(s, key, seqK, limit, lane);
            return softmax(s, rows, left, right);
        };
        auto round = [&] { // what a product left in registers is what the next one takes from there
#pragma unroll
            for (int i = 0; i < KEYS / 4; i++) p[i] = pack(s[2 * i], s[2 * i + 1]);
        };
        auto step = [&](int i, bool masked) {
            takeTurn();
            scores(i);
            output(i - 1);
            passTurn();
            wgmma_wait<1>(sums); // the scores, not yet the output
            const bool grown = softmaxOf(i, masked);
            wgmma_wait<0>(o);
            release(tiles.vEmpty[(tilesBefore + i - 1) % STAGES]);
            round(); // not before: the products that are done now took p from these registers
            if (grown) {
#pragma unroll
                for (int e = 0; e < DIM / 2; e++) o[e] *= rows.rescale[e / 2 % 2];
            }
        };

        tiles.qFull.wait(count % 2);
        if constexpr (HELD) {
#pragma unroll
            for (int j = 0; j < DIM / 32; j++) {
                const int r = warp % 4 * 16 + lane % 16;
                load_matrix(*reinterpret_cast<unsigned(*)[4]>(q + 4 * j),
                            &tiles.q[warpgroup][r][((2 * j + lane / 16) ^ r % 8) * 16]);
            }
            fence_proxy_async(); // the next queries come after these loads
            __syncwarp();
            release(tiles.qEmpty);
        }
        int i = 0;
        for (; i < last && (last - i) * KEYS >= seenByNone; i++) {
            takeTurn();
            const int tile = tilesBefore + i, stage = tile % STAGES, parity = tile / STAGES % 2;
            tiles.kFull[stage].wait(parity), release(tiles.kEmpty[stage]);
            tiles.vFull[stage].wait(parity), release(tiles.vEmpty[stage]);
            passTurn();
        }
        takeTurn();
        scores(i);
        passTurn();
        wgmma_wait<0>(sums);
        softmaxOf(i, hidden(i));
        round();
        for (i++; i <= last && hidden(i); i++) step(i, true);
        for (; i <= last; i++) step(i, false); // most tiles: without a look at each key
        if (!HELD) release(tiles.qEmpty);
        output(last);

        float scaleOut[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float sum = rows.sum[h];
            sum += __shfl_xor_sync(EVERYONE, sum, 1);
            sum += __shfl_xor_sync(EVERYONE, sum, 2);
            scaleOut[h] = sum > 0 ? 1 / sum : 0; // a row that sees no key
        }
        if (lane == 0) bulk_wait_read<0>(); // the last output has left tiles.out
        __syncwarp();
        wgmma_wait<0>(o);
        release(tiles.vEmpty[(tilesBefore + last) % STAGES]);
#pragma unroll
        for (int j = 0; j < DIM / 16; j++) {
            unsigned x[4];
#pragma unroll
            for (int e = 0; e < 4; e++)
                x[e] = pack(o[8 * j + 2 * e] * scaleOut[e % 2],
                            o[8 * j + 2 * e + 1] * scaleOut[e % 2]);
            store_matrix(piece(tiles.out[warp], lane % 16, j, lane / 16), x);
        }
        fence_proxy_async(); // the copy engine sees what this thread has stored
        __syncwarp();
        if (lane == 0) {
            for (int box = 0; box < BOXES; box++)
                tma_store(outMap, tiles.out[warp][box], box * 64, firstRow + 16 * warp, head);
            bulk_commit();
        }
        tilesBefore += last + 1;
    });
    if (warpgroup == 0) takeTurn(); // the turn that is left
    if (lane == 0) bulk_wait<0>();
}
