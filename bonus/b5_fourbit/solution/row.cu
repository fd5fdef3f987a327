// One row of x: [q | k | v] = x [Wq | Wk | Wv] + bias. Nothing but the weights takes time, so they
// go straight into registers, and the kernel begins before the one ahead of it has ended.
//
//   codes   [outputs, hidden] of four bits       x      [hidden] of halves
//   scales  [outputs, hidden / BLOCK]            bias   [outputs] of halves
//
// A file of CUDA is compiled by itself: formats, table and places are those of kernels.cu.

#include <cuda_fp16.h>
#include <early.h>
#include <tensorcore.h>

// ---- as in kernels.cu -----------------------------------------------------------------------

#ifdef MXFP4
constexpr int BLOCK = 32, FIRST = 0;
typedef unsigned char Scale;

__device__ float number(int code) {
    const int e = code >> 1 & 3, f = code & 1;
    const float size = e > 0 ? (2 + f) * (1 << e) * 0.25f : 0.5f * f;
    return code & 8 ? -size : size;
}

__device__ float scaleOf(Scale e) {
    return e == 255 ? NAN : e == 0 ? 0x1p-127f : __uint_as_float((unsigned)e << 23);
}
#else
constexpr int BLOCK = 64, FIRST = 4;
typedef float Scale;

// clang-format off
__constant__ float quantiles[16] = {
    -1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
    -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
    0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
    0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f,
};
// clang-format on

__device__ float number(int code) {
    return quantiles[code];
}
__device__ float scaleOf(float s) {
    return s;
}
#endif

constexpr unsigned EVERYONE = 0xffffffff;

// The code of number i of a byte, 0 or 1.
__device__ int codeOf(int byte, int i) {
    return byte >> (i == 0 ? FIRST : 4 - FIRST) & 15;
}

// The table: for every byte its two numbers as halves, once for each lane, so that lanes
// with different bytes never meet in a bank. Entries are 256 bytes apart: then one instruction
// makes an address, of a byte of the word and the four times lane below it.
constexpr int TABLE = 256 * 256;

// Four threads share the 32 copies of an entry.
__device__ void fillPairs(unsigned char *pairs) {
    for (int i = threadIdx.x; i < 256 * 4; i += blockDim.x) {
        const __half2 two = __floats2half2_rn(number(codeOf(i / 4, 0)), number(codeOf(i / 4, 1)));
        const unsigned word = *reinterpret_cast<const unsigned *>(&two);
        uint4 *to = reinterpret_cast<uint4 *>(pairs + i / 4 * 256) + i % 4;
        to[0] = to[4] = make_uint4(word, word, word, word);
    }
}
__device__ unsigned pairOf(const unsigned char *pairs, unsigned word, int byte, int lane) {
    const unsigned at = __byte_perm(word, lane * 4, 0x5504 | byte << 4);
    return *reinterpret_cast<const unsigned *>(pairs + at);
}

// Where results go: q [batch, heads, seq, dim], then k and v [batch, kvHeads, seq, dim].
struct Places {
    __half *q, *k, *v;
    int seq, heads, kvHeads, dim;

    __device__ void put(int row, int output, float x) const {
        int head = output / dim, all = heads;
        __half *to = q;
        if (head >= heads) {
            head -= heads, all = kvHeads, to = k;
            if (head >= kvHeads) head -= kvHeads, to = v;
        }
        to[((size_t)(row / seq * all + head) * seq + row % seq) * dim + output % dim] =
            __float2half_rn(x);
    }
};

// ---- one row --------------------------------------------------------------------------------

__device__ unsigned wordOf(const uint4 &four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

constexpr int GROUP = 128;            // numbers of a row that a warp takes at a time
constexpr int BLOCKS = GROUP / BLOCK; // blocks of a group: two, or four
constexpr int HELD = 8;               // tiles whose sums are added together

// A block goes over tiles of 16 outputs. Its warps take groups of 128 numbers in turn, straight
// into registers: each is asked for when the one before it has arrived. Earlier would not help, for
// whoever waits for one load of a loop waits for all. Lane 4g + t has the 32 numbers from 32t on,
// of outputs g and g + 8. A product has eight columns, and x is one row: so column 2j has x where
// block j of the group is, and 0 elsewhere. A block's sum comes out by itself, in lanes 4g + j.
template <int WARPS>
__device__ void projectOne(const __half *x, const unsigned char *codes, const Scale *scales,
                           const __half *bias, const Places &places, int hidden, int outputs) {
    extern __shared__ __align__(16) unsigned char memory[];
    float *shares = reinterpret_cast<float *>(memory + TABLE); // [HELD][16][WARPS + 1]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int groups = hidden / GROUP, tiles = (outputs + 15) / 16;

    struct Weights {
        uint4 codes[2]; // of outputs g and g + 8
        Scale scale[2]; // of the lane's column and block
    } one, other;
    int askTile = blockIdx.x, askGroup = warp;
    const auto ask = [&](Weights &to) {
#pragma unroll
        for (int i = 0; askTile < tiles && askGroup < groups && i < 2; i++) {
            const unsigned at = min(askTile * 16 + g + 8 * i, outputs - 1) * groups + askGroup;
            to.codes[i] = __ldcs(reinterpret_cast<const uint4 *>(codes) + at * 4 + t);
            to.scale[i] = scales[at * BLOCKS + t % BLOCKS];
        }
        askGroup += WARPS;
        if (askGroup >= groups) askGroup = warp, askTile += gridDim.x;
    };
    letTheNextBegin();
    ask(one);
    fillPairs(memory); // while they are on their way
    waitForTheOneBefore();
    uint4 b[4]; // column g
    const auto hold = [&](int group) {
        const bool mine = g / 2 % BLOCKS == t * 32 / BLOCK && group < groups;
        const uint4 *from = reinterpret_cast<const uint4 *>(x + group * GROUP + t * 32);
#pragma unroll
        for (int i = 0; i < 4; i++) b[i] = mine ? from[i] : uint4{0, 0, 0, 0};
    };
    hold(warp);
    __syncthreads(); // every thread sees the whole table

    float sums[2] = {}; // of outputs g and g + 8
    int tile = blockIdx.x, group = warp, held = 0;
    const auto step = [&](const Weights &now, Weights &next) {
        if (group < groups) {
            if (groups > WARPS) hold(group);
            float sum[2][4] = {}; // two, so that products need not wait for each other
#pragma unroll
            for (int i = 0; i < 8; i++) {
                if (i == 1) ask(next); // the first product has waited for what is there now
                const int byte = i % 2 * 2;
                const unsigned word = wordOf(now.codes[0], i / 2);
                const unsigned word8 = wordOf(now.codes[1], i / 2);
                const unsigned w[4] = {
                    pairOf(memory, word, byte, lane), pairOf(memory, word8, byte, lane),
                    pairOf(memory, word, byte + 1, lane), pairOf(memory, word8, byte + 1, lane)};
                mma_f16(sum[i % 2], w, wordOf(b[i / 2], byte), wordOf(b[i / 2], byte + 1));
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
                sums[i] += scaleOf(now.scale[i]) * (sum[0][2 * i] + sum[1][2 * i]);
        }
        group += WARPS;
        if (group < groups) return;

        // The tile is done. After one barrier for some tiles, eight lanes each add sums.
        group = warp;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            for (int far = BLOCKS / 2; far > 0; far /= 2)
                sums[i] += __shfl_xor_sync(EVERYONE, sums[i], far);
            if (t == 0) shares[(held * 16 + g + 8 * i) * (WARPS + 1) + warp] = sums[i];
            sums[i] = 0;
        }
        held++, tile += gridDim.x;
        if (held < HELD && tile < tiles) return;
        __syncthreads(); // every warp's share is there
        for (int i = threadIdx.x / 8; i < held * 16; i += WARPS * 4) {
            float sum = 0;
            for (int w = threadIdx.x % 8; w < WARPS; w += 8) sum += shares[i * (WARPS + 1) + w];
            for (int far = 4; far > 0; far /= 2) sum += __shfl_xor_sync(EVERYONE, sum, far);
            const int output = (tile - (held - i / 16) * gridDim.x) * 16 + i % 16;
            if (threadIdx.x % 8 == 0 && output < outputs)
                places.put(0, output, sum + __half2float(bias[output]));
        }
        held = 0;
        __syncthreads(); // the shares have been read
    };
    while (tile < tiles) {
        step(one, other);
        if (tile < tiles) step(other, one);
    }
}

extern "C" __global__ __launch_bounds__(1024) void project1(
    const __half *x, const unsigned char *codes, const Scale *scales, const __half *bias, __half *q,
    __half *k, __half *v, int hidden, int outputs, int heads, int kvHeads, int dim) {
    projectOne<32>(x, codes, scales, bias, {q, k, v, 1, heads, kvHeads, dim}, hidden, outputs);
}
