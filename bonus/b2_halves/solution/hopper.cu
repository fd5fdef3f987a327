// Attention in halves as Hopper wants it: out = softmax(q * k^T / sqrt(dim)) * v, sums in float32.
//
//   q, out [batch * heads, seqQ, DIM]      k, v [batch * heads / group, seqK, DIM]
//
// What is new beside mma.cu: the copy engine (TMA) brings whole tiles, asked by one thread. The
// tensor cores (wgmma) take them from where they lie, 64 queries at a time, and run on by
// themselves. So the warps of a block divide the work: one asks for tiles, the others compute.
// Barriers in shared memory (mbarrier) tell each side when the other is done with a tile.
//
// CONSUMERS warpgroups of 128 threads have 64 queries each and walk over the keys, 128 at a time,
// from the last to the first. With AHEAD, each multiplies the next tile's scores while it works on
// the softmax of this one; that takes registers, so only two fit. Without, one warpgroup's softmax
// hides behind the products of the two others.
//
// The host defines DIM (64 or 128), CONSUMERS, AHEAD, BRAIN for bfloat16, and makes the maps, of
// boxes of 64 columns (128 bytes, swizzled by 128) and 64 rows (q) or KEYS rows (k, v).

#include <hopper.h>
#include <stdint.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
#else
typedef __half Half;
#endif

constexpr int KEYS = 128, STAGES = 2;
constexpr int ROWS = 64 * CONSUMERS, THREADS = 128 * (CONSUMERS + 1);
constexpr int BOXES = DIM / 64;
constexpr unsigned EVERYONE = 0xffffffff;

// A warpgroup's share of a processor's 65,536 registers, for each of its threads.
constexpr int ASKS = CONSUMERS == 2 ? 24 : 32, COMPUTES = CONSUMERS == 2 ? 240 : 160;
static_assert(DIM == 64 || DIM == 128, "the head's dimension is 64 or 128");
static_assert(CONSUMERS == 2 || (CONSUMERS == 3 && !AHEAD), "three leave no registers for AHEAD");

// A tile is in boxes of 64 columns.
struct Tiles {
    Half q[CONSUMERS][BOXES][64][64];
    Half k[STAGES][BOXES][KEYS][64];
    Half v[STAGES][BOXES][KEYS][64];
    Mbarrier qFull, kFull[STAGES], vFull[STAGES], kEmpty[STAGES], vEmpty[STAGES];
};

// Asks for a tile's boxes; what lies outside the matrix arrives as zeros.
template <int LINES>
__device__ void fetch(Half (&to)[BOXES][LINES][64], const CUtensorMap &map, const Mbarrier &full,
                      int row, int head) {
    for (int box = 0; box < BOXES; box++) tma_load(to[box], map, full, box * 64, row, head);
}

// --- Softmax

__device__ float power2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ uint32_t pack(float low, float high) {
#ifdef BRAIN
    __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
#else
    __half2 two = __floats2half2_rn(low, high);
#endif
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

// Scores become probabilities relative to the largest so far; rescale brings older sums to it.
__device__ void softmax(Scores &s, Rows &rows, float scale) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float largest = rows.largest[h];
#pragma unroll
        for (int i = 2 * h; i < KEYS / 2; i += 4) largest = fmaxf(largest, fmaxf(s[i], s[i + 1]));
        largest = fmaxf(largest, __shfl_xor_sync(EVERYONE, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(EVERYONE, largest, 2));
        // A row without a key so far: -inf - -inf would be NaN.
        const float base = largest == -INFINITY ? 0 : largest * scale;
        float sum = 0;
#pragma unroll
        for (int i = 2 * h; i < KEYS / 2; i += 4) {
            s[i] = power2(fmaf(s[i], scale, -base));
            s[i + 1] = power2(fmaf(s[i + 1], scale, -base));
            sum += s[i] + s[i + 1];
        }
        rows.rescale[h] = power2(rows.largest[h] * scale - base);
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
extern "C" __global__ __launch_bounds__(THREADS,
                                        1) void attention(const __grid_constant__ CUtensorMap qMap,
                                                          const __grid_constant__ CUtensorMap kMap,
                                                          const __grid_constant__ CUtensorMap vMap,
                                                          Half *out, int seqQ, int seqK, int group,
                                                          int causal, float scale) {
    extern __shared__ unsigned char memory[]; // swizzled tiles begin at multiples of 1024
    Tiles &tiles = *reinterpret_cast<Tiles *>(((uintptr_t)memory + 1023) / 1024 * 1024);

    // Of a masked head the last rows see the most keys: they start first.
    const int head = blockIdx.y, tile = causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const int firstRow = tile * ROWS, before = seqK - seqQ; // keys older than the first query
    const int seen = causal ? min(seqK, before + firstRow + ROWS) : seqK; // by the last row
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
            fetch(tiles.q[i], qMap, tiles.qFull, firstRow + 64 * i, head);
        for (int i = 0; i <= last; i++) {
            const int stage = i % STAGES, phase = i / STAGES % 2, key = (last - i) * KEYS;
            tiles.kEmpty[stage].wait(phase ^ 1);
            tiles.kFull[stage].arrive_expect_tx(sizeof tiles.k[0]);
            fetch(tiles.k[stage], kMap, tiles.kFull[stage], key, head / group);
            tiles.vEmpty[stage].wait(phase ^ 1);
            tiles.vFull[stage].arrive_expect_tx(sizeof tiles.v[0]);
            fetch(tiles.v[stage], vMap, tiles.vFull[stage], key, head / group);
        }
        return;
    }
    setmaxnreg_inc<COMPUTES>();
    const int lane = threadIdx.x % 32;
    const int row = firstRow + threadIdx.x / 32 * 16 + lane / 4; // the first of two
    const int limit = causal ? before + row + 1 : seqK;          // row sees the keys below
    const int allSeen = causal ? before + firstRow + 64 * warpgroup + 1 : seqK; // by the 64 rows

    Scores s;
    Output o;
    uint32_t p[KEYS / 4];
    Rows rows = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
#pragma unroll
    for (int i = 0; i < DIM / 2; i++) o[i] = 0;

    // The i-th tile on the way: s = q * k^T and o += p * v, both only begun.
    auto scores = [&](int i) {
        tiles.kFull[i % STAGES].wait(i / STAGES % 2);
        const uint64_t q = matrix_descriptor(tiles.q[warpgroup]);
        const uint64_t k = matrix_descriptor(tiles.k[i % STAGES]);
        wgmma_fence();
#pragma unroll
        for (int j = 0; j < DIM / 16; j++) { // 16 columns are 32 bytes; 64 are a box
            const int a = j / 4 * sizeof tiles.q[0][0] + j % 4 * 32;
            const int b = j / 4 * sizeof tiles.k[0][0] + j % 4 * 32;
            wgmma<KEYS, Half>(s, q + a / 16, k + b / 16, j > 0);
        }
        wgmma_commit();
    };
    auto output = [&](int i) {
        tiles.vFull[i % STAGES].wait(i / STAGES % 2);
        const uint64_t v = matrix_descriptor(tiles.v[i % STAGES], sizeof tiles.v[0][0]);
        wgmma_fence();
#pragma unroll
        for (int j = 0; j < KEYS / 16; j++)
            wgmma<DIM, Half, Major::MN>(o, p + 4 * j, v + j * 16 * 128 / 16);
        wgmma_commit();
    };
    auto weigh = [&](int i) { // the softmax of its scores, which are there
        if (lane == 0) tiles.kEmpty[i % STAGES].arrive();
        const int key = (last - i) * KEYS;
        if (key + KEYS > min(seqK, allSeen)) hide(s, key, seqK, limit, lane);
        softmax(s, rows, scale);
    };
    auto release = [&](int i) {
        if (lane == 0) tiles.vEmpty[i % STAGES].arrive();
    };

    tiles.qFull.wait(0);
#if AHEAD
    scores(0);
    wgmma_wait<0>(s);
    weigh(0);
    round(p, s);
    for (int i = 1; i <= last; i++) {
        scores(i);
        output(i - 1);
        wgmma_wait<1>(s); // the scores, not yet the output
        weigh(i);
        wgmma_wait<0>(o);
        release(i - 1);
        round(p, s); // not before: the products that are done now took p from these registers
        rescale(o, rows);
    }
    output(last);
    wgmma_wait<0>(o);
#else
    for (int i = 0; i <= last; i++) {
        scores(i);
        wgmma_wait<0>(s);
        weigh(i);
        round(p, s);
        rescale(o, rows);
        output(i);
        wgmma_wait<0>(o);
        release(i);
    }
#endif

#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = rows.sum[h];
        sum += __shfl_xor_sync(EVERYONE, sum, 1);
        sum += __shfl_xor_sync(EVERYONE, sum, 2);
        if (row + 8 * h >= seqQ) continue;
        uint32_t *to =
            reinterpret_cast<uint32_t *>(out + ((size_t)head * seqQ + row + 8 * h) * DIM);
#pragma unroll
        for (int i = 2 * h; i < DIM / 2; i += 4)
            to[i / 4 * 4 + lane % 4] = pack(o[i] / sum, o[i + 1] / sum);
    }
}
