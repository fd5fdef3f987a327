// Attention from codes for Hopper: out = softmax(q * k^T / sqrt(DIM)) * v, with scales by block.
//
//   codes of q, out [heads, seqQ, DIM]      codes of k, v [heads / group, seqK, DIM]
//   qScale [heads, ceil(seqQ / 64)]         kScale [heads / group, ceil(seqK / 64)]
//
// heads = batch * query heads; v and out are halves.
//
// This is b2's hopper.cu with scores from codes: a wgmma takes 32 codes of a row, not 16 halves, so
// a tile's scores take half as long. A tile of 128 keys has two scales; the 64 queries of a
// warpgroup have one. v stays in halves: its sum runs over keys, so it would have to be read by
// columns, which wgmma does only for 16-bit types, and the copy engine does not transpose.
//
// A block has CONSUMERS warpgroups of 128 threads that compute, each for 64 queries. They walk over
// the keys, 128 at a time, from the last to the first: the masked tiles come first. In one more
// warpgroup, the producer, a single thread loads the tiles. The others take turns to issue
// products, so one's softmax overlaps another's products.
//
// The host defines DIM (64 or 128), and makes the tensor maps. Boxes of q and k have DIM columns
// and 64 or KEYS rows, swizzled by DIM bytes; boxes of v and out have 64 columns (128 bytes,
// swizzled by 128) and KEYS or 16 rows.

#include <hopper.h>
#include <stdint.h>
#include <tensorcore.h>

static_assert(DIM == 64 || DIM == 128, "the head's dimension is 64 or 128");

// With 64 columns a tile's exponentials take longer than its products: a third warpgroup keeps both
// units busy. With 128, two warpgroups have enough registers to hold their queries as well.
constexpr int CONSUMERS = DIM == 128 ? 2 : 3;
constexpr bool HELD = DIM == 128; // queries stay in registers
constexpr int KEYS = 128, STAGES = 2, BOXES = DIM / 64;
constexpr int ROWS = 64 * CONSUMERS, THREADS = 128 * (CONSUMERS + 1);
constexpr int BLOCK = 64; // rows that share a scale

// Registers per thread of the producer (it asks for tiles) and of the others (they compute):
// 128 * (ASKS + CONSUMERS * COMPUTES) is at most a multiprocessor's 65,536.
constexpr int ASKS = CONSUMERS == 2 ? 24 : 32, COMPUTES = CONSUMERS == 2 ? 240 : 160;

#include "softmax.cuh"

// A tile of halves is stored as boxes of 64 columns. A full barrier gets one arrival, the
// producer's, and the bytes it announced; an empty one gets an arrival from each warp that
// computes. Use n of a buffer is phase n of both its barriers. Before use n the producer waits for
// phase n - 1 of the empty one, hence parity ^ 1: the first wait returns at once.
struct Tiles {
    int8_t q[CONSUMERS][64][DIM];
    int8_t k[STAGES][KEYS][DIM];
    __half v[STAGES][BOXES][KEYS][64];
    __half out[4 * CONSUMERS][BOXES][16][64]; // of each warp, until the copy engine has read it
    Mbarrier qFull, qEmpty, kFull[STAGES], vFull[STAGES], kEmpty[STAGES], vEmpty[STAGES];
};

// The 8 halves (16 bytes) of a tile's row r that begin at column 16 * j + 8 * half. The swizzle by
// 128 puts piece c of a box's row r where piece c ^ r % 8 would be.
template <int LINES>
__device__ __half *piece(__half (&boxes)[BOXES][LINES][64], int r, int j, int half) {
    return &boxes[j / 4][r][((j % 4 * 2 + half) ^ r % 8) * 8];
}

// scale is log2(e) / sqrt(DIM), so that 2^(score * scale) is e^(score / sqrt(DIM)): 2^x takes one
// instruction, e^x two. group is the number of query heads that share a head of k and v. causal:
// the last query sees all keys, each query before it one key fewer.
extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(
    const __grid_constant__ CUtensorMap qMap, const __grid_constant__ CUtensorMap kMap,
    const __grid_constant__ CUtensorMap vMap, const __grid_constant__ CUtensorMap outMap,
    const float *qScale, const float *kScale, int seqQ, int seqK, int heads, int group, int causal,
    float scale) {
    extern __shared__ unsigned char memory[]; // swizzled tiles begin at multiples of 1024
    Tiles &tiles = *reinterpret_cast<Tiles *>(((uintptr_t)memory + 1023) / 1024 * 1024);
    const int before = seqK - seqQ; // keys older than the first query; below 0, some see no key

    if (threadIdx.x == 0) {
        tiles.qFull.init(1), tiles.qEmpty.init(4 * CONSUMERS);
        for (int i = 0; i < STAGES; i++) {
            tiles.kFull[i].init(1), tiles.kEmpty[i].init(4 * CONSUMERS);
            tiles.vFull[i].init(1), tiles.vEmpty[i].init(4 * CONSUMERS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();

    // Calls visit(count, head, firstRow, last) for each of the block's tiles of queries. count: of
    // its tiles so far; firstRow: the tile's first query; last: the last tile of keys that it sees,
    // where the walk begins. Under the causal mask late queries see more keys than early ones, so a
    // block takes them in pairs of a late and an early tile: all pairs are about the same work.
    // The producer and the warpgroups that compute must make the same calls.
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

    // The shuffle tells the compiler that this is the same for all lanes of a warp.
    const int warpgroup = __shfl_sync(EVERYONE, threadIdx.x / 128, 0);
    if (warpgroup == CONSUMERS) { // the producer: loads tiles as soon as their buffers are free
        setmaxnreg_dec<ASKS>();
        if (threadIdx.x % 128 != 0) return;
        int tile = 0; // counts tiles of keys over all tiles of queries: which stage, which phase
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
    Sums sums;
    Scores s;
    Output o;
    Probabilities p; // left operands (A fragments), as q is: 4 registers per 32-byte piece
    uint32_t q[DIM / 8];
    const uint64_t qTile = matrix_descriptor<DIM>(tiles.q[warpgroup]);
    const int blocks = (seqQ + BLOCK - 1) / BLOCK, kBlocks = (seqK + BLOCK - 1) / BLOCK;

    // This warp no longer needs a buffer. All its lanes must be done with it: wgmma_wait, a vote or
    // __syncwarp comes before.
    auto release = [&](Mbarrier &empty) {
        if (lane == 0) empty.arrive();
    };
    // Warpgroups issue products in turns. Named barrier 1 + w opens warpgroup w's turn: its 128
    // threads wait there, and the 128 of the warpgroup before it arrive without waiting. The last
    // warpgroup opens the first turn here. Each takes as many turns for a tile of queries as there
    // are tiles of keys, even for those that it skips, or the others would wait forever.
    auto takeTurn = [&] { named_barrier_sync(1 + warpgroup, 256); };
    auto passTurn = [&] { named_barrier_arrive(1 + (warpgroup + 1) % CONSUMERS, 256); };
    if (warpgroup == CONSUMERS - 1) passTurn();

    int tilesBefore = 0; // tiles of keys that the earlier tiles of queries have used
    visitTiles([&](int count, int head, int firstRow, int last) {
        const int row = firstRow + warp * 16 + lane / 4;    // this thread's; the other is row + 8
        const int limit = causal ? before + row + 1 : seqK; // row sees the keys below this one
        // All 64 rows of the warpgroup see the keys below seenByAll; none sees those from
        // seenByNone on.
        const int seenByAll = min(seqK, causal ? before + firstRow + 64 * warpgroup + 1 : seqK);
        const int seenByNone = causal ? before + firstRow + 64 * warpgroup + 64 : seqK;
        // A warpgroup's 64 queries are a block, with one scale. One beyond the last block has only
        // zeros, and reads the last scale so as to stay in the array.
        const float ofQ =
            scale * qScale[head * blocks + min(firstRow / BLOCK + warpgroup, blocks - 1)];
        const float *ofK = kScale + head / group * kBlocks;
        Rows rows = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
#pragma unroll
        for (int i = 0; i < DIM / 2; i++) o[i] = 0;

        // Both start products of the walk's i-th tile, sums = q * k^T and o += p * v, and return
        // before these are done. wgmma_fence: the products come after what the registers got.
        auto scores = [&](int i) {
            const int tile = tilesBefore + i, stage = tile % STAGES;
            tiles.kFull[stage].wait(tile / STAGES % 2);
            const uint64_t k = matrix_descriptor<DIM>(tiles.k[stage]);
            wgmma_fence();
            // A product takes 32 codes, 32 bytes of a row. A descriptor counts units of 16 bytes.
#pragma unroll
            for (int j = 0; j < DIM / 32; j++) {
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
        auto hidden = [&](int i) { return (last - i) * KEYS + KEYS > seenByAll; }; // from some row
        // Turns the sums into scores. If there are no second 64 keys, their scale may be any: they
        // are hidden.
        auto scaled = [&](int i, bool masked) {
            const int key = (last - i) * KEYS;
            const float left = ofQ * ofK[key / BLOCK];
            const float right = ofQ * ofK[min(key / BLOCK + 1, kBlocks - 1)];
            release(tiles.kEmpty[(tilesBefore + i) % STAGES]);
            toScores(s, sums, rows, left, right);
            if (masked) hide(s, key, seqK, limit, lane);
        };
        auto step = [&](int i, bool masked) {
            takeTurn();
            scores(i);
            output(i - 1);
            passTurn();
            wgmma_wait<1>(sums); // the scores are done; the output's product may run on
            scaled(i, masked);
            wgmma_wait<0>(o); // it has read p, too
            release(tiles.vEmpty[(tilesBefore + i - 1) % STAGES]);
            if (softmax(p, s, rows, masked)) {
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
            fence_proxy_async(); // the copy engine loads the next queries only after these loads
            __syncwarp();
            release(tiles.qEmpty);
        }
        int i = 0;
        // Tiles that the block loads for its other warpgroups, and none of these 64 rows sees.
        for (; i < last && (last - i) * KEYS >= seenByNone; i++) {
            takeTurn();
            const int tile = tilesBefore + i, stage = tile % STAGES, parity = tile / STAGES % 2;
            tiles.kFull[stage].wait(parity), tiles.vFull[stage].wait(parity);
            __syncwarp(); // a lane that still waits could miss its phase once the stage is refilled
            release(tiles.kEmpty[stage]), release(tiles.vEmpty[stage]);
            passTurn();
        }
        takeTurn();
        scores(i);
        passTurn();
        wgmma_wait<0>(sums);
        scaled(i, hidden(i));
        softmax(p, s, rows, true); // there is no base yet; nor is there an output to rescale
        for (i++; i <= last && hidden(i); i++) step(i, true);
        for (; i <= last; i++) step(i, false); // most tiles: no key is masked
        if (!HELD) release(tiles.qEmpty);
        output(last);

        float scaleOut[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float sum = rows.sum[h]; // of this thread's columns; four lanes share a row
            sum += __shfl_xor_sync(EVERYONE, sum, 1);
            sum += __shfl_xor_sync(EVERYONE, sum, 2);
            scaleOut[h] = sum > 0 ? 1 / sum : 0; // 0: the row sees no key (or is NaN, and o is too)
        }
        if (lane == 0) bulk_wait_read<0>(); // the previous output has left tiles.out
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
        fence_proxy_async(); // makes this thread's stores visible to the copy engine
        __syncwarp();
        if (lane == 0) {
            for (int box = 0; box < BOXES; box++)
                tma_store(outMap, tiles.out[warp][box], box * 64, firstRow + 16 * warp, head);
            bulk_commit();
        }
        tilesBefore += last + 1;
    });
    if (warpgroup == 0) takeTurn(); // takes the last turn passed: no barrier stays half full
    if (lane == 0) bulk_wait<0>();  // shared memory must outlive the last stores
}
