// [q | k | v] = x * [Wq | Wk | Wv] + bias as Hopper wants it: one product, sums in float32.
//
//   x [rows, hidden]     w [hidden, outputs]     bias [outputs], if biased
//   q [batch, heads, seq, dim], k and v [batch, kvHeads, seq, dim]; or, with tokensFirst,
//   q [batch, seq, heads, dim] and so on
//
// What is new beside kernels.cu: the copy engine (TMA) brings tiles, asked by one thread, and
// tensor cores (wgmma) take them from where they lie. One warpgroup asks, two multiply. A block
// goes on to its next tile: while it writes one, the next one's numbers already arrive.
//
// The host defines COLUMNS of a tile (64, 128 or 160), TALL (a warpgroup has 64 * TALL rows),
// STAGES, GROUP, BRAIN for bfloat16, and makes the maps: of x by boxes of 64 columns and all of a
// tile's rows, of w by 64 columns and 64 rows, both swizzled by 128 bytes.

#include <early.h>
#include <hopper.h>
#include <stdint.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
#else
typedef __half Half;
#endif

constexpr int CONSUMERS = 2, SLICE = 64; // numbers of hidden in a stage
constexpr int ROWS = 64 * TALL * CONSUMERS, THREADS = 128 * (CONSUMERS + 1);
constexpr int BOXES = (COLUMNS + 63) / 64;
constexpr int SUMS = COLUMNS / 2; // of 64 rows, that a thread has
constexpr unsigned EVERYONE = 0xffffffff;
static_assert(COLUMNS % 32 == 0, "an epilogue's step is 32 columns");

struct Stage {
    Half x[ROWS][SLICE];
    Half w[BOXES][SLICE][64];
};
struct Memory {
    Stage stages[STAGES];
    Mbarrier full[STAGES], empty[STAGES];
};

// --- Epilogue

__device__ uint32_t pack(float low, float high) {
#ifdef BRAIN
    __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
#else
    __half2 two = __floats2half2_rn(low, high);
#endif
    return *reinterpret_cast<uint32_t *>(&two);
}

__device__ float2 unpack(uint32_t word) {
#ifdef BRAIN
    return __bfloat1622float2(*reinterpret_cast<__nv_bfloat162 *>(&word));
#else
    return __half22float2(*reinterpret_cast<__half2 *>(&word));
#endif
}

// Where outputs go. In front of a head's line of a row there are base * all + token others, and
// step for each head before it, where q, or k, or v has so many heads in all.
struct Line {
    int base, token;
};
struct Places {
    Half *q, *k, *v;
    int rows, outputs, seq, heads, kvHeads, dim, tokensFirst;

    __device__ Line line(int row) const {
        return tokensFirst ? Line{row, 0} : Line{row / seq * seq, row % seq};
    }
    __device__ Half *of(Line line, int head, int offset) const {
        int all = heads;
        Half *to = q;
        if (head >= heads) {
            head -= heads, all = kvHeads, to = k;
            if (head >= kvHeads) head -= kvHeads, to = v;
        }
        const size_t n =
            (size_t)line.base * all + line.token + (size_t)head * (tokensFirst ? 1 : seq);
        return to + n * dim + offset;
    }
};

// Lane t of four has pairs 4i + t of 32 columns, for i < 4; afterwards its p are pairs 4t to
// 4t + 3, which lie together: eight columns, 16 bytes.
__device__ void transpose(uint32_t (&p)[4], int lane) {
#pragma unroll
    for (int by = 1; by <= 2; by *= 2) {
        const bool high = lane & by;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (i & by) continue;
            const uint32_t theirs = __shfl_xor_sync(EVERYONE, high ? p[i] : p[i + by], by);
            (high ? p[i] : p[i + by]) = theirs;
        }
    }
}

struct Tile {
    int row, column;
};
// GROUP rows of tiles are taken column by column: blocks that run together share what they read.
__device__ Tile tileOf(int index, int high, int wide) {
    const int first = index / (GROUP * wide) * GROUP, rest = index - first * wide;
    const int here = min(GROUP, high - first);
    return {(first + rest % here) * ROWS, rest / here * COLUMNS};
}

// A place on the way through the slices of all of a block's tiles, and its stage.
struct Walk {
    int index, slice, stage, phase;
    Tile tile;
};

extern "C" __global__ __launch_bounds__(THREADS, 1) void project(
    const __grid_constant__ CUtensorMap xMap, const __grid_constant__ CUtensorMap wMap,
    const Half *bias, Half *q, Half *k, Half *v, int rows, int hidden, int outputs, int seq,
    int heads, int kvHeads, int dim, int tokensFirst, int biased) {
    extern __shared__ unsigned char bytes[]; // swizzled tiles begin at multiples of 1024
    Memory &memory = *reinterpret_cast<Memory *>(((uintptr_t)bytes + 1023) / 1024 * 1024);

    const int high = (rows + ROWS - 1) / ROWS, wide = (outputs + COLUMNS - 1) / COLUMNS; // tiles
    const int slices = (hidden + SLICE - 1) / SLICE;

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++)
            memory.full[i].init(1), memory.empty[i].init(4 * CONSUMERS);
        fence_mbarrier_init();
    }
    __syncthreads();
    letTheNextBegin();
    const int warpgroup = threadIdx.x / 128, lane = threadIdx.x % 32;
    if (warpgroup == CONSUMERS) { // asks for stages, as fast as they get empty
        setmaxnreg_dec<24>();
        if (threadIdx.x % 128 == 0) {
            Walk w = {(int)blockIdx.x, 0, 0, 1, tileOf(blockIdx.x, high, wide)}, x = w;
            const auto next = [&](Walk &at) {
                if (++at.stage == STAGES) at.stage = 0, at.phase ^= 1;
                if (++at.slice < slices) return;
                at.index += gridDim.x, at.slice = 0;
                if (at.index < high * wide) at.tile = tileOf(at.index, high, wide);
            };
            const auto askW = [&]() {
                Mbarrier &full = memory.full[w.stage];
                full.arrive_expect_tx(sizeof(Stage));
                for (int box = 0; box < BOXES; box++)
                    tma_load(memory.stages[w.stage].w[box], wMap, full, w.tile.column + 64 * box,
                             w.slice * SLICE);
                next(w);
            };
            const auto askX = [&]() {
                tma_load(memory.stages[x.stage].x, xMap, memory.full[x.stage], x.slice * SLICE,
                         x.tile.row);
                next(x);
            };
            int early = 0;
            for (; early < STAGES && w.index < high * wide; early++) askW();
            waitForTheOneBefore(); // x may be what it writes
            for (; early > 0; early--) askX();
            while (w.index < high * wide) {
                memory.empty[w.stage].wait(w.phase);
                askW();
                askX();
            }
        }
    } else {
        setmaxnreg_inc<240>();
        const Places places = {q, k, v, rows, outputs, seq, heads, kvHeads, dim, tokensFirst};
        const auto release = [&](int stage) { // the products are done with it
            if (lane == 0) memory.empty[stage].arrive();
        };
        // Of [64 x COLUMNS] a thread has, as number 4 * j + 2 * h + c, column
        // 8 * j + lane % 4 * 2 + c of its warp's row lane / 4 + 8 * h.
        float sums[TALL][SUMS];
        int stage = 0, phase = 0;
        for (int index = blockIdx.x; index < high * wide; index += gridDim.x) {
            const Tile tile = tileOf(index, high, wide);
            int last = -1; // the stage whose products may still run
            for (int slice = 0; slice < slices; slice++) {
                memory.full[stage].wait(phase);
                const Stage &s = memory.stages[stage];
                const uint64_t w = matrix_descriptor(s.w, sizeof s.w[0]);
                wgmma_fence();
#pragma unroll
                for (int j = 0; j < SLICE / 16; j++) {
#pragma unroll
                    for (int m = 0; m < TALL; m++) {
                        const uint64_t x = matrix_descriptor(s.x[(warpgroup * TALL + m) * 64]);
                        wgmma<COLUMNS, Half, MN_MAJOR>(sums[m], x + j * 32 / 16,
                                                       w + j * 16 * 128 / 16, slice > 0 || j > 0);
                    }
                }
                wgmma_commit();
                wgmma_wait<1>(); // those of the stage before
                if (last >= 0) release(last);
                last = stage;
                if (++stage == STAGES) stage = 0, phase ^= 1;
            }

            uint32_t b[COLUMNS / 8]; // the bias comes while the last products run
#pragma unroll
            for (int j = 0; j < COLUMNS / 8; j++) {
                const int column = tile.column + 8 * j + lane % 4 * 2;
                b[j] = 0;
                if (biased && column < outputs)
                    b[j] = *reinterpret_cast<const uint32_t *>(bias + column);
            }
            wgmma_wait<0>(sums);
            release(last);

            waitForTheOneBefore(); // whoever reads what is written here has ended
            const int row = tile.row + warpgroup * TALL * 64 + threadIdx.x / 32 % 4 * 16 + lane / 4;
            const int firstColumn = tile.column + lane % 4 * 8;
#pragma unroll
            for (int m = 0; m < TALL; m++) {
                const Line lines[2] = {places.line(row + m * 64), places.line(row + m * 64 + 8)};
                int head = firstColumn / dim, offset = firstColumn % dim;
#pragma unroll
                for (int g = 0; g < COLUMNS / 32; g++) { // 32 columns
                    uint32_t p[2][4];
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        const int j = 4 * g + i;
                        const float *sum = &sums[m][4 * j];
                        const float2 more = unpack(b[j]);
                        p[0][i] = pack(sum[0] + more.x, sum[1] + more.y);
                        p[1][i] = pack(sum[2] + more.x, sum[3] + more.y);
                    }
#pragma unroll
                    for (int h = 0; h < 2; h++) {
                        transpose(p[h], lane);
                        if (row + m * 64 + 8 * h < rows && firstColumn + 32 * g < outputs)
                            *reinterpret_cast<uint4 *>(places.of(lines[h], head, offset)) =
                                make_uint4(p[h][0], p[h][1], p[h][2], p[h][3]);
                    }
                    for (offset += 32; offset >= dim; offset -= dim) head++;
                }
            }
        }
    }
}
