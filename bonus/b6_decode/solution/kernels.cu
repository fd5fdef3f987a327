// Attention of one new query a sequence with a cache in halves; sums are float32.
//
//   q, out [batch, heads, DIM]      k, v [batch, slots, kvHeads, DIM]      lengths [batch]
//
// Memory is the limit, so three things count: each key and value is read once, enough loads are on
// their way at any time, and nothing else takes longer than they do. Hence:
//   - A block has one key head of one sequence, and up to 8 of the query heads that share it. They
//     are rows of one matrix, so tensor cores multiply all of them with a key at once.
//   - Tiles of 16 keys go round among the warps. Each asks for its next one before it computes, by
//     cp.async, into a ring of its own: it waits for no other warp.
//   - Where the heads are too few to fill the GPU, several blocks share the keys (parts). The one
//     that finishes last merges what they found.
//
// The host defines DIM (64 or 128), BRAIN for bfloat16, SMALL for a GPU with less shared memory,
// and PAGED for a cache in pages: k, v [pages, KEYS, kvHeads, DIM].

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <early.h>
#include <split.h>
#include <stdint.h>
#ifdef BRAIN
typedef __nv_bfloat16 Half;
#define TYPE "bf16"
#define TWO __floats2bfloat162_rn
#else
typedef __half Half;
#define TYPE "f16"
#define TWO __floats2half2_rn
#endif
#ifndef SMALL
constexpr int WARPS = 8; // whose rings take 128 KB of shared memory at dimension 128
#else
constexpr int WARPS = 4;
#endif
constexpr int THREADS = 32 * WARPS;
constexpr int HEADS = 8;             // query heads of a block, at most
constexpr int KEYS = 16;             // of a tile, which a warp takes at a time
constexpr int STAGES = 2;            // tiles of a warp's ring
constexpr int PIECES = DIM / 8;      // of a row: 16 bytes each, what one thread copies at a time
constexpr int TILE = KEYS * DIM * 2; // bytes of a tile of keys; that of values is as large
constexpr int RING = STAGES * 2 * TILE;
constexpr int WIDTH = DIM + 4; // floats of a result: whole pieces of 16 bytes
static_assert(HEADS * WIDTH * 4 <= RING, "a warp leaves its results in its ring");

// Row r's pieces change places, by r's last three bits: eight rows of one column of pieces, as
// ldmatrix reads them, are then in different banks.
__device__ uint32_t place(uint32_t tile, int row, int piece) {
    return tile + (row * PIECES + (piece ^ row % 8)) * 16;
}

// Asks for KEYS rows of DIM numbers, pitch apart. Behind the last, where NaN may be, come zeros.
__device__ void fetch(uint32_t tile, const Half *rows, int pitch, int there) {
    const int piece = threadIdx.x % PIECES;
    for (int row = threadIdx.x % 32 / PIECES; row < KEYS; row += 32 / PIECES) {
        const Half *from = rows + (size_t)min(row, there - 1) * pitch + piece * 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place(tile, row, piece)),
                     "l"(from), "r"(row < there ? 16 : 0)
                     : "memory");
    }
}
// Ends a group of what this thread has asked for.
__device__ void commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until at most LATER of its groups are still on their way.
template <int LATER> __device__ void arrived() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}

// Four fragments [8 x 8]: lanes 0 to 7 say where the first one's rows are, and so on.
__device__ void read(uint32_t (&f)[4], uint32_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(row)
                 : "memory");
}
__device__ void readTransposed(uint32_t (&f)[4], uint32_t row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                 : "r"(row)
                 : "memory");
}

// d [16 x 8] += a [16 x 16] * b [16 x 8]. Rows are query heads, of which the last 8 are zeros: a1
// and a3 of a lane. So d[2] and d[3] stay 0.
__device__ void multiply(float (&d)[4], uint32_t a0, uint32_t a2, uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(0), "r"(a2), "r"(0), "r"(b0), "r"(b1));
}

// Two numbers rounded, in one register.
__device__ uint32_t pack(float low, float high) {
    const auto two = TWO(low, high);
    return *reinterpret_cast<const uint32_t *>(&two);
}

// Rounds, once, and writes the head's output.
__device__ void finish(Half *out, const Found &all) {
    const float4 x = all.output();
    const uint2 y = {pack(x.x, x.y), pack(x.z, x.w)};
    if (threadIdx.x % 32 < DIM / 4) reinterpret_cast<uint2 *>(out)[threadIdx.x % 32] = y;
}

// scale is log2(e) / sqrt(DIM). between has room for the results of all blocks that share keys,
// [batch * heads, parts, WIDTH], and done [gridDim.x] counts which of them are done: 0 before and
// after each launch. Launches that may overlap need a between and a done each.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths,
#ifdef PAGED
           const int *table, // [batch, pages of slots]
#endif
           Half *out, float *between, unsigned *done, int slots, int heads, int kvHeads,
           float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    waitForInputs();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = lane / 4; // the query head whose scores this lane has a part of

    // 1. Which heads, which keys. The length is read here: a recorded launch must see today's.
    const int groupSize = heads / kvHeads, chunks = (groupSize + HEADS - 1) / HEADS;
    const int chunk = blockIdx.x % chunks, kvHead = blockIdx.x / chunks % kvHeads;
    const int sequence = blockIdx.x / chunks / kvHeads;
    const int count = min(HEADS, groupSize - chunk * HEADS); // of this block's query heads
    const size_t head0 = (size_t)sequence * heads + kvHead * groupSize + chunk * HEADS;
    const int parts = gridDim.y, part = blockIdx.y, pitch = kvHeads * DIM;
    const int length = min(max(lengths[sequence], 0), slots);
    const int step = parts * WARPS * KEYS;  // from a warp's tile to its next
    int key = (part * WARPS + warp) * KEYS; // the first of its tile
#ifdef PAGED
    const int *pages = table + sequence * ((slots + KEYS - 1) / KEYS);
    int page = key < slots ? pages[key / KEYS] : 0; // of the tile asked for next; needs no length
    const size_t cache = kvHead * DIM;
    const auto at = [&](int) { return page * KEYS; };
#else
    const size_t cache = ((size_t)sequence * slots * kvHeads + kvHead) * DIM;
    const auto at = [](int key) { return key; };
#endif
    k += cache, v += cache;

    // 2. Tiles go round among the warps of all blocks. The first are on their way before all else.
    const uint32_t ring = (uint32_t)__cvta_generic_to_shared(memory) + warp * RING;
    const auto ask = [&](int stage, int key) {
        const uint32_t to = ring + stage * 2 * TILE;
        if (key < length) {
            fetch(to, k + (size_t)at(key) * pitch, pitch, length - key);
            fetch(to + TILE, v + (size_t)at(key) * pitch, pitch, length - key);
        }
        commit(); // an empty one counts as well
#ifdef PAGED
        if (key + step < length) page = pages[(key + step) / KEYS]; // on its way meanwhile
#endif
    };
    for (int i = 0; i < STAGES - 1; i++) ask(i, key + i * step);

    // 3. The queries, as a's fragments. Rows without a head are zeros.
    uint32_t query[DIM / 16][2];
    const uint32_t *pairs = reinterpret_cast<const uint32_t *>(q + (head0 + row) * DIM) + lane % 4;
    for (int i = 0; i < DIM / 8; i++) query[i / 2][i % 2] = row < count ? pairs[4 * i] : 0;

    float o[DIM / 8][4] = {}, largest = -INFINITY, sum = 0;
    const uint32_t kRow = place(0, lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const uint32_t vRow = place(TILE, lane % 16, lane / 16);
    for (int stage = 0; key < length; key += step, stage = (stage + 1) % STAGES) {
        arrived<STAGES - 2>();
        __syncwarp(); // the tile has arrived, and all lanes are done with the one before it
        ask((stage + STAGES - 1) % STAGES, key + (STAGES - 1) * step);
        const uint32_t tile = ring + stage * 2 * TILE;
        // 4. Scores [heads x 16 keys].
        float s[2][4] = {};
#pragma unroll
        for (int i = 0; i < DIM / 16; i++) {
            uint32_t b[4];
            read(b, (tile + kRow) ^ i * 32);
            multiply(s[0], query[i][0], query[i][1], b[0], b[1]);
            multiply(s[1], query[i][0], query[i][1], b[2], b[3]);
        }
        for (int i = 0; key + KEYS > length && i < 4; i++) // no scores: zeros past the last key
            if (key + i / 2 * 8 + lane % 4 * 2 + i % 2 >= length) s[i / 2][i % 2] = -INFINITY;

        // 5. One step of the online softmax: four lanes share a head.
        float most = fmaxf(fmaxf(s[0][0], s[0][1]), fmaxf(s[1][0], s[1][1])) * scale;
        most = fmaxf(largest, largestOf<4>(most));
        const float rescale = exp2f(largest - base(most));
        largest = most;
        sum *= rescale;
        for (int i = 0; i < 4; i++) {
            float &x = s[i / 2][i % 2];
            x = exp2f(fmaf(x, scale, -base(most)));
            sum += x;
        }
        for (int j = 0; j < DIM / 8; j++) o[j][0] *= rescale, o[j][1] *= rescale;

        // 6. Weighted values. Scores, rounded, are what the product takes.
        const uint32_t a0 = pack(s[0][0], s[0][1]), a2 = pack(s[1][0], s[1][1]);
#pragma unroll
        for (int j = 0; j < DIM / 16; j++) {
            uint32_t b[4];
            readTransposed(b, (tile + vRow) ^ j * 32);
            multiply(o[2 * j], a0, a2, b[0], b[1]);
            multiply(o[2 * j + 1], a0, a2, b[2], b[3]);
        }
    }
    // 7. Every warp leaves its results in its own ring.
    arrived<0>();
    __syncwarp(); // all lanes are done with the ring
    float *results = reinterpret_cast<float *>(memory);
    float *mine = results + warp * (RING / 4) + row * WIDTH;
    for (int j = 0; j < DIM / 8; j++)
        *reinterpret_cast<float2 *>(mine + j * 8 + lane % 4 * 2) = make_float2(o[j][0], o[j][1]);
    sum = sumOf<4>(sum);
    if (lane % 4 == 0) *reinterpret_cast<float2 *>(mine + DIM) = {largest, sum};
    __syncthreads(); // all results are in place

    // 8. A warp merges a head. With all keys here that is the end of it.
    between += head0 * parts * WIDTH;
    for (int h = warp; h < count; h += WARPS) {
        const Found all = merge<DIM, WARPS>(results + h * WIDTH, RING / 4, WARPS, exp2f);
        float *one = between + (h * parts + part) * WIDTH;
        if (parts == 1) finish(out + (head0 + h) * DIM, all);
        if (parts > 1 && lane < DIM / 4) reinterpret_cast<float4 *>(one)[lane] = all.numbers;
        if (parts > 1 && lane == 0) *reinterpret_cast<float2 *>(one + DIM) = {all.largest, all.sum};
    }
    if (parts == 1) return;
    // 9. The last block of these keys merges: the others' fences came before their counting.
    __shared__ bool last;
    __threadfence();
    __syncthreads(); // all results are written, each before its fence; the count ends at 0 again
    if (threadIdx.x == 0) last = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
    __syncthreads(); // everyone knows whether this block is the last
    if (!last) return;
    __threadfence();
    for (int h = warp; h < count; h += WARPS)
        finish(out + (head0 + h) * DIM,
               merge<DIM, 16>(between + h * parts * WIDTH, WIDTH, parts, exp2f));
}
