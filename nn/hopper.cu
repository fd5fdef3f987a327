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
// tile's rows. While one of them adds up what it has found, the other's products run. A block goes
// on to its next tile: while the last sums of one are written, the next one's slabs arrive.

#include <cuda.h>
#include <stdint.h>

// defines.go defines SLAB, the numbers of a slab, COLUMNS, those of a tile, and what happens to x *
// w^T + bias: GELU, or ADD, which adds it to what is already in out.

#define WARPGROUP 128
#define MULTIPLIERS 2 // warpgroups
#define GROUP 16      // lines of tiles that share their reads of w
#define LINE 128      // bytes of a line in a slab: high halves, then low ones

// --- Barriers in shared memory, for threads and copies

// It opens once for each of its phases 0, 1, 0, 1 ..., when all expected arrivals and bytes are
// there.
struct Gate {
    uint64_t state;

    __device__ uint32_t where() const { return (uint32_t)__cvta_generic_to_shared(this); }
    __device__ void setUp(int arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(where()), "r"(arrivals));
    }
    __device__ void arriveWith(int bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :
                     : "r"(where()), "r"(bytes)
                     : "memory");
    }
    __device__ void arrive() {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(where()) : "memory");
    }
    // Before phase 0, phase 1 counts as past.
    __device__ void pass(int phase) {
        for (uint32_t open = 0; !open;)
            asm volatile("{\n"
                         ".reg .pred opened;\n"
                         "mbarrier.try_wait.parity.shared::cta.b64 opened, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, opened;\n"
                         "}"
                         : "=r"(open)
                         : "r"(where()), "r"(phase)
                         : "memory");
    }
};

// Asks for the lines of one slab, from a line on; zeros stand for lines beyond the end. Of line n
// the copy engine puts piece p, of 16 bytes, where piece p ^ n % 8 would be: the tensor cores
// expect that.
__device__ void ask(unsigned char *to, const CUtensorMap *map, int half, int line, Gate *full) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(map), "r"(half), "r"(line),
                   "r"(full->where())
                 : "memory");
}

// --- Products

// Lines of a slab, for wgmma: where they begin, in units of 16 bytes; 1024 bytes to the next eight
// lines; and 1 for the order of pieces within a line, that of 128 bytes.
__device__ uint64_t operand(const unsigned char *lines) {
    const uint64_t start = (uint32_t)__cvta_generic_to_shared(lines) % (1 << 18) / 16;
    return start + ((uint64_t)(8 * LINE / 16) << 32) + ((uint64_t)1 << 62);
}

#define EIGHT(a, b, c, d, e, f, g, h)                                                              \
    "%" #a ", %" #b ", %" #c ", %" #d ", %" #e ", %" #f ", %" #g ", %" #h
#define SUM4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SUM16(i) SUM4(i), SUM4(i + 4), SUM4(i + 8), SUM4(i + 12)

// sum [64, 128] = x [64, 16] * w [128, 16]^T, or adds it.
__device__ void mma_64x128(float (&sum)[64], uint64_t x, uint64_t w, int add) {
    asm volatile("{\n"
                 ".reg .pred adds;\n"
                 "setp.ne.b32 adds, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" EIGHT(0, 1, 2, 3, 4, 5, 6, 7) ", " EIGHT(
                     8, 9, 10, 11, 12, 13, 14,
                     15) ", " EIGHT(16, 17, 18, 19, 20, 21, 22,
                                    23) ", " EIGHT(24, 25, 26, 27, 28, 29, 30,
                                                   31) ", " EIGHT(32, 33, 34, 35, 36, 37, 38,
                                                                  39) ", " EIGHT(40, 41, 42, 43, 44,
                                                                                 45, 46,
                                                                                 47) ", " EIGHT(48,
                                                                                                49,
                                                                                                50,
                                                                                                51,
                                                                                                52,
                                                                                                53,
                                                                                                54,
                                                                                                55) ", " EIGHT(56,
                                                                                                               57,
                                                                                                               58,
                                                                                                               59,
                                                                                                               60,
                                                                                                               61,
                                                                                                               62,
                                                                                                               63) "}, %64, %65, adds, 1, 1, 0, 0;\n"
                                                                                                                   "}"
                 : SUM16(0), SUM16(16), SUM16(32), SUM16(48)
                 : "l"(x), "l"(w), "r"(add));
}

// One slab of 64 lines of x with all of w's: part = xLow * wHigh + xHigh * wLow + xHigh * wHigh. A
// half of a line is 32 halves, 64 bytes; a product takes 16 of them.
__device__ void multiply(float (&part)[64], const unsigned char *x, const unsigned char *w) {
    constexpr int HIGH = 0, LOW = SLAB * 2 / 16, STEP = 32 / 16; // in units of 16 bytes
    const uint64_t a = operand(x), b = operand(w);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); // part's registers are free
#pragma unroll
    for (int k = 0; k < SLAB / 16; k++)
        mma_64x128(part, a + LOW + k * STEP, b + HIGH + k * STEP, k > 0);
#pragma unroll
    for (int k = 0; k < SLAB / 16; k++)
        mma_64x128(part, a + HIGH + k * STEP, b + LOW + k * STEP, 1);
#pragma unroll
    for (int k = 0; k < SLAB / 16; k++)
        mma_64x128(part, a + HIGH + k * STEP, b + HIGH + k * STEP, 1);
    asm volatile("wgmma.commit_group.sync.aligned;\n"
                 "wgmma.wait_group.sync.aligned 0;" ::
                     : "memory");
#pragma unroll
    for (int i = 0; i < 64; i++) asm volatile("" : "+f"(part[i])::"memory"); // not read before
}

// --- Tiles

__device__ float finish(float value, const float *out, int then) {
    if (then == ADD) return *out + value;
    if (then != GELU) return value;
    const float u = 0.7978845608028654f * (value + 0.044715f * value * value * value);
    return value / (1.0f + expf(-2.0f * u)); // as in elementwise.cu
}

// The block's tile. The order goes down a group of GROUP lines of tiles, then along it.
__device__ int2 tileOf(int block, int lines, int columns) {
    const int first = block / (GROUP * columns) * GROUP;
    const int height = min(GROUP, lines - first);
    const int within = block - first * columns;
    return make_int2(first + within % height, within / height);
}

// A layer of x: what undoes the scales of its w [width], its bias and its results.
struct Layer {
    const float *back, *bias;
    float *out;
};

// Writes sums of 64 rows, from row and column on. A thread's number 4 j + 2 h + c is that of column
// 8 j + lane % 4 * 2 + c in row lane / 4 + 8 h of its warp's 16.
__device__ void write(const float (&sum)[64], const float *xBack, Layer layer, int row0,
                      int column0, int rows, int width, int then, int wide) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; j++) {
        const int column = column0 + j * 8 + lane % 4 * 2;
        if (column >= width) continue;
        const bool two = column + 1 < width;
        const float back0 = layer.back[column], back1 = layer.back[column + 1]; // or of padding
        const float add0 = layer.bias ? layer.bias[column] : 0.0f;
        const float add1 = layer.bias && two ? layer.bias[column + 1] : 0.0f;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int row = row0 + warp * 16 + h * 8 + lane / 4;
            if (row >= rows) continue;
            const float back = xBack[row];
            float *at = layer.out + (size_t)row * width + column;
            // The smaller factor first: the product of both might not fit in a float.
            float2 v = make_float2(
                sum[4 * j + 2 * h] * fminf(back, back0) * fmaxf(back, back0) + add0,
                sum[4 * j + 2 * h + 1] * fminf(back, back1) * fmaxf(back, back1) + add1);
            v.x = finish(v.x, at, then);
            if (two) v.y = finish(v.y, at + 1, then);
            if (wide) {
                *(float2 *)at = v;
                continue;
            }
            at[0] = v.x;
            if (two) at[1] = v.y;
        }
    }
}

// TALL times 64 rows for each warpgroup that multiplies. padded is a layer's width in whole tiles.
template <int TALL, int STAGES>
__device__ __forceinline__ void product(const CUtensorMap *xMap, const CUtensorMap *wMap,
                                        const float *xBack, const Layer (&layers)[3], int rows,
                                        int width, int slabs, int padded, int parts, int then,
                                        int wide) {
    constexpr int ROWS = MULTIPLIERS * TALL * 64, BYTES = (ROWS + COLUMNS) * LINE; // of a stage
    extern __shared__ unsigned char shared[];
    unsigned char *stages = (unsigned char *)(((uintptr_t)shared + 1023) / 1024 * 1024);
    __shared__ Gate full[STAGES], empty[STAGES];
    const int lines = (rows + ROWS - 1) / ROWS, columns = parts * padded / COLUMNS;

    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) full[s].setUp(1), empty[s].setUp(4 * MULTIPLIERS);
        asm volatile("fence.mbarrier_init.release.cluster;" ::
                         : "memory"); // seen by the copy engine
    }
    __syncthreads();

    // The asking warpgroup gives up registers, which the others take.
    const int warpgroup = threadIdx.x / WARPGROUP;
    int stage = 0, phase = 0;
    const auto next = [&] {
        if (++stage == STAGES) stage = 0, phase ^= 1;
    };
    if (warpgroup == MULTIPLIERS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x % WARPGROUP != 0) return;
        for (int block = blockIdx.x; block < lines * columns; block += gridDim.x) {
            const int2 tile = tileOf(block, lines, columns);
            for (int slab = 0; slab < slabs; slab++, next()) {
                empty[stage].pass(phase ^ 1);
                full[stage].arriveWith(BYTES);
                unsigned char *to = stages + stage * BYTES;
                ask(to, xMap, slab * 2 * SLAB, tile.x * ROWS, &full[stage]);
                ask(to + ROWS * LINE, wMap, slab * 2 * SLAB, tile.y * COLUMNS, &full[stage]);
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    for (int block = blockIdx.x; block < lines * columns; block += gridDim.x) {
        const int2 tile = tileOf(block, lines, columns);
        float sum[TALL][64] = {};
        for (int slab = 0; slab < slabs; slab++, next()) {
            full[stage].pass(phase);
            const unsigned char *x = stages + stage * BYTES, *w = x + ROWS * LINE;
#pragma unroll
            for (int m = 0; m < TALL; m++) {
                float part[64];
                multiply(part, x + (warpgroup * TALL + m) * 64 * LINE, w);
                if (m == TALL - 1 && threadIdx.x % 32 == 0) empty[stage].arrive(); // each warp
#pragma unroll
                for (int i = 0; i < 64; i++) sum[m][i] += part[i];
            }
        }
        const int layer = tile.y * COLUMNS / padded;
#pragma unroll
        for (int m = 0; m < TALL; m++)
            write(sum[m], xBack, layers[layer], tile.x * ROWS + (warpgroup * TALL + m) * 64,
                  tile.y * COLUMNS - layer * padded, rows, width, then, wide);
    }
}

#define PRODUCT(NAME, TALL, STAGES)                                                                \
    extern "C" __global__ void __launch_bounds__((MULTIPLIERS + 1) * WARPGROUP, 1)                 \
        NAME(const __grid_constant__ CUtensorMap xMap, const __grid_constant__ CUtensorMap wMap,   \
             const float *xBack, const float *wBack, const float *bias0, const float *bias1,       \
             const float *bias2, float *out0, float *out1, float *out2, int rows, int width,       \
             int slabs, int padded, int parts, int hasBias, int then, int wide) {                  \
        const Layer layers[3] = {{wBack, hasBias ? bias0 : 0, out0},                               \
                                 {wBack + padded, hasBias ? bias1 : 0, out1},                      \
                                 {wBack + 2 * padded, hasBias ? bias2 : 0, out2}};                 \
        product<TALL, STAGES>(&xMap, &wMap, xBack, layers, rows, width, slabs, padded, parts,      \
                              then, wide);                                                         \
    }
PRODUCT(hopper_256, 2, 4)
PRODUCT(hopper_128, 1, 6)
