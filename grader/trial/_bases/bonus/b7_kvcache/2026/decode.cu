// Attention of one new query a sequence with a cache of 8 or 4 bits; sums are float32.
//
//   q, out [batch, heads, DIM] of halves          lengths [batch]
//   codes of k and v [batch, kvHeads, slots, DIM] of BITS
//   8 bits: scales of k and v [batch, kvHeads, slots]; a number is code * scale
//   4 bits: scales and lows of v [batch, kvHeads, slots], of k [batch, kvHeads, slots / GROUP,
//           DIM]; a number is code * scale + low, rounded once to a half. Tokens of the open group,
//           which has fewer than GROUP, are halves [batch, kvHeads, GROUP, DIM]
//
// Memory is the limit, and there is less to read than for halves, so computing must shrink as well:
//   - Each code becomes a half once, in a register, and serves all query heads that share it.
//   - Tensor cores multiply: scores as [heads x keys] = q * k, then [DIM x heads] = v * weights. So
//     the first product's result is the second one's operand as it lies.
//   - The rest is as for halves: a ring of loads for each warp, parts that share a head's keys.
//
// The host defines DIM (64 or 128), BITS, SMALL for a GPU with less shared memory, and RESIDENT:
// how many blocks a processor should have room for, at the cost of registers.

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <stdint.h>
#include <tensorcore.h>

#ifndef SMALL
constexpr int WARPS = 8;
#else
constexpr int WARPS = 4;
#endif
constexpr int THREADS = 32 * WARPS;
constexpr int STAGES = 2;           // tiles of a warp's ring
constexpr int HEADS = 8;            // query heads of a block, at most
constexpr int GROUP = 32;           // keys of a tile, which a warp takes at a time
constexpr int PARTS = 512;          // of blocks that share keys, at most: many / 2 of cache.go
constexpr int ROW = DIM * BITS / 8; // bytes of a token's codes
constexpr int CODES = GROUP * ROW;  // of a tile's
constexpr int TOKENS = GROUP * 2;   // bytes of a half for each token of a tile
constexpr int CHANNELS = DIM * 2;   // bytes of a half for each channel
// A tile: codes of k and v, then 8 bits: scales of k and v; 4 bits: those and lows of v, and of k.
constexpr int SCALES = 2 * CODES, OF_K = SCALES + 2 * TOKENS;
constexpr int TILE = BITS == 8 ? OF_K : OF_K + 2 * CHANNELS;
constexpr int RING = STAGES * TILE;
constexpr int WIDTH = DIM + 4; // floats of a result: whole pieces of 16 bytes
constexpr unsigned EVERYONE = 0xffffffff;
static_assert(HEADS * WIDTH * 4 <= RING, "a warp leaves its results in its ring");

// How many of the blocks that share keys are done: 0 before and after each launch.
__device__ unsigned done[PARTS];

// In a recorded graph this kernel begins before the one ahead of it has finished: cache.go
// launches it early. Every block calls this, and only then touches memory.
__device__ void waitForInputs() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
}

// ---- loads ------------------------------------------------------------------------------------

// Pieces of 16 bytes change places within 128 bytes, by the row, so that the lanes' reads below
// meet in no bank. Every 8 rows it is the same again.
__device__ int place(int offset) {
    return offset ^ (offset / 128 % (8 * ROW / 128)) * (BITS == 8 ? 16 : 32);
}

// Where a lane's pieces of the cache begin: of the codes, of what there is a half of for each token
// (lanes 0 to 3: scales of v, 4 to 7: of k, or lows of v), and for each channel (the first DIM / 8
// lanes: scales of k, the next: lows of k).
struct Source {
    const unsigned char *k, *v;
    const __half *tokens, *channels;
};

// Asks for 16 bytes, of which there may be fewer: the rest becomes zeros, for it may be anything in
// the cache, NaN too.
__device__ void copy(unsigned char *to, const void *from, int there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(there)
                 : "memory");
}

// Asks for the tile that begins with a token, of which so many are there: all, if it is WHOLE.
template <bool WHOLE>
__device__ void fetch(unsigned char *tile, const Source &s, unsigned token, int there) {
    const int lane = threadIdx.x % 32;
    for (int i = 0; i < CODES / 512; i++) {
        const int size = WHOLE || (512 * i + 16 * lane) / ROW < there ? 16 : 0;
        const int to = (place(16 * lane) ^ place(512 * i)) % 512 + 512 * i;
        copy(tile + to, s.k + (size_t)token * ROW + 512 * i, size);
        copy(tile + CODES + to, s.v + (size_t)token * ROW + 512 * i, size);
    }
    if (lane < 2 * TOKENS / 16)
        copy(tile + SCALES + 16 * lane, s.tokens + token,
             WHOLE ? 16 : min(max(there - lane % 4 * 8, 0), 8) * 2);
    if (BITS == 4 && lane < 2 * CHANNELS / 16)
        copy(tile + OF_K + 16 * lane, s.channels + (size_t)(token / GROUP) * DIM, 16);
}

// WORDS of 4 bytes of a tile's codes, in as few loads as that takes.
template <int WORDS> __device__ void take(uint32_t (&w)[WORDS], const unsigned char *tile, int at) {
    if constexpr (WORDS >= 4) {
        for (int i = 0; i < WORDS / 4; i++) {
            const uint4 x = *reinterpret_cast<const uint4 *>(tile + (at ^ 16 * i));
            w[4 * i] = x.x, w[4 * i + 1] = x.y, w[4 * i + 2] = x.z, w[4 * i + 3] = x.w;
        }
    } else if constexpr (WORDS == 2) {
        const uint2 x = *reinterpret_cast<const uint2 *>(tile + at);
        w[0] = x.x, w[1] = x.y;
    } else {
        w[0] = *reinterpret_cast<const uint32_t *>(tile + at);
    }
}

// ---- codes become halves ----------------------------------------------------------------------

__device__ uint32_t bits(__half2 x) {
    return *reinterpret_cast<uint32_t *>(&x);
}
__device__ __half2 halves(uint32_t x) {
    return *reinterpret_cast<__half2 *>(&x);
}

#if BITS == 4
constexpr int WORDS = 1; // that hold 8 codes

// (w & mask) | 0x6400 in both halves of w, in one instruction. 0x6400 is 1024 in halves, whose last
// bit counts 1: a code below it is 1024 + code.
template <uint32_t MASK> __device__ __half2 above1024(uint32_t w) {
    uint32_t x;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(x) : "r"(w), "n"(MASK), "r"(0x64006400));
    return halves(x);
}
// Codes of w: the pairs (0, 4), (1, 5), (2, 6), (3, 7), all exact.
__device__ void unpack(__half2 *p, uint32_t w) {
    const __half2 base = __float2half2_rn(1024), sixteenth = __float2half2_rn(0.0625f);
    const __half2 less = __float2half2_rn(-64);
    for (int i = 0; i < 4; i += 2, w >>= 8) {
        p[i] = __hsub2(above1024<0x000f000f>(w), base);
        p[i + 1] = __hfma2(above1024<0x00f000f0>(w), sixteenth, less); // 1024 + 16 * code
    }
}
// Eight halves in that order.
__device__ void order(uint32_t *p, uint4 x) {
    p[0] = __byte_perm(x.x, x.z, 0x5410), p[1] = __byte_perm(x.x, x.z, 0x7632);
    p[2] = __byte_perm(x.y, x.w, 0x5410), p[3] = __byte_perm(x.y, x.w, 0x7632);
}
// Eight codes of a token as four pairs, in the order of order.
__device__ void pairs(__half2 (&p)[4], const uint32_t *w) {
    unpack(p, w[0]);
}
// Eight codes of two tokens: each pair is one channel's.
__device__ void both(__half2 (&p)[8], const uint32_t *a, const uint32_t *b) {
    unpack(p, __byte_perm(a[0], b[0], 0x5410));
    unpack(p + 4, __byte_perm(a[0], b[0], 0x7632));
}
#else
constexpr int WORDS = 2;

// Codes of w: the pairs (0, 1) and (2, 3). With its sign turned a code is a byte from 0 on.
__device__ void unpack(__half2 *p, uint32_t w) {
    const __half2 base = __float2half2_rn(1024 + 128);
    w ^= 0x80808080;
    p[0] = __hsub2(halves(__byte_perm(w, 0x64646464, 0x4140)), base);
    p[1] = __hsub2(halves(__byte_perm(w, 0x64646464, 0x4342)), base);
}
__device__ void order(uint32_t *p, uint4 x) {
    p[0] = x.x, p[1] = x.y, p[2] = x.z, p[3] = x.w;
}
__device__ void pairs(__half2 (&p)[4], const uint32_t *w) {
    unpack(p, w[0]);
    unpack(p + 2, w[1]);
}
__device__ void both(__half2 (&p)[8], const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < 2; i++) {
        unpack(p + 4 * i, __byte_perm(a[i], b[i], 0x5140));
        unpack(p + 4 * i + 2, __byte_perm(a[i], b[i], 0x7362));
    }
}
#endif

// ---- products -----------------------------------------------------------------------------------

// Two numbers rounded, in one register.
__device__ uint32_t pack(float low, float high) {
    return bits(__floats2half2_rn(low, high));
}

// The largest, or the sum, over lanes whose numbers differ in the bits below LANES.
template <int LANES> __device__ float largestOf(float x) {
    for (int i = 1; i < LANES; i *= 2) x = fmaxf(x, __shfl_xor_sync(EVERYONE, x, i));
    return x;
}
template <int LANES> __device__ float sumOf(float x) {
    for (int i = 1; i < LANES; i *= 2) x += __shfl_xor_sync(EVERYONE, x, i);
    return x;
}

// 2^x, where less than 2^-126 is 0.
__device__ float power(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Before the first key the largest score is -inf, and -inf - -inf would be NaN.
__device__ float base(float largest) {
    return largest == -INFINITY ? 0 : largest;
}

// What a warp knows. Lane l has head l / 4's queries, largest score (in units of log2) and part of
// the sum of weights; and of heads l % 4 * 2 and + 1 numbers l / 4 * DIM / 8 and on of the output.
struct State {
    uint32_t query[DIM / 16][2];
    float o[DIM / 16][4], largest, sum;
};

// Scores of keys 8 * i + 0 to 7 in s[i]: [heads x keys], of which only 8 rows are there.
__device__ void scores(float (&s)[4][4], const State &is, const unsigned char *tile) {
    const int lane = threadIdx.x % 32, column = lane % 4 * (DIM / 4);
    uint32_t codes[4][DIM / 32 * WORDS];
    for (int i = 0; i < 4; i++)
        take(codes[i], tile + 8 * i * ROW, place(lane / 4 * ROW + lane % 4 * (ROW / 4)));
#pragma unroll
    for (int e = 0; e < DIM / 32; e++) {
        uint32_t scale[4], low[4]; // of 8 channels, for all keys of the group
        if (BITS == 4) {
            const unsigned char *from = tile + OF_K + (column + 8 * e) * 2;
            order(scale, *reinterpret_cast<const uint4 *>(from));
            order(low, *reinterpret_cast<const uint4 *>(from + CHANNELS));
        }
        for (int i = 0; i < 4; i++) {
            __half2 p[4];
            pairs(p, codes[i] + e * WORDS);
            for (int j = 0; BITS == 4 && j < 4; j++)
                p[j] = __hfma2(p[j], halves(scale[j]), halves(low[j]));
            for (int j = 0; j < 2; j++) {
                const uint32_t a[4] = {is.query[2 * e + j][0], 0, is.query[2 * e + j][1], 0};
                mma_f16(s[i], a, bits(p[2 * j]), bits(p[2 * j + 1]));
            }
        }
    }
    // 8 bits: a key's scale is a factor of its score.
    for (int i = 0; BITS == 8 && i < 4; i++) {
        const unsigned char *from = tile + SCALES + TOKENS + (8 * i + lane % 4 * 2) * 2;
        const float2 scale = __half22float2(*reinterpret_cast<const __half2 *>(from));
        s[i][0] *= scale.x, s[i][1] *= scale.y;
    }
}

// One step of the online softmax: four lanes share a head. The weights are rounded, two a register:
// those of keys 8 * i + lane % 4 * 2 and + 1 in weights[i].
__device__ void soften(uint32_t (&weights)[4], State &is, const float (&s)[4][4], float scale) {
    const int lane = threadIdx.x % 32;
    float most = s[0][0];
    for (int i = 0; i < 8; i++) most = fmaxf(most, s[i / 2][i % 2]);
    most = fmaxf(is.largest, largestOf<4>(most * scale));
    const float rescale = power(is.largest - base(most));
    is.largest = most;
    is.sum *= rescale;
    for (int i = 0; i < 4; i++) {
        const float x = power(fmaf(s[i][0], scale, -base(most)));
        const float y = power(fmaf(s[i][1], scale, -base(most)));
        is.sum += x + y;
        weights[i] = pack(x, y);
    }
    if (__all_sync(EVERYONE, rescale == 1)) return; // which it is most of the time
    const float first = __shfl_sync(EVERYONE, rescale, lane % 4 * 8);
    const float second = __shfl_sync(EVERYONE, rescale, lane % 4 * 8 + 4);
    for (int j = 0; j < DIM / 16; j++) {
        is.o[j][0] *= first, is.o[j][1] *= second;
        is.o[j][2] *= first, is.o[j][3] *= second;
    }
}

// Weighted values of 16 keys, of 8 numbers: p and r are pairs of keys, one for each number.
__device__ void gather(State &is, int e, const __half2 (&p)[8], const __half2 (&r)[8],
                       const uint32_t *weights) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
        const uint32_t a[4] = {bits(p[2 * c]), bits(p[2 * c + 1]), bits(r[2 * c]),
                               bits(r[2 * c + 1])};
        mma_f16(is.o[4 * e + c], a, weights[0], weights[1]);
    }
}

__device__ void values(State &is, const unsigned char *tile, const uint32_t (&weights)[4]) {
    const int lane = threadIdx.x % 32;
    constexpr int EIGHTS = DIM / 64; // of a lane
#pragma unroll
    for (int m = 0; m < 2; m++) {
        uint32_t codes[2][2][EIGHTS * WORDS]; // of keys 8 * i + lane % 4 * 2 and + 1
        __half2 scale[2], low[2];
        for (int i = 0; i < 2; i++) {
            const int key = 16 * m + 8 * i + lane % 4 * 2;
            for (int j = 0; j < 2; j++)
                take(codes[i][j], tile + CODES + (16 * m + 8 * i) * ROW,
                     place((lane % 4 * 2 + j) * ROW + lane / 4 * (ROW / 8)));
            scale[i] = *reinterpret_cast<const __half2 *>(tile + SCALES + key * 2);
            if (BITS == 4)
                low[i] = *reinterpret_cast<const __half2 *>(tile + SCALES + TOKENS + key * 2);
        }
        for (int e = 0; e < EIGHTS; e++) {
            __half2 p[2][8];
            for (int i = 0; i < 2; i++) {
                both(p[i], codes[i][0] + e * WORDS, codes[i][1] + e * WORDS);
                for (int c = 0; c < 8; c++)
                    p[i][c] =
                        BITS == 4 ? __hfma2(p[i][c], scale[i], low[i]) : __hmul2(p[i][c], scale[i]);
            }
            gather(is, e, p[0], p[1], weights + 2 * m);
        }
    }
}

// The open group's tokens are halves, there of them. A row that is not there is zeros.
__device__ uint4 eight(const __half *open, int token, int number, int there) {
    const uint4 none = {0, 0, 0, 0};
    return token < there ? *reinterpret_cast<const uint4 *>(open + token * DIM + number) : none;
}
#if BITS == 4
__device__ void openScores(float (&s)[4][4], const State &is, const __half *k, int there) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int e = 0; e < DIM / 32; e++)
        for (int i = 0; i < 4; i++) {
            uint32_t p[4];
            order(p, eight(k, 8 * i + lane / 4, lane % 4 * (DIM / 4) + 8 * e, there));
            for (int j = 0; j < 2; j++) {
                const uint32_t a[4] = {is.query[2 * e + j][0], 0, is.query[2 * e + j][1], 0};
                mma_f16(s[i], a, p[2 * j], p[2 * j + 1]);
            }
        }
}
__device__ void openValues(State &is, const __half *v, int there, const uint32_t (&weights)[4]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int m = 0; m < 2; m++)
        for (int e = 0; e < DIM / 64; e++) {
            __half2 p[2][8];
            for (int i = 0; i < 2; i++) {
                const int key = 16 * m + 8 * i + lane % 4 * 2,
                          number = lane / 4 * (DIM / 8) + 8 * e;
                const uint4 a = eight(v, key, number, there), b = eight(v, key + 1, number, there);
                const uint32_t x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w};
                for (int c = 0; c < 4; c++) {
                    p[i][2 * c] = halves(__byte_perm(x[c], y[c], 0x5410));
                    p[i][2 * c + 1] = halves(__byte_perm(x[c], y[c], 0x7632));
                }
            }
            gather(is, e, p[0], p[1], weights + 2 * m);
        }
}
#endif

// Keys behind the last one have no weight.
__device__ void hide(float (&s)[4][4], int there) {
    for (int i = 0; i < 8; i++)
        if (i / 2 * 8 + threadIdx.x % 4 * 2 + i % 2 >= there) s[i / 2][i % 2] = -INFINITY;
}
// What several warps, or blocks, have found of one head: the largest score, in units of log2, and
// relative to it the sum of the weights and four of the head's numbers for each lane.
struct Found {
    float largest, sum;
    float4 numbers;
};

// Merges n results, pitch floats apart: DIM numbers, the largest score, the sum. It is the online
// softmax again, TOGETHER results at a time: all that is read of them is on its way at once. A
// result without a key has a largest score of -inf, so it counts 2^-inf = 0 times.
template <int TOGETHER> __device__ Found merge(const float *results, size_t pitch, int n) {
    const int lane = threadIdx.x % 32;
    Found all = {-INFINITY, 0, {0, 0, 0, 0}};
    float4 &y = all.numbers;
    for (int first = 0; first < n; first += TOGETHER) {
        float largest = -INFINITY, sum = 0; // of result first + lane
        if (lane < TOGETHER && first + lane < n) {
            const float *one = results + (first + lane) * pitch + DIM;
            const float2 both = *reinterpret_cast<const float2 *>(one);
            largest = both.x, sum = both.y;
        }
        float4 x[TOGETHER] = {};
        for (int i = 0; i < TOGETHER; i++)
            if (first + i < n && lane < DIM / 4)
                x[i] = reinterpret_cast<const float4 *>(results + (first + i) * pitch)[lane];

        const float most = fmaxf(all.largest, largestOf<32>(largest));
        const float again = power(all.largest - base(most)), factor = power(largest - base(most));
        all.largest = most;
        all.sum = all.sum * again + sumOf<32>(factor * sum);
        y.x *= again, y.y *= again, y.z *= again, y.w *= again;
        for (int i = 0; i < TOGETHER; i++) {
            const float by = __shfl_sync(EVERYONE, factor, i);
            y.x += by * x[i].x, y.y += by * x[i].y, y.z += by * x[i].z, y.w += by * x[i].w;
        }
    }
    return all;
}
// Divides by the sum and rounds, once. A sequence without a key gets zeros.
__device__ void finish(__half *out, const Found &all) {
    const float share = all.sum == 0 ? 0 : 1 / all.sum;
    const float4 x = all.numbers;
    const uint2 y = {pack(x.x * share, x.y * share), pack(x.z * share, x.w * share)};
    if (threadIdx.x % 32 < DIM / 4) reinterpret_cast<uint2 *>(out)[threadIdx.x % 32] = y;
}

// scale is log2(e) / sqrt(DIM). between has room for the results of all blocks that share keys,
// [batch * heads, parts, WIDTH].
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    decode(const __half *q, const unsigned char *k, const unsigned char *v, const __half *kScales,
           const __half *vScales, const __half *kLows, const __half *vLows, const __half *kOpen,
           const __half *vOpen, const int *lengths, __half *out, float *between, int slots,
           int heads, int kvHeads, float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    waitForInputs();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    // 1. Which heads, which keys. The length is read here, on the device: a launch that was
    //    recorded in a graph must see today's. Of 4 bits only whole groups are in codes.
    const int share = heads / kvHeads, chunks = (share + HEADS - 1) / HEADS;
    const int chunk = blockIdx.x % chunks, pair = blockIdx.x / chunks; // a sequence's key head
    const int sequence = pair / kvHeads, kvHead = pair % kvHeads;
    const int count = min(HEADS, share - chunk * HEADS); // of this block's query heads
    const size_t head0 = (size_t)sequence * heads + kvHead * share + chunk * HEADS;
    const int parts = gridDim.y, part = blockIdx.y;
    const int length = min(max(lengths[sequence], 0), slots);
    const int open = BITS == 4 ? length % GROUP : 0, closed = length - open;
    const unsigned token0 = (unsigned)pair * slots;

    // 2. Tiles go round among the warps of all blocks that share the keys. This warp's first
    //    ones are on their way before anything else is done.
    unsigned char *ring = memory + warp * RING;
    constexpr int PIECES = DIM / 8; // of a row of halves
    const Source source = {k + 16 * lane, v + 16 * lane,
                           (lane < 4    ? vScales
                            : BITS == 8 ? kScales
                                        : vLows) +
                               lane % 4 * 8,
                           (lane < PIECES ? kScales : kLows) + lane % PIECES * 8};
    const auto ask = [&](int stage, int key) {
        unsigned char *tile = ring + stage * TILE;
        if (key + GROUP <= closed) {
            fetch<true>(tile, source, token0 + key, GROUP);
        } else if (BITS == 8 && key < closed) {
            fetch<false>(tile, source, token0 + key, closed - key);
        }
        __pipeline_commit(); // an empty one counts as well
    };
    const int step = parts * WARPS * GROUP;  // from a warp's tile to its next
    int key = (part * WARPS + warp) * GROUP; // the first of its tile
    for (int i = 0; i < STAGES - 1; i++) ask(i, key + i * step);

    // 3. The queries, as a's fragments. Rows without a head are zeros.
    State is = {{}, {}, -INFINITY, 0};
    const __half *query = q + (head0 + lane / 4) * DIM + lane % 4 * (DIM / 4);
    for (int e = 0; e < DIM / 32 && lane / 4 < count; e++)
        order(&is.query[2 * e][0], *reinterpret_cast<const uint4 *>(query + 8 * e));

    // 4. Tile after tile: scores, softmax, values.
    uint32_t weights[4];
    int stage = 0;
    for (; key < closed; key += step, stage = (stage + 1) % STAGES) {
        __pipeline_wait_prior(STAGES - 2);
        __syncwarp(); // the tile is there for all lanes; and all are done with the one before it
        ask((stage + STAGES - 1) % STAGES, key + (STAGES - 1) * step);
        const unsigned char *tile = ring + stage * TILE;
        float s[4][4] = {};
        scores(s, is, tile);
        if (BITS == 8 && closed - key < GROUP) hide(s, closed - key);
        soften(weights, is, s, scale);
        values(is, tile, weights);
    }
#if BITS == 4
    // 5. The open group is the warp's whose turn it is.
    if (key == closed && open > 0) {
        float s[4][4] = {};
        openScores(s, is, kOpen + (size_t)pair * GROUP * DIM, open);
        hide(s, open);
        soften(weights, is, s, scale);
        openValues(is, vOpen + (size_t)pair * GROUP * DIM, open, weights);
    }
#endif

    // 6. Every warp leaves its results in its own ring.
    __pipeline_wait_prior(0);
    __syncwarp(); // all lanes are done with the ring
    float *results = reinterpret_cast<float *>(memory), *mine = results + warp * (RING / 4);
    for (int j = 0; j < DIM / 16; j++) {
        float *two = mine + lane % 4 * 2 * WIDTH + lane / 4 * (DIM / 8) + 2 * j;
        *reinterpret_cast<float2 *>(two) = make_float2(is.o[j][0], is.o[j][2]);
        *reinterpret_cast<float2 *>(two + WIDTH) = make_float2(is.o[j][1], is.o[j][3]);
    }
    const float sum = sumOf<4>(is.sum);
    if (lane % 4 == 0)
        *reinterpret_cast<float2 *>(mine + lane / 4 * WIDTH + DIM) = {is.largest, sum};
    __syncthreads(); // all results are there

    // 7. A warp merges a head. With all keys here that is the end of it.
    between += head0 * parts * WIDTH;
    for (int h = warp; h < count; h += WARPS) {
        const Found all = merge<WARPS>(results + h * WIDTH, RING / 4, WARPS);
        float *one = between + (h * parts + part) * WIDTH;
        if (parts == 1) finish(out + (head0 + h) * DIM, all);
        if (parts > 1 && lane < DIM / 4) reinterpret_cast<float4 *>(one)[lane] = all.numbers;
        if (parts > 1 && lane == 0) *reinterpret_cast<float2 *>(one + DIM) = {all.largest, all.sum};
    }
    if (parts == 1) return;

    // 8. The last of the blocks that share these keys merges what they found. It sees all results,
    //    for the others' fences came before their counting.
    __shared__ bool last;
    __threadfence();
    __syncthreads(); // all results are written, each before its fence; the count ends at 0 again
    if (threadIdx.x == 0) last = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
    __syncthreads(); // everyone knows whether this block is the last
    if (!last) return;
    __threadfence();
    for (int h = warp; h < count; h += WARPS)
        finish(out + (head0 + h) * DIM, merge<16>(between + h * parts * WIDTH, WIDTH, parts));
}
