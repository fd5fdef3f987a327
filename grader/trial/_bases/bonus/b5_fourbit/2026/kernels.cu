// Weights of four bits, in blocks that share a scale: read as they are (dequantise), or multiplied
// without ever being written (project): [q | k | v] = x [Wq | Wk | Wv] + bias.
//
//   codes   [outputs, hidden] of four bits       x      [rows, hidden] of halves
//   scales  [outputs, hidden / BLOCK]            bias   [outputs] of halves
//
// A weight's number is, but for its block's scale, one of sixteen. Halves hold these, so tensor
// cores multiply them, and a block's sum of products, in float32, is multiplied by its scale.
// The host defines MXFP4, or nothing for NF4. One row of x has a kernel of its own, in row.cu.

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <tensorcore.h>

#ifdef MXFP4
constexpr int BLOCK = 32; // numbers of a row that share a scale
constexpr int FIRST = 0;  // the bit at which a byte's first code begins
typedef unsigned char Scale;
typedef uint2 Scales; // of a row in a stage, see below
// E2M1: a sign, two bits of exponent, one of fraction.
__constant__ float numbers[16] = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                  -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
// E8M0 is the exponent of a float32, where 0 would be a float32's 0, and 255 its infinity.
__device__ float scaleOf(Scale e) {
    return e == 255 ? NAN : e == 0 ? 0x1p-127f : __uint_as_float((unsigned)e << 23);
}
// The same for a sum that becomes a half: beside others 2^-127 is 0. Infinity times 0 is NaN.
__device__ float scaleOf(Scales s, int block) {
    const float e = __uint_as_float(((block < 4 ? s.x : s.y) >> block % 4 * 8 & 255) << 23);
    return fmaf(e, 0.0f, e);
}
#else
constexpr int BLOCK = 64, FIRST = 4;
typedef float Scale;
typedef uint4 Scales;
// clang-format off
__constant__ float numbers[16] = {
    -1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
    -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
    0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
    0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f,
};
// clang-format on
__device__ float scaleOf(float s) {
    return s;
}
__device__ float scaleOf(Scales s, int block) {
    return __uint_as_float(block < 2 ? block == 0 ? s.x : s.y : block == 2 ? s.z : s.w);
}
#endif

constexpr unsigned EVERYONE = 0xffffffff;
// The code of number i of a byte, 0 or 1.
__device__ int codeOf(int byte, int i) {
    return byte >> (i == 0 ? FIRST : 4 - FIRST) & 15;
}

// out[i] = number * scale, for count numbers in rows; a row's first number begins a block. A thread
// has four. Each lane keeps one number of the sixteen, and all ask each other for them.
extern "C" __global__ void dequantise(const unsigned char *codes, const Scale *scales, float *out,
                                      int count, int row) {
    const float mine = numbers[threadIdx.x % 16];
    const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int blocks = (row + BLOCK - 1) / BLOCK; // of a row; the last one may be short
    unsigned bytes = 0;                           // behind the end all lanes still take part
    if (first + 4 <= count)
        bytes = reinterpret_cast<const unsigned short *>(codes)[first / 4];
    else
        for (int i = first; i < count; i += 2) bytes |= codes[i / 2] << 4 * (i - first);
    float x[4], scale = 0;
    for (int j = 0, last = -1; j < 4; j++) {
        const int byte = bytes >> j / 2 * 8 & 255, i = first + j;
        x[j] = __shfl_sync(EVERYONE, mine, codeOf(byte, j % 2));
        const int block = i / row * blocks + i % row / BLOCK;
        if (i < count && block != last) scale = scaleOf(scales[block]), last = block;
        x[j] *= scale;
    }
    if (first + 4 <= count)
        *reinterpret_cast<float4 *>(out + first) = make_float4(x[0], x[1], x[2], x[3]);
    else
        for (int j = 0; first + j < count; j++) out[first + j] = x[j];
}

// Weights arrive by cp.async in stages, several of which are under way. A stage is 256 numbers of
// each row, 128 bytes, and behind them the row's scales. A lane has WORDS words of a block, of
// eight numbers each; with few rows of x they are N in a row, read at once. Rows begin 144 or 160
// bytes apart: what lanes 4g + t read of rows g is in different banks.
constexpr int SLICE = 256, LINE = SLICE / 2, WORDS = BLOCK / 32;
template <int N> struct alignas(4 * N) Words {
    unsigned of[N];
};
// The number in the slice with which a word of lane 0 begins.
template <int N> __device__ constexpr int place(int word) {
    return word / N * N * 32 + word % N * 8;
}
// Asks for so many rows from first on, and numbers of the slice. What lies outside is 0. There are
// fewer than 2^30 weights, so 32 bits count their bytes.
template <int HEIGHT, int PITCH>
__device__ void ask(unsigned char *stage, const unsigned char *codes, const Scale *scales,
                    int first, int outputs, int hidden, int slice, int lane) {
    constexpr int EACH = SLICE / BLOCK * (int)sizeof(Scale) / 4; // words of a row's scales
    const int piece = lane % 8, word = lane % EACH;              // a piece is 32 numbers
    uint4 *to = reinterpret_cast<uint4 *>(stage + lane / 8 * PITCH) + piece;
    unsigned *scale = reinterpret_cast<unsigned *>(stage + lane / EACH * PITCH + LINE) + word;
    const auto rows = [&](bool codesThere, bool scalesThere) {
#pragma unroll
        for (int i = 0; i < HEIGHT; i += 4, to += 4 * PITCH / 16) {
            const unsigned row = min(first + lane / 8 + i, outputs - 1);
            if (codesThere)
                __pipeline_memcpy_async(
                    to, codes + (row * (hidden / 2) + slice * LINE + piece * 16), 16);
            else
                *to = make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < HEIGHT; i += 32 / EACH, scale += 32 / EACH * PITCH / 4) {
            const unsigned row = min(first + lane / EACH + i, outputs - 1);
            const Scale *from = scales + (row * (hidden / BLOCK) + slice * (SLICE / BLOCK));
            if (scalesThere)
                __pipeline_memcpy_async(scale, reinterpret_cast<const unsigned *>(from) + word, 4);
            else
                *scale = 0;
        }
    };
    const int here = hidden - slice * SLICE;
    if (here >= SLICE) // by itself, as it takes half the instructions
        rows(true, true);
    else
        rows(piece * 32 < here, word * (SLICE / EACH) < here);
}

// The table: for every byte its two numbers as halves, once for each lane, so that lanes
// with different bytes never meet in a bank. Entries are 256 bytes apart: then one instruction
// makes an address, of a byte of the word and four times the lane. Four threads fill an entry.
constexpr int TABLE = 256 * 256;
__device__ void fillPairs(unsigned char *pairs) {
    for (int i = threadIdx.x; i < 256 * 4; i += blockDim.x) {
        const __half2 two = __floats2half2_rn(numbers[codeOf(i / 4, 0)], numbers[codeOf(i / 4, 1)]);
        const unsigned word = *reinterpret_cast<const unsigned *>(&two);
        uint4 *to = reinterpret_cast<uint4 *>(pairs + i / 4 * 256) + i % 4;
        to[0] = to[4] = make_uint4(word, word, word, word);
    }
}
__device__ unsigned pairOf(const unsigned char *pairs, unsigned word, int byte, int lane) {
    const unsigned at = __byte_perm(word, lane * 4, 0x5504 | byte << 4);
    return *reinterpret_cast<const unsigned *>(pairs + at);
}

// sums [16 * TALL, 8 * WIDE] += scales * (numbers * x), for a stage. x gives the eight halves of a
// row of x for a word. Loops have constant bounds: but for long ones, the compiler unrolls them.
template <int TALL, int WIDE, class X>
__device__ void multiply(float (&sums)[TALL][WIDE][4], const unsigned char *stage,
                         const unsigned char *pairs, int lane, X x) {
    constexpr int N = WIDE <= 2 ? WORDS : 1, PITCH = LINE + 16 * N;
    const unsigned char *mine = stage + lane / 4 * PITCH;
    Scales scales[TALL][2];
    for (int i = 0; i < 2 * TALL; i++) // rows g and g + 8 of each tile
        scales[i / 2][i % 2] = *reinterpret_cast<const Scales *>(mine + 8 * i * PITCH + LINE);
#pragma unroll(WIDE <= 2 ? SLICE / BLOCK : 1)
    for (int block = 0; block < SLICE / BLOCK; block++) {
        unsigned a[TALL][2 * WORDS][4];
        for (int i = 0; i < 2 * TALL * WORDS / N; i++) {
            const int row = i * N / WORDS, w = i * N % WORDS; // rows are 8 apart
            const auto words = *reinterpret_cast<const Words<N> *>(
                mine + 8 * row * PITCH + place<N>(block * WORDS + w) / 2 + lane % 4 * 4 * N);
            for (int j = 0; j < 4 * N; j++) // bytes
                a[row / 2][2 * w + j / 2][j % 2 * 2 + row % 2] =
                    pairOf(pairs, words.of[j / 4], j % 4, lane);
        }
#pragma unroll
        for (int wide = 0; wide < WIDE; wide++) {
            uint4 b[WORDS];
            for (int w = 0; w < WORDS; w++) b[w] = x(wide, block * WORDS + w);
            for (int tall = 0; tall < TALL; tall++) {
                float sum[4] = {};
                for (int w = 0; w < WORDS; w++) {
                    mma_f16(sum, a[tall][2 * w], b[w].x, b[w].y);
                    mma_f16(sum, a[tall][2 * w + 1], b[w].z, b[w].w);
                }
                for (int c = 0; c < 4; c++) // sum c is of row g, or, from 2 on, of row g + 8
                    sums[tall][wide][c] += scaleOf(scales[tall][c / 2], block) * sum[c];
            }
        }
    }
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

// A block has 8 * WIDE rows of x, and takes groups of 16 * TALL outputs in turn. Its warps share
// out the numbers that these sum over: each walks over slices of its own, without a barrier, from
// the first group to the last. At the end of a group their sums are added.
template <int WARPS, int STAGES, int TALL, int WIDE>
__device__ void project(const __half *x, const unsigned char *codes, const Scale *scales,
                        const __half *bias, const Places &places, int rows, int hidden,
                        int outputs) {
    constexpr int HEIGHT = 16 * TALL, SHARE = 32 * TALL * WIDE; // of a warp's sums, by fours
    constexpr bool FEW = WIDE <= 2;
    constexpr int N = FEW ? WORDS : 1, PITCH = LINE + 16 * N;
    constexpr int BUFFERS = FEW ? 2 : 1; // for the sums: with two, nobody waits for who adds them
    extern __shared__ __align__(16) unsigned char memory[];
    float4 *shares = reinterpret_cast<float4 *>(memory + TABLE);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row0 = blockIdx.y * 8 * WIDE;
    unsigned char *stages =
        memory + TABLE + BUFFERS * WARPS * SHARE * 16 + warp * STAGES * HEIGHT * PITCH;
    const int groups = (outputs + HEIGHT - 1) / HEIGHT, slices = (hidden + SLICE - 1) / SLICE;

    int askGroup = blockIdx.x, askSlice = warp, to = 0; // what is asked for next, and its stage
    const auto next = [&]() {
        if (askGroup < groups && askSlice < slices)
            ask<HEIGHT, PITCH>(stages + to * HEIGHT * PITCH, codes, scales, askGroup * HEIGHT,
                               outputs, hidden, askSlice, lane);
        __pipeline_commit();
        askSlice += WARPS, to = to + 1 == STAGES ? 0 : to + 1;
        if (askSlice >= slices) askSlice = warp, askGroup += gridDim.x;
    };
    // The kernel ahead may still run, and write x. More weights would be in the way of x.
    next();
    fillPairs(memory);
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    const __half *from[WIDE]; // rows of x; those that are not there are read as the last one
    for (int i = 0; i < WIDE; i++)
        from[i] = x + (size_t)min(row0 + 8 * i + lane / 4, rows - 1) * hidden + lane % 4 * 8 * N;
    const auto eight = [&](int wide, int slice, int word) {
        const int at = slice * SLICE + place<N>(word);
        return at < hidden ? *reinterpret_cast<const uint4 *>(from[wide] + at) : uint4{0, 0, 0, 0};
    };
    uint4 held[SLICE / 32][FEW ? WIDE : 1]; // a warp's part of a few rows of x stays in registers
    const auto hold = [&](int slice) {
#pragma unroll
        for (int i = 0; FEW && i < SLICE / 32 * WIDE; i++)
            held[i / WIDE][i % WIDE] = eight(i % WIDE, slice, i / WIDE);
        return slice;
    };
    int holds = hold(warp);
    for (int i = 1; i < STAGES - 1; i++) next();
    __syncthreads(); // every thread sees the whole table

    int stage = 0, buffer = 0, turn = 0;
    for (int group = blockIdx.x; group < groups; group += gridDim.x) {
        float sums[TALL][WIDE][4] = {};
        for (int slice = warp; slice < slices; slice += WARPS) {
            if (FEW && slice != holds) holds = hold(slice);
            __pipeline_wait_prior(STAGES - 2);
            __syncwarp(); // the stage has arrived, and all lanes are done with the one before
            next();
            multiply(sums, stages + stage * HEIGHT * PITCH, memory, lane, [&](int wide, int word) {
                return FEW ? held[word][wide] : eight(wide, slice, word);
            });
            stage = stage + 1 == STAGES ? 0 : stage + 1;
        }
        float4 *to = shares + buffer * WARPS * SHARE;
        for (int i = 0; i < TALL * WIDE; i++) {
            const float(&s)[4] = sums[i / WIDE][i % WIDE];
            to[warp * SHARE + i * 32 + lane] = make_float4(s[0], s[1], s[2], s[3]);
        }
        __syncthreads(); // every warp's share is there
        // Other threads add in every turn: none falls behind.
        for (int i = (threadIdx.x + turn) % (WARPS * 32); i < 4 * SHARE; i += WARPS * 32) {
            const int tile = i / 128, owner = i / 4 % 32, c = i % 4; // as the lane had it
            const int output = group * HEIGHT + tile / WIDE * 16 + owner / 4 + c / 2 * 8;
            const int row = row0 + tile % WIDE * 8 + owner % 4 * 2 + c % 2;
            if (row >= rows || output >= outputs) continue;
            float sum = __half2float(bias[output]);
            for (int w = 0; w < WARPS; w++) sum += reinterpret_cast<float *>(to + w * SHARE)[i];
            places.put(row, output, sum);
        }
        turn += 4 * SHARE, buffer = BUFFERS - 1 - buffer;
        if (BUFFERS == 1) __syncthreads(); // the shares have been read
    }
}

#define PROJECT(NAME, WARPS, STAGES, TALL, WIDE)                                                   \
    extern "C" __global__ __launch_bounds__(WARPS * 32) void NAME(                                 \
        const __half *x, const unsigned char *codes, const Scale *scales, const __half *bias,      \
        __half *q, __half *k, __half *v, int rows, int hidden, int outputs, int seq, int heads,    \
        int kvHeads, int dim) {                                                                    \
        project<WARPS, STAGES, TALL, WIDE>(                                                        \
            x, codes, scales, bias, {q, k, v, seq, heads, kvHeads, dim}, rows, hidden, outputs);   \
    }
PROJECT(project8, 16, 3, 1, 1)
PROJECT(project16, 16, 3, 1, 2)
PROJECT(project64, 8, 2, 2, 8)
