// Attention by codes as Hopper wants it: out = softmax(q * k^T / sqrt(dim)) * v, with scales by
// block.
//
//   q codes, out [batch * heads, seqQ, DIM]      k codes, v [batch * heads / group, seqK, DIM]
//
// This is b2's hopper.cu with attention.cu's scores: the tensor cores (wgmma) take codes from where
// the copy engine (TMA) put them, 32 in a step. A tile of 128 keys has two scales, and 64 queries,
// those of a warpgroup, have one. v stays in halves: wgmma wants 8-bit matrices by rows of the
// sum's direction, and nothing on the way could turn v.
//
// CONSUMERS warpgroups of 128 threads have 64 queries each and walk over the keys, 128 at a time,
// from the last to the first. One more asks for tiles. One warpgroup's softmax hides behind the
// products of the others.
//
// The host defines DIM (64 or 128), and makes the maps: of q and k by boxes of DIM columns and 64
// or KEYS rows, swizzled by DIM bytes; of v by boxes of 64 columns (128 bytes, swizzled by 128).

#include <hopper.h>
#include <stdint.h>

constexpr int KEYS = 128, STAGES = 2, CONSUMERS = 3, BLOCK = 64; // BLOCK: rows that share a scale
constexpr int ROWS = 64 * CONSUMERS, THREADS = 128 * (CONSUMERS + 1);
constexpr int BOXES = DIM / 64;
constexpr unsigned EVERYONE = 0xffffffff;

// A warpgroup's share of a processor's 65,536 registers, for each of its threads.
constexpr int ASKS = 32, COMPUTES = 160;
static_assert(DIM == 64 || DIM == 128, "the head's dimension is 64 or 128");

// A tile of v is in boxes of 64 columns.
struct Tiles {
    int8_t q[CONSUMERS][64][DIM];
    int8_t k[STAGES][KEYS][DIM];
    __half v[STAGES][BOXES][KEYS][64];
    Mbarrier qFull, kFull[STAGES], vFull[STAGES], kEmpty[STAGES], vEmpty[STAGES];
};

// --- Softmax

__device__ float power2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ uint32_t pack(float low, float high) {
    __half2 two = __floats2half2_rn(low, high);
    return *reinterpret_cast<uint32_t *>(&two);
}

// A warp has 16 of a warpgroup's rows. Of [64 x N] a thread holds, as number 4 * j + 2 * h + c, the
// element of row lane / 4 + 8 * h and column 8 * j + lane % 4 * 2 + c.
typedef float Scores[KEYS / 2];
typedef float Output[DIM / 2];

// What is known of the two rows that a thread has a part of.
struct Rows {
    float largest[2], sum[2], rescale[2]; // sum: of this thread's part
};

// The largest of one half of a tile's scores of a row, in all lanes that share it.
__device__ float largestOf(const Scores &s, int first) {
    float largest = -INFINITY;
#pragma unroll
    for (int i = first; i < first + KEYS / 4; i += 4)
        largest = fmaxf(largest, fmaxf(s[i], s[i + 1]));
    largest = fmaxf(largest, __shfl_xor_sync(EVERYONE, largest, 1));
    return fmaxf(largest, __shfl_xor_sync(EVERYONE, largest, 2));
}
// Whole scores become probabilities relative to the largest so far; rescale brings older sums to
// it. The two halves of the tile's keys have scales of their own.
__device__ void softmax(Scores &s, Rows &rows, float left, float right) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float largest = fmaxf(rows.largest[h], fmaxf(largestOf(s, 2 * h) * left,
                                                           largestOf(s, KEYS / 4 + 2 * h) * right));
        // A row without a key so far: -inf - -inf would be NaN.
        const float base = largest == -INFINITY ? 0 : largest;
        float sum = 0;
#pragma unroll
        for (int i = 2 * h; i < KEYS / 2; i += 4) {
            const float scale = i < KEYS / 4 ? left : right;
            s[i] = power2(fmaf(s[i], scale, -base));
            s[i + 1] = power2(fmaf(s[i + 1], scale, -base));
            sum += s[i] + s[i + 1];
        }
        rows.rescale[h] = power2(rows.largest[h] - base);
        rows.largest[h] = largest;
        rows.sum[h] = rows.sum[h] * rows.rescale[h] + sum;
    }
}
// Hides the keys that a row does not see: row sees those below limit, row + 8 eight more.
__device__ void hide(Scores &s, int key, int seqK, int limit, int lane) {
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) {
        const int column = key + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (column >= min(seqK, limit + i / 2 % 2 * 8)) s[i] = -INFINITY;
    }
}
// What a product leaves in registers is, rounded, what the next one takes from there.
__device__ void round(uint32_t (&p)[KEYS / 4], const Scores &s) {
#pragma unroll
    for (int i = 0; i < KEYS / 4; i++) p[i] = pack(s[2 * i], s[2 * i + 1]);
}
__device__ void rescale(Output &o, const Rows &rows) {
#pragma unroll
    for (int i = 0; i < DIM / 2; i++) o[i] *= rows.rescale[i / 2 % 2];
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(
    const __grid_constant__ CUtensorMap qMap, const __grid_constant__ CUtensorMap kMap,
    const __grid_constant__ CUtensorMap vMap, __half *out, const float *qScale, const float *kScale,
    int seqQ, int seqK, int group, int causal, float scale) {
    extern __shared__ unsigned char memory[]; // swizzled tiles begin at multiples of 1024
    Tiles &tiles = *reinterpret_cast<Tiles *>(((uintptr_t)memory + 1023) / 1024 * 1024);

    // Of a masked head the last rows see the most keys: they start first.
    const int head = blockIdx.y, tile = causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const int firstRow = tile * ROWS, before = seqK - seqQ; // keys older than the first query
    const int seen = causal ? max(min(seqK, before + firstRow + ROWS), 1) : seqK; // by the last row
    const int last = (seen - 1) / KEYS; // tile of keys; the walk begins here

    if (threadIdx.x == 0) {
        tiles.qFull.init(1);
        for (int i = 0; i < STAGES; i++) {
            tiles.kFull[i].init(1), tiles.vFull[i].init(1);
            tiles.kEmpty[i].init(4 * CONSUMERS), tiles.vEmpty[i].init(4 * CONSUMERS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();

    const int warpgroup = threadIdx.x / 128;
    if (warpgroup == CONSUMERS) { // asks for tiles, as fast as stages get empty
        setmaxnreg_dec<ASKS>();
        if (threadIdx.x % 128 != 0) return;
        tiles.qFull.arrive_expect_tx(sizeof tiles.q);
        for (int i = 0; i < CONSUMERS; i++)
            tma_load(tiles.q[i], qMap, tiles.qFull, 0, firstRow + 64 * i, head);
        for (int i = 0; i <= last; i++) {
            const int stage = i % STAGES, phase = i / STAGES % 2, key = (last - i) * KEYS;
            tiles.kEmpty[stage].wait(phase ^ 1);
            tiles.kFull[stage].arrive_expect_tx(sizeof tiles.k[0]);
            tma_load(tiles.k[stage], kMap, tiles.kFull[stage], 0, key, head / group);
            tiles.vEmpty[stage].wait(phase ^ 1);
            tiles.vFull[stage].arrive_expect_tx(sizeof tiles.v[0]);
            for (int box = 0; box < BOXES; box++)
                tma_load(tiles.v[stage][box], vMap, tiles.vFull[stage], box * 64, key,
                         head / group);
        }
        return;
    }
    setmaxnreg_inc<COMPUTES>();
    const int lane = threadIdx.x % 32;
    const int row = firstRow + threadIdx.x / 32 * 16 + lane / 4; // the first of two
    const int limit = causal ? before + row + 1 : seqK;          // row sees the keys below
    const int allSeen = causal ? before + firstRow + 64 * warpgroup + 1 : seqK; // by the 64 rows

    // The queries of a warpgroup are a block, which has a scale.
    const int blocks = (seqQ + BLOCK - 1) / BLOCK, kBlocks = (seqK + BLOCK - 1) / BLOCK;
    scale *= qScale[head * blocks + min(firstRow / BLOCK + warpgroup, blocks - 1)];
    kScale += head / group * kBlocks;

    int sums[KEYS / 2];
    Scores s;
    Output o;
    uint32_t p[KEYS / 4];
    Rows rows = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
#pragma unroll
    for (int i = 0; i < DIM / 2; i++) o[i] = 0;

    tiles.qFull.wait(0);
    for (int i = 0; i <= last; i++) {
        const int stage = i % STAGES, phase = i / STAGES % 2, key = (last - i) * KEYS;
        const float left = scale * kScale[key / BLOCK];
        const float right = scale * kScale[min(key / BLOCK + 1, kBlocks - 1)];

        // 1. Scores. 32 codes of a row are 32 bytes.
        tiles.kFull[stage].wait(phase);
        const uint64_t q = matrix_descriptor<DIM>(tiles.q[warpgroup]);
        const uint64_t k = matrix_descriptor<DIM>(tiles.k[stage]);
        wgmma_fence();
#pragma unroll
        for (int j = 0; j < DIM / 32; j++) wgmma<KEYS, int8_t>(sums, q + j * 2, k + j * 2, j > 0);
        wgmma_commit();
        wgmma_wait<0>(sums);
        if (lane == 0) tiles.kEmpty[stage].arrive();

            // 2. Softmax.
#pragma unroll
        for (int j = 0; j < KEYS / 2; j++) s[j] = (float)sums[j];
        if (key + KEYS > min(seqK, allSeen)) hide(s, key, seqK, limit, lane);
        softmax(s, rows, left, right);
        round(p, s);
        rescale(o, rows);

        // 3. Output.
        tiles.vFull[stage].wait(phase);
        const uint64_t v = matrix_descriptor(tiles.v[stage], sizeof tiles.v[0][0]);
        wgmma_fence();
#pragma unroll
        for (int j = 0; j < KEYS / 16; j++)
            wgmma<DIM, __half, MN_MAJOR>(o, p + 4 * j, v + j * 16 * 128 / 16);
        wgmma_commit();
        wgmma_wait<0>(o);
        if (lane == 0) tiles.vEmpty[stage].arrive();
    }

#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = rows.sum[h];
        sum += __shfl_xor_sync(EVERYONE, sum, 1);
        sum += __shfl_xor_sync(EVERYONE, sum, 2);
        const float inverse = sum == 0 ? 0 : 1 / sum; // a query that sees no key gets zeros
        if (row + 8 * h >= seqQ) continue;
        uint32_t *to =
            reinterpret_cast<uint32_t *>(out + ((size_t)head * seqQ + row + 8 * h) * DIM);
#pragma unroll
        for (int i = 2 * h; i < DIM / 2; i += 4)
            to[i / 4 * 4 + lane % 4] = pack(o[i] * inverse, o[i + 1] * inverse);
    }
}
