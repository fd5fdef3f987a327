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

#include <cuda.h>
#include <cuda_fp16.h>
#include <stdint.h>

constexpr int KEYS = 128, STAGES = 2, CONSUMERS = 3, BLOCK = 64; // BLOCK: rows that share a scale
constexpr int ROWS = 64 * CONSUMERS, THREADS = 128 * (CONSUMERS + 1);
constexpr int BOXES = DIM / 64;
constexpr unsigned EVERYONE = 0xffffffff;

// A warpgroup's share of a processor's 65,536 registers, for each of its threads.
constexpr int ASKS = 32, COMPUTES = 160;
static_assert(DIM == 64 || DIM == 128, "the head's dimension is 64 or 128");

// A tile of v is in boxes of 64 columns. Barriers have two phases, which alternate: 0, 1, 0 ...
struct Tiles {
    int8_t q[CONSUMERS][64][DIM];
    int8_t k[STAGES][KEYS][DIM];
    __half v[STAGES][BOXES][KEYS][64];
    uint64_t qFull, kFull[STAGES], vFull[STAGES], kEmpty[STAGES], vEmpty[STAGES];
};

__device__ uint32_t at(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

// --- Barriers and copies

// A phase ends when that many have arrived, and all the announced bytes.
__device__ void prepare(uint64_t *barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(arrivals));
}
__device__ void announce(uint64_t *barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}
__device__ void arrive(uint64_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(barrier)) : "memory");
}
// Waits for the end of a phase. Before the first one, the phase before it counts as over.
__device__ void await(uint64_t *barrier, int phase) {
    uint32_t over = 0;
    while (!over) {
        asm volatile("{ .reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(over)
                     : "r"(at(barrier)), "r"(phase)
                     : "memory");
    }
}
// Asks for one box; what lies outside the matrix arrives as zeros.
__device__ void fetch(void *to, const CUtensorMap *map, uint64_t *barrier, int column, int row,
                      int head) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(at(to)),
                 "l"(map), "r"(at(barrier)), "r"(column), "r"(row), "r"(head)
                 : "memory");
}

// --- Products

// A matrix in shared memory as wgmma takes it; lengths in units of 16 bytes. Its bits: where it
// begins; how far the next 64 columns are (where products run along the rows); how far the next
// eight rows; and, from bit 62 on, the swizzle: 1 of 128 bytes, 2 of 64.
__device__ uint64_t matrix(const void *p, int bytes, int nextColumns) {
    return (at(p) & 0x3ffff) / 16 | (uint64_t)(nextColumns / 16) << 16 |
           (uint64_t)(8 * bytes / 16) << 32 | (uint64_t)(bytes == 128 ? 1 : 2) << 62;
}

#define REGISTERS(c, d, i)                                                                         \
    c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]), c(d[i + 6]),         \
        c(d[i + 7])
#define REGISTERS32(c, d, i)                                                                       \
    REGISTERS(c, d, i), REGISTERS(c, d, i + 8), REGISTERS(c, d, i + 16), REGISTERS(c, d, i + 24)
#define NAMES0                                                                                     \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"   \
    "%25,%26,%27,%28,%29,%30,%31"
#define NAMES32                                                                                    \
    "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54," \
    "%55,%56,%57,%58,%59,%60,%61,%62,%63"

// d [64 x 128] = a [64 x 32] * b [128 x 32]^T of codes, plus d if add; rows in shared memory.
__device__ void multiplyRows(int (&d)[64], uint64_t a, uint64_t b, int add) {
    asm volatile("{ .reg .pred p;\n"
                 "setp.ne.b32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 "
                 "{" NAMES0 "," NAMES32 "}, %64, %65, p; }"
                 : REGISTERS32("+r", d, 0), REGISTERS32("+r", d, 32)
                 : "l"(a), "l"(b), "r"(add));
}
// d [64 x DIM] += a [64 x 16] * b [16 x DIM]; a is in registers.
__device__ void multiply(float (&d)[64], const uint32_t *a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{" NAMES0 "," NAMES32 "}, {%64,%65,%66,%67}, %68, 1, 1, 1, 1;"
                 : REGISTERS32("+f", d, 0), REGISTERS32("+f", d, 32)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ void multiply(float (&d)[32], const uint32_t *a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{" NAMES0 "}, {%32,%33,%34,%35}, %36, 1, 1, 1, 1;"
                 : REGISTERS32("+f", d, 0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
// Registers that were written before are seen by the products that follow.
__device__ void begin() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ void commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until all products are done. The empty assembly names the result, so that the compiler
// moves nothing that reads it above the wait.
template <int N> __device__ void finish(float (&d)[N]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(d[i])::"memory");
}
template <int N> __device__ void finish(int (&d)[N]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+r"(d[i])::"memory");
}

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
        prepare(&tiles.qFull, 1);
        for (int i = 0; i < STAGES; i++) {
            prepare(&tiles.kFull[i], 1), prepare(&tiles.vFull[i], 1);
            prepare(&tiles.kEmpty[i], 4 * CONSUMERS), prepare(&tiles.vEmpty[i], 4 * CONSUMERS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::
                         : "memory"); // the copy engine sees it
    }
    __syncthreads();

    const int warpgroup = threadIdx.x / 128;
    if (warpgroup == CONSUMERS) { // asks for tiles, as fast as stages get empty
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(ASKS));
        if (threadIdx.x % 128 != 0) return;
        announce(&tiles.qFull, sizeof tiles.q);
        for (int i = 0; i < CONSUMERS; i++)
            fetch(tiles.q[i], &qMap, &tiles.qFull, 0, firstRow + 64 * i, head);
        for (int i = 0; i <= last; i++) {
            const int stage = i % STAGES, phase = i / STAGES % 2, key = (last - i) * KEYS;
            await(&tiles.kEmpty[stage], phase ^ 1);
            announce(&tiles.kFull[stage], sizeof tiles.k[0]);
            fetch(tiles.k[stage], &kMap, &tiles.kFull[stage], 0, key, head / group);
            await(&tiles.vEmpty[stage], phase ^ 1);
            announce(&tiles.vFull[stage], sizeof tiles.v[0]);
            for (int box = 0; box < BOXES; box++)
                fetch(tiles.v[stage][box], &vMap, &tiles.vFull[stage], box * 64, key, head / group);
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COMPUTES));
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

    await(&tiles.qFull, 0);
    for (int i = 0; i <= last; i++) {
        const int stage = i % STAGES, phase = i / STAGES % 2, key = (last - i) * KEYS;
        const float left = scale * kScale[key / BLOCK];
        const float right = scale * kScale[min(key / BLOCK + 1, kBlocks - 1)];

        // 1. Scores. 32 codes of a row are 32 bytes.
        await(&tiles.kFull[stage], phase);
        const uint64_t q = matrix(tiles.q[warpgroup], DIM, 0), k = matrix(tiles.k[stage], DIM, 0);
        begin();
#pragma unroll
        for (int j = 0; j < DIM / 32; j++) multiplyRows(sums, q + j * 2, k + j * 2, j > 0);
        commit();
        finish(sums);
        if (lane == 0) arrive(&tiles.kEmpty[stage]);

            // 2. Softmax.
#pragma unroll
        for (int j = 0; j < KEYS / 2; j++) s[j] = (float)sums[j];
        if (key + KEYS > min(seqK, allSeen)) hide(s, key, seqK, limit, lane);
        softmax(s, rows, left, right);
        round(p, s);
        rescale(o, rows);

        // 3. Output.
        await(&tiles.vFull[stage], phase);
        const uint64_t v = matrix(tiles.v[stage], 128, sizeof tiles.v[0][0]);
        begin();
#pragma unroll
        for (int j = 0; j < KEYS / 16; j++) multiply(o, p + 4 * j, v + j * 16 * 128 / 16);
        commit();
        finish(o);
        if (lane == 0) arrive(&tiles.vEmpty[stage]);
    }

#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = rows.sum[h];
        sum += __shfl_xor_sync(EVERYONE, sum, 1);
        sum += __shfl_xor_sync(EVERYONE, sum, 2);
        const float share = sum == 0 ? 0 : 1 / sum; // a query that sees no key gets zeros
        if (row + 8 * h >= seqQ) continue;
        uint32_t *to =
            reinterpret_cast<uint32_t *>(out + ((size_t)head * seqQ + row + 8 * h) * DIM);
#pragma unroll
        for (int i = 2 * h; i < DIM / 2; i += 4)
            to[i / 4 * 4 + lane % 4] = pack(o[i] * share, o[i + 1] * share);
    }
}
