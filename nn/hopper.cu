// product.cu's work on Hopper, with its own tensor-core instructions: out = x * w^T + bias, as
// exact as in float32, from the halves that pieces.cu makes.
//
//   x [rows, slabs, 2, SLAB]     w [layers, padded, slabs, 2, SLAB]     out [rows, width], one for
//   each layer
//
// The sums are product.cu's: the small products first, from zero, for a few terms; ordinary
// additions do the rest. What is new is who moves the numbers. One thread asks the copy engine
// (TMA) for whole tiles, and the tensor cores (wgmma) read both sides from where these arrive, so
// no thread loads, stores or even sees an operand. Four warps multiply together, a warpgroup.
//
// A block has three warpgroups. One asks for slabs; two multiply, each with its own half of the
// tile's rows. While one adds up what it has found, its next products run already.
//
// If there are too few tiles to fill the device, the blocks of a cluster share a tile: each has
// some of its slabs, and then some of its rows, whose sums it collects from the others' shared
// memory.

#include <cooperative_groups.h>
#include <hopper.h>
#include <stdint.h>

// defines.go defines SLAB, the numbers of a slab, COLUMNS, those of a tile, and what happens to x *
// w^T + bias: GELU, or ADD, which adds it to what is already in out. hopper.go repeats ROWS and
// STAGES.

#define WARPGROUP 128
#define MULTIPLIERS 2 // warpgroups
#define ROWS (MULTIPLIERS * 64)
#define STAGES 6
#define GROUP 16                        // lines of tiles that share their reads of w
#define LINE 128                        // bytes of a line in a slab: high halves, then low ones
#define STAGE ((ROWS + COLUMNS) * LINE) // bytes
#define SUMS (COLUMNS / 2)              // of a thread

// --- Products

// matrix_descriptor's sum, not its bits: so the compiler folds what is added behind it.
__device__ uint64_t operand(const unsigned char *rows) {
    const uint64_t start = (uint32_t)__cvta_generic_to_shared(rows) % (1 << 18) / 16;
    return start + ((uint64_t)(1024 / 16) << 32) + ((uint64_t)1 << 62);
}

// Multiplies one slab of 64 lines of x and all of w's: part = xLow * wHigh + xHigh * wLow + xHigh
// * wHigh. A half of a line is 32 halves, 64 bytes; a product takes 16 of them.
__device__ void multiply(float (&part)[SUMS], const unsigned char *x, const unsigned char *w) {
    constexpr int HIGH = 0, LOW = SLAB * 2 / 16, STEP = 32 / 16; // in units of 16 bytes
    const uint64_t a = operand(x), b = operand(w);
    const auto mma = [&](uint64_t x, uint64_t w, bool add) {
        wgmma<COLUMNS, __half>(part, x, w, add);
    };
    wgmma_fence(); // part's registers are free
#pragma unroll
    for (int k = 0; k < SLAB / 16; k++) mma(a + LOW + k * STEP, b + HIGH + k * STEP, k > 0);
#pragma unroll
    for (int k = 0; k < SLAB / 16; k++) mma(a + HIGH + k * STEP, b + LOW + k * STEP, 1);
#pragma unroll
    for (int k = 0; k < SLAB / 16; k++) mma(a + HIGH + k * STEP, b + HIGH + k * STEP, 1);
    wgmma_commit();
}

// Waits for all products but those of the last LEFT slabs, and adds up the oldest.
template <int LEFT> __device__ void addUp(float (&sum)[SUMS], float (&part)[SUMS]) {
    wgmma_wait<LEFT>(part);
#pragma unroll
    for (int i = 0; i < SUMS; i++) sum[i] += part[i];
}

// --- Results

__device__ float gelu(float x) { // as in elementwise.cu, but for the last bits
    const float u = 0.7978845608028654f * (x + 0.044715f * x * x * x);
    return __fdividef(x, 1.0f + __expf(-2.0f * u));
}

// A sum without its scales, plus the bias. The smaller factor first: the product of both might not
// fit in a float.
__device__ float finish(float sum, float xBack, float wBack, float bias, int then) {
    const float value = sum * fminf(xBack, wBack) * fmaxf(xBack, wBack) + bias;
    return then == GELU ? gelu(value) : value;
}

// What a block needs of its tile's rows and columns when it writes them.
struct Lines {
    float xBack[ROWS], wBack[COLUMNS], bias[COLUMNS];
};

// A tile's sums, in place of slabs that have been used. Eight more columns: so what is written
// together is in different banks.
typedef float Sums[ROWS][COLUMNS + 8];

// Keeps a thread's sums: number 4 j + 2 h + c is that of column 8 j + lane % 4 * 2 + c in row
// lane / 4 + 8 h of its warp's 16.
__device__ void keep(Sums &sums, const float (&sum)[SUMS]) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; j++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            *(float2 *)&sums[row + 8 * h][8 * j + column] =
                make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
}

// Writes some rows of the tile, from first to end: out is where its first number goes, and rows and
// columns are how many of it are within the result. A thread has four neighbours of a row at a
// time. wide says that rows start at multiples of 16 bytes.
__device__ void write(float *out, Sums &sums, const Lines &known, int first, int end, int rows,
                      int columns, int width, int then, int wide) {
    constexpr int FOURS = COLUMNS / 4;
    const auto cluster = cooperative_groups::this_cluster();
    const int splits = cluster.num_blocks();
#pragma unroll 4
    for (int i = threadIdx.x; i < (end - first) * FOURS; i += MULTIPLIERS * WARPGROUP) {
        const int row = first + i / FOURS, column = i % FOURS * 4;
        const int left = row < rows ? columns - column : 0;
        float *at = out + (size_t)row * width + column;
        float v[4] = {}, old[4] = {};
        if (then == ADD && wide && left > 0) { // on its way while the sums are collected
            const float4 four = *(const float4 *)at;
            old[0] = four.x, old[1] = four.y, old[2] = four.z, old[3] = four.w;
        }
        for (int s = 0; s < splits; s++) { // always in the same order, so with the same result
            const float4 four = *(const float4 *)cluster.map_shared_rank(&sums[row][column], s);
            v[0] += four.x, v[1] += four.y, v[2] += four.z, v[3] += four.w;
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (then == ADD && !wide && j < left) old[j] = at[j];
            v[j] = old[j] + finish(v[j], known.xBack[row], known.wBack[column + j],
                                   known.bias[column + j], then);
            if (!wide && j < left) at[j] = v[j];
        }
        if (wide && left > 0) *(float4 *)at = make_float4(v[0], v[1], v[2], v[3]);
    }
}

// --- Tiles

// The cluster's tile. The order goes down a group of GROUP lines of tiles, then along it.
__device__ int2 tileOf(int block, int lines, int columns) {
    const int first = block / (GROUP * columns) * GROUP;
    const int height = min(GROUP, lines - first);
    const int within = block - first * columns;
    return make_int2(first + within % height, within / height);
}

// padded is how many lines of w a layer has, at least width.
extern "C" __global__ void __launch_bounds__((MULTIPLIERS + 1) * WARPGROUP, 1)
    hopper(const __grid_constant__ CUtensorMap xMap, const __grid_constant__ CUtensorMap wMap,
           const float *xBack, const float *wBack, const float *bias0, const float *bias1,
           const float *bias2, float *out0, float *out1, float *out2, int rows, int width,
           int slabs, int padded, int hasBias, int layers, int then, int wide) {
    extern __shared__ unsigned char shared[];
    unsigned char *stages = (unsigned char *)(((uintptr_t)shared + 1023) / 1024 * 1024);
    __shared__ Mbarrier full[STAGES], empty[STAGES];
    __shared__ Lines known;
    const auto cluster = cooperative_groups::this_cluster();
    const int split = cluster.block_rank(), splits = cluster.num_blocks();
    const int across = (width + COLUMNS - 1) / COLUMNS; // tiles of a layer
    const int2 tile = tileOf(blockIdx.x / splits, (rows + ROWS - 1) / ROWS, across * layers);
    const int layer = tile.y / across, row0 = tile.x * ROWS, column0 = tile.y % across * COLUMNS;
    const int slab0 = slabs * split / splits, slabEnd = slabs * (split + 1) / splits;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) full[s].init(1), empty[s].init(4 * MULTIPLIERS);
        fence_mbarrier_init();
    }
    __syncthreads();

    const int warpgroup = threadIdx.x / WARPGROUP;
    int stage = 0, phase = 0;
    const auto next = [&] {
        if (++stage == STAGES) stage = 0, phase ^= 1;
    };
    Sums &sums = *(Sums *)stages;
    // The asking warpgroup gives up registers, which the others take.
    if (warpgroup == MULTIPLIERS) {
        setmaxnreg_dec<56>();
        if (threadIdx.x % WARPGROUP == 0)
            for (int slab = slab0; slab < slabEnd; slab++, next()) {
                empty[stage].wait(phase ^ 1);
                full[stage].arrive_expect_tx(STAGE);
                unsigned char *to = stages + stage * STAGE;
                tma_load(to, xMap, full[stage], slab * 2 * SLAB, row0);
                tma_load(to + ROWS * LINE, wMap, full[stage], slab * 2 * SLAB,
                         layer * padded + column0);
            }
    } else {
        setmaxnreg_inc<224>();
        // 1. Ask for what is needed last: then nobody waits for it.
        const float *bias = layer == 0 ? bias0 : layer == 1 ? bias1 : bias2;
        const int i = threadIdx.x % WARPGROUP, column = column0 + i;
        const bool within = i < COLUMNS && column < width;
        if (warpgroup == 0) known.xBack[i] = row0 + i < rows ? xBack[row0 + i] : 0.0f;
        if (warpgroup == 1 && i < COLUMNS) {
            known.wBack[i] = within ? wBack[layer * padded + column] : 0.0f;
            known.bias[i] = within && hasBias ? bias[column] : 0.0f;
        }

        // 2. Products, of two slabs at a time: while one is added up, the next is on its way.
        float sum[SUMS] = {}, even[SUMS], odd[SUMS];
        int before = 0; // the other slab's stage
        const auto step = [&](float(&part)[SUMS], float(&last)[SUMS], bool isFirst) {
            full[stage].wait(phase);
            const unsigned char *x = stages + stage * STAGE;
            multiply(part, x + warpgroup * 64 * LINE, x + ROWS * LINE);
            if (!isFirst) {
                addUp<1>(sum, last);
                if (threadIdx.x % 32 == 0) empty[before].arrive(); // each warp
            }
            before = stage;
            next();
        };
        for (int slab = slab0; slab < slabEnd; slab += 2) {
            step(even, odd, slab == slab0);
            if (slab + 1 < slabEnd) step(odd, even, false);
        }
        if ((slabEnd - slab0) % 2 == 1)
            addUp<0>(sum, even);
        else
            addUp<0>(sum, odd);

        // 3. Keep the sums where slabs were, once both warpgroups are done with these.
        named_barrier_sync(1, MULTIPLIERS * WARPGROUP);
        keep(sums, sum);
    }
    cluster.sync(); // all sums of the tile are there
    if (warpgroup < MULTIPLIERS) {
        float *out = (layer == 0 ? out0 : layer == 1 ? out1 : out2);
        write(out + (size_t)row0 * width + column0, sums, known, ROWS * split / splits,
              ROWS * (split + 1) / splits, rows - row0, width - column0, width, then, wide);
    }
    cluster.sync(); // nobody leaves whose sums are still read
}
