// A linear layer in halves for many rows on Hopper: y = x * w^T, sums in float32; or, gated,
// y = silu(x * gate^T) * (x * up^T), where w is the gate's lines, then up's.
//
//   x [rows, in]     w [width, in]; gated, [2 * width, in]     y [rows, width]
//
// What is new beside product.cu, and as bonus task b4's kernel for Hopper does it: the copy engine
// (TMA) brings tiles, asked by one thread, and tensor cores (wgmma) take them from where they lie.
// One warpgroup asks, two multiply. A block goes on to its next tile: while it writes one, the next
// one's numbers already arrive.
//
// A gated tile is half gate and half up, of the same columns of y. A thread then has both numbers
// of each result, and neither is ever written.
//
// linear.go makes the maps: of x by boxes of a tile's rows, of w by boxes of BOX lines, 64 numbers
// of in each, swizzled by 128 bytes. in and width are multiples of 8.

#include <hopper.h>
#include <stdint.h>

constexpr int CONSUMERS = 2, SLICE = 64; // numbers of in, in a stage
constexpr int THREADS = 128 * (CONSUMERS + 1);
constexpr int BOX = 64;  // lines of w
constexpr int GROUP = 8; // rows of tiles that share their reads of w
constexpr unsigned EVERYONE = 0xffffffff;

template <int ROWS, int COLUMNS, int STAGES> struct Memory {
    struct Stage {
        __half x[ROWS][SLICE];
        __half w[COLUMNS][SLICE];
    } stages[STAGES];
    Mbarrier full[STAGES], empty[STAGES];
};

// --- The way through tiles and stages

struct Tile {
    int row, column; // of y
};
// All tiles of y. GROUP rows of tiles are taken column by column: blocks that run together share
// what they read.
struct Tiles {
    int high, wide, rows, columns; // tiles; of a tile

    __device__ int count() const { return high * wide; }
    __device__ Tile operator[](int index) const {
        const int first = index / (GROUP * wide) * GROUP, rest = index - first * wide;
        const int here = min(GROUP, high - first);
        return {(first + rest % here) * rows, rest / here * columns};
    }
};

// Stages are taken in turn.
template <int STAGES> struct Turn {
    int stage, phase;

    __device__ void next() {
        if (++stage == STAGES) stage = 0, phase ^= 1;
    }
};

// --- Epilogue

__device__ uint32_t pack(float low, float high) {
    __half2 two = __floats2half2_rn(low, high);
    return *reinterpret_cast<uint32_t *>(&two);
}

// expf overflows to infinity, and gives 0.
__device__ float silu(float x) {
    return x / (1.0f + expf(-x));
}

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

// Writes the sums of 64 rows. Of [64 x 2N] a thread has, as number 4 * j + 2 * h + c, column
// 8 * j + lane % 4 * 2 + c of its warp's row lane / 4 + 8 * h.
template <bool GATED, int N>
__device__ void write(__half *y, const float (&sums)[N], Tile tile, int rows, int width) {
    constexpr int OUTPUTS = GATED ? N : 2 * N; // columns of y
    const int lane = threadIdx.x % 32;
    const int row = tile.row + threadIdx.x / 32 % 4 * 16 + lane / 4;
    const int column = tile.column + lane % 4 * 8;
#pragma unroll
    for (int g = 0; g < OUTPUTS / 32; g++) { // 32 columns
#pragma unroll
        for (int h = 0; h < 2; h++) {
            uint32_t p[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int first = 4 * (4 * g + i) + 2 * h;
                float low = sums[first], high = sums[first + 1];
                if (GATED) {
                    low = silu(low) * sums[first + N / 2];
                    high = silu(high) * sums[first + 1 + N / 2];
                }
                p[i] = pack(low, high);
            }
            transpose(p, lane);
            if (row + 8 * h < rows && column + 32 * g < width)
                *reinterpret_cast<uint4 *>(y + (size_t)(row + 8 * h) * width + column + 32 * g) =
                    make_uint4(p[0], p[1], p[2], p[3]);
        }
    }
}

// --- The two kinds of warpgroups

// One thread asks for stages, as fast as they get empty.
template <bool GATED, int ROWS, int COLUMNS, int STAGES>
__device__ void ask(Memory<ROWS, COLUMNS, STAGES> &memory, const CUtensorMap &xMap,
                    const CUtensorMap &wMap, Tiles tiles, int slices, int width) {
    Turn<STAGES> turn = {0, 1};
    for (int index = blockIdx.x; index < tiles.count(); index += gridDim.x) {
        const Tile tile = tiles[index];
        for (int slice = 0; slice < slices; slice++, turn.next()) {
            auto &stage = memory.stages[turn.stage];
            Mbarrier &full = memory.full[turn.stage];
            memory.empty[turn.stage].wait(turn.phase);
            full.arrive_expect_tx(sizeof stage);
            tma_load(stage.x, xMap, full, slice * SLICE, tile.row);
#pragma unroll
            for (int box = 0; box < COLUMNS / BOX; box++)
                tma_load(stage.w[box * BOX], wMap, full, slice * SLICE,
                         tile.column + box * (GATED ? width : BOX));
        }
    }
}

// A warpgroup multiplies ROWS / CONSUMERS rows of each tile, and writes what it has found.
template <bool GATED, int ROWS, int COLUMNS, int STAGES>
__device__ void consume(Memory<ROWS, COLUMNS, STAGES> &memory, __half *y, Tiles tiles, int slices,
                        int rows, int width) {
    constexpr int TALL = ROWS / CONSUMERS / 64, SUMS = COLUMNS / 2;
    const int mine = threadIdx.x / 128 * TALL * 64;
    const auto release = [&](int stage) { // the products are done with it
        if (threadIdx.x % 32 == 0) memory.empty[stage].arrive();
    };
    float sums[TALL][SUMS];
    Turn<STAGES> turn = {0, 0};
    for (int index = blockIdx.x; index < tiles.count(); index += gridDim.x) {
        int last = -1; // the stage whose products may still run
        for (int slice = 0; slice < slices; slice++, turn.next()) {
            memory.full[turn.stage].wait(turn.phase);
            const auto &stage = memory.stages[turn.stage];
            const uint64_t w = matrix_descriptor(stage.w);
            wgmma_fence();
#pragma unroll
            for (int j = 0; j < SLICE / 16; j++) { // 16 numbers are 32 bytes
#pragma unroll
                for (int m = 0; m < TALL; m++) {
                    const uint64_t x = matrix_descriptor(stage.x[mine + m * 64]);
                    wgmma<COLUMNS, __half>(sums[m], x + j * 32 / 16, w + j * 32 / 16,
                                           slice > 0 || j > 0);
                }
            }
            wgmma_commit();
            wgmma_wait<1>(); // those of the stage before
            if (last >= 0) release(last);
            last = turn.stage;
        }
        wgmma_wait<0>(sums);
        release(last);

        const Tile tile = tiles[index];
#pragma unroll
        for (int m = 0; m < TALL; m++)
            write<GATED>(y, sums[m], {tile.row + mine + m * 64, tile.column}, rows, width);
    }
}

template <bool GATED, int ROWS, int COLUMNS, int STAGES>
__device__ __forceinline__ void product(const CUtensorMap &xMap, const CUtensorMap &wMap, __half *y,
                                        int rows, int in, int width) {
    extern __shared__ unsigned char bytes[]; // swizzled tiles begin at multiples of 1024
    auto &memory =
        *reinterpret_cast<Memory<ROWS, COLUMNS, STAGES> *>(((uintptr_t)bytes + 1023) / 1024 * 1024);
    constexpr int OUTPUTS = GATED ? COLUMNS / 2 : COLUMNS; // of a tile, columns of y
    const Tiles tiles = {(rows + ROWS - 1) / ROWS, (width + OUTPUTS - 1) / OUTPUTS, ROWS, OUTPUTS};
    const int slices = (in + SLICE - 1) / SLICE;

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++)
            memory.full[i].init(1), memory.empty[i].init(4 * CONSUMERS);
        fence_mbarrier_init();
    }
    __syncthreads();
    // A processor's 65,536 registers: 24 for each thread that asks, 240 for each that multiplies.
    if (threadIdx.x / 128 == CONSUMERS) {
        setmaxnreg_dec<24>();
        if (threadIdx.x % 128 == 0) ask<GATED>(memory, xMap, wMap, tiles, slices, width);
    } else {
        setmaxnreg_inc<240>();
        consume<GATED>(memory, y, tiles, slices, rows, width);
    }
}

#define PRODUCT(NAME, GATED, ROWS, COLUMNS, STAGES)                                                \
    extern "C" __global__ __launch_bounds__(THREADS, 1) void NAME(                                 \
        const __grid_constant__ CUtensorMap xMap, const __grid_constant__ CUtensorMap wMap,        \
        __half *y, int rows, int in, int width) {                                                  \
        product<GATED, ROWS, COLUMNS, STAGES>(xMap, wMap, y, rows, in, width);                     \
    }
PRODUCT(product_256_128, false, 256, 128, 4)
PRODUCT(product_128_192, false, 128, 192, 5)
PRODUCT(product_128_128, false, 128, 128, 6)
PRODUCT(gated_256_128, true, 256, 128, 4)
PRODUCT(gated_128_128, true, 128, 128, 6)
