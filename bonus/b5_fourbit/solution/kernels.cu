// Weights of four bits, in blocks that share a scale: read as they are (dequantise), or multiplied
// without ever being written (project): [q | k | v] = x [Wq | Wk | Wv] + bias.
//
//   codes   [outputs, hidden] of four bits       x      [rows, hidden] of halves
//   scales  [outputs, hidden / BLOCK]            bias   [outputs] of halves
//
// A weight's number is, but for its block's scale, one of sixteen. Halves hold these, so tensor
// cores multiply them, and a block's sum of products, in float32, is multiplied by its scale.
//
// The host defines MXFP4, or nothing for NF4.

#include <cuda_fp16.h>
#include <tensorcore.h>

#ifdef MXFP4
constexpr int BLOCK = 32; // numbers of a row that share a scale
typedef unsigned char Scale;
typedef unsigned short Scales; // of a chunk

// E2M1: a sign, two bits of exponent, one of fraction.
__device__ float number(int code) {
    const int e = code >> 1 & 3, f = code & 1;
    const float size = e > 0 ? (2 + f) * (1 << e) * 0.25f : 0.5f * f;
    return code & 8 ? -size : size;
}

// E8M0 is the exponent of a float32, where 0 would be a float32's 0, and 255 its infinity.
__device__ float scaleOf(unsigned e) {
    return e == 255 ? NAN : e == 0 ? 0x1p-127f : __uint_as_float(e << 23);
}
__device__ float scaleOf(Scales s, int half) {
    return scaleOf(s >> 8 * half & 255u);
}

// The two numbers of a byte.
__device__ int firstOf(int byte) {
    return byte & 15;
}
__device__ int secondOf(int byte) {
    return byte >> 4;
}
#else
constexpr int BLOCK = 64;
typedef float Scale;
typedef float Scales;

__constant__ float quantiles[16] = {-1.0f,
                                    -0.6961928009986877f,
                                    -0.5250730514526367f,
                                    -0.39491748809814453f,
                                    -0.28444138169288635f,
                                    -0.18477343022823334f,
                                    -0.09105003625154495f,
                                    0.0f,
                                    0.07958029955625534f,
                                    0.16093020141124725f,
                                    0.24611230194568634f,
                                    0.33791524171829224f,
                                    0.44070982933044434f,
                                    0.5626170039176941f,
                                    0.7229568362236023f,
                                    1.0f};

__device__ float number(int code) {
    return quantiles[code];
}
__device__ float scaleOf(float s) {
    return s;
}
__device__ float scaleOf(Scales s, int) {
    return s;
}
__device__ int firstOf(int byte) {
    return byte >> 4;
}
__device__ int secondOf(int byte) {
    return byte & 15;
}
#endif

constexpr unsigned EVERYONE = 0xffffffff;

// ---- reading --------------------------------------------------------------------------------

// out[i] = number * scale, for count numbers in rows; a row's first number begins a block. A thread
// has four. Each lane keeps one number of the sixteen, and all ask each other for them.
extern "C" __global__ void dequantise(const unsigned char *codes, const Scale *scales, float *out,
                                      int count, int row) {
    const float mine = number(threadIdx.x % 16);
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
        x[j] = __shfl_sync(EVERYONE, mine, j % 2 == 0 ? firstOf(byte) : secondOf(byte));
        const int block = i / row * blocks + i % row / BLOCK;
        if (i < count && block != last) scale = scaleOf(scales[block]), last = block;
        x[j] *= scale;
    }
    if (first + 4 <= count)
        *reinterpret_cast<float4 *>(out + first) = make_float4(x[0], x[1], x[2], x[3]);
    else
        for (int j = 0; first + j < count; j++) out[first + j] = x[j];
}

// ---- multiplying ----------------------------------------------------------------------------

// A chunk is 64 numbers of a row: 32 bytes, the least that memory gives. Lane 4g + t brings eight
// bytes of row g: its words 2t and 2t + 1 of eight numbers. One product takes eight numbers from
// four lanes each in two steps, and these 32 must share a scale: so lanes t and t ^ 2 exchange
// a word each. Then lane t has word 2 (t % 2) + t / 2 of each half of the chunk.
constexpr int CHUNK = 64, DEEP = 4; // chunks that are asked for at once
constexpr int PAIRS = 256 * 32;     // words of the table

__device__ uint2 exchanged(uint2 words, int lane) {
    const bool early = lane % 4 < 2;
    const unsigned got = __shfl_xor_sync(EVERYONE, early ? words.y : words.x, 2);
    return early ? make_uint2(words.x, got) : make_uint2(got, words.y);
}
__device__ int wordOf(int lane) {
    return 2 * (lane % 2) + lane % 4 / 2;
}

// The table: for every byte its two numbers as halves, once for each lane, so that lanes
// with different bytes never meet in a bank.
__device__ void fillPairs(unsigned *pairs) {
    for (int i = threadIdx.x; i < 256 * 8; i += blockDim.x) {
        const __half2 two = __floats2half2_rn(number(firstOf(i / 8)), number(secondOf(i / 8)));
        const unsigned bits = *reinterpret_cast<const unsigned *>(&two);
        reinterpret_cast<uint4 *>(pairs)[i] = make_uint4(bits, bits, bits, bits);
    }
}
__device__ unsigned pairOf(const unsigned *pairs, unsigned word, int byte, int lane) {
    return pairs[(word >> 8 * byte & 255) * 32 + lane];
}

// What a lane has of 16 * TALL rows of weights: DEEP chunks of rows g and g + 8 of each 16, and
// the scales of chunk t.
template <int TALL> struct Weights {
    uint2 codes[DEEP][TALL][2];
    Scales scales[TALL][2];

    // From chunk first on; what lies behind the last chunk is left out, and rows from outputs on
    // are read as the last one.
    __device__ void fetch(const unsigned char *all, const Scale *scale, int row, int outputs,
                          int first, int chunks, int lane) {
#pragma unroll
        for (int tall = 0; tall < TALL; tall++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int mine = min(row + 16 * tall + 8 * half + lane / 4, outputs - 1);
                const size_t chunk = (size_t)mine * chunks + first;
                const uint2 *from = reinterpret_cast<const uint2 *>(all) + chunk * 4 + lane % 4;
#pragma unroll
                for (int d = 0; d < DEEP; d++)
                    if (first + d < chunks) codes[d][tall][half] = from[d * 4];
                if (first + lane % 4 < chunks)
                    scales[tall][half] = reinterpret_cast<const Scales *>(scale)[chunk + lane % 4];
            }
        }
    }
};

// sums [16 * TALL, 8 * WIDE] += scales * (numbers * x), for the chunk d of what was fetched. x
// gives eight halves of a row of x: of the lane's word in the chunk's first or second half.
template <int TALL, int WIDE, class X>
__device__ void multiply(float (&sums)[TALL][WIDE][4], const Weights<TALL> &w, int d,
                         const unsigned *pairs, int lane, X x) {
    uint2 words[TALL][2];
    Scales scales[TALL][2];
#pragma unroll
    for (int tall = 0; tall < TALL; tall++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            words[tall][half] = exchanged(w.codes[d][tall][half], lane);
            scales[tall][half] = __shfl_sync(EVERYONE, w.scales[tall][half], lane / 4 * 4 + d);
        }
    }
#pragma unroll
    for (int part = 0; part < 2; part++) { // of the chunk: numbers that share a scale
        unsigned a[TALL][2][4];
        float scale[TALL][2];
#pragma unroll
        for (int tall = 0; tall < TALL; tall++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const unsigned word = part == 0 ? words[tall][half].x : words[tall][half].y;
                scale[tall][half] = scaleOf(scales[tall][half], part);
#pragma unroll
                for (int byte = 0; byte < 4; byte++)
                    a[tall][byte / 2][byte % 2 * 2 + half] = pairOf(pairs, word, byte, lane);
            }
        }
#pragma unroll
        for (int wide = 0; wide < WIDE; wide++) {
            const uint4 b = x(wide, part);
#pragma unroll
            for (int tall = 0; tall < TALL; tall++) {
                float sum[4] = {};
                mma_f16(sum, a[tall][0], b.x, b.y);
                mma_f16(sum, a[tall][1], b.z, b.w);
#pragma unroll
                for (int i = 0; i < 4; i++) // sum i is of row g, or, from 2 on, of row g + 8
                    sums[tall][wide][i] += scale[tall][i / 2] * sum[i];
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

// A few rows of x, at most 8 * WIDE: a block has 16 * TALL outputs, and its warps share out
// the numbers that these sum over. Nothing of the weights is needed twice.
constexpr int WARPS = 16;

template <int TALL, int WIDE>
__device__ void few(const __half *x, const unsigned char *codes, const Scale *scales,
                    const __half *bias, const Places &places, int rows, int hidden, int outputs) {
    __shared__ __align__(16) unsigned memory[PAIRS];
    static_assert(WARPS * TALL * WIDE * 128 <= PAIRS, "the sums take the table's place");
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = blockIdx.x * 16 * TALL, chunks = hidden / CHUNK;
    const __half *from[WIDE]; // rows of x, those that are not there as the last one
#pragma unroll
    for (int wide = 0; wide < WIDE; wide++)
        from[wide] = x + (size_t)min(8 * wide + lane / 4, rows - 1) * hidden + wordOf(lane) * 8;

    float sums[TALL][WIDE][4] = {};
    Weights<TALL> w;
    int chunk = warp * DEEP;
    if (chunk < chunks) w.fetch(codes, scales, first, outputs, chunk, chunks, lane);
    fillPairs(memory); // while the first weights are on their way
    __syncthreads();   // the table is there for all
    while (chunk < chunks) {
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            if (chunk + d < chunks)
                multiply(sums, w, d, memory, lane, [&](int wide, int part) {
                    return *reinterpret_cast<const uint4 *>(from[wide] + (chunk + d) * CHUNK +
                                                            32 * part);
                });
        }
        chunk += WARPS * DEEP;
        if (chunk < chunks) w.fetch(codes, scales, first, outputs, chunk, chunks, lane);
    }

    __syncthreads(); // all are done with the table
    float *shares = reinterpret_cast<float *>(memory);
#pragma unroll
    for (int tall = 0; tall < TALL; tall++) {
#pragma unroll
        for (int wide = 0; wide < WIDE; wide++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int output = 16 * tall + lane / 4 + i / 2 * 8;
                const int row = 8 * wide + lane % 4 * 2 + i % 2;
                shares[(warp * 8 * WIDE + row) * 16 * TALL + output] = sums[tall][wide][i];
            }
        }
    }
    __syncthreads(); // every warp's share is there
    for (int i = threadIdx.x; i < 128 * TALL * WIDE; i += blockDim.x) {
        const int row = i / (16 * TALL), output = first + i % (16 * TALL);
        if (row >= rows || output >= outputs) continue;
        float sum = __half2float(bias[output]);
#pragma unroll
        for (int share = 0; share < WARPS; share++) sum += shares[share * 128 * TALL * WIDE + i];
        places.put(row, output, sum);
    }
}

#define FEW(NAME, TALL, WIDE)                                                                      \
    extern "C" __global__ __launch_bounds__(WARPS * 32) void NAME(                                 \
        const __half *x, const unsigned char *codes, const Scale *scales, const __half *bias,      \
        __half *q, __half *k, __half *v, int rows, int hidden, int outputs, int seq, int heads,    \
        int kvHeads, int dim) {                                                                    \
        const Places places = {q, k, v, seq, heads, kvHeads, dim};                                 \
        few<TALL, WIDE>(x, codes, scales, bias, places, rows, hidden, outputs);                    \
    }
FEW(project8, 1, 1)
FEW(project16, 2, 2)

// Many rows of x: a block has 64 of them and 128 outputs, each warp 32 of these. Chunks of x
// arrive in shared memory, while those before are multiplied.
constexpr int TALL = 2, WIDE = 8, OUTPUTS = 4 * 16 * TALL, ROWS = 8 * WIDE;
constexpr int PIECES = CHUNK / 8; // of a row: 16 bytes each

// Row r's pieces change places by r's last bit: two rows of four pieces, as eight lanes read them,
// are then in different banks.
__device__ int placeOf(int row, int piece) {
    return row * PIECES + (piece ^ row % 2 * 4);
}

extern "C" __global__
__launch_bounds__(128) void project64(const __half *x, const unsigned char *codes,
                                      const Scale *scales, const __half *bias, __half *q, __half *k,
                                      __half *v, int rows, int hidden, int outputs, int seq,
                                      int heads, int kvHeads, int dim) {
    extern __shared__ __align__(16) unsigned memory[]; // the table, and two buffers of x
    uint4 *tiles = reinterpret_cast<uint4 *>(memory + PAIRS);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = blockIdx.x * OUTPUTS + warp * 16 * TALL, chunks = hidden / CHUNK;
    const int firstRow = blockIdx.y * ROWS;
    const Places places = {q, k, v, seq, heads, kvHeads, dim};

    constexpr int MINE = ROWS * PIECES / 128; // pieces that a thread copies
    uint4 next[MINE];
    const auto ask = [&](int chunk) {
#pragma unroll
        for (int i = 0; i < MINE; i++) {
            const int at = threadIdx.x + i * 128, row = min(firstRow + at / PIECES, rows - 1);
            next[i] = *reinterpret_cast<const uint4 *>(x + (size_t)row * hidden + chunk * CHUNK +
                                                       at % PIECES * 8);
        }
    };
    const auto keep = [&](int chunk) {
        uint4 *tile = tiles + chunk % 2 * ROWS * PIECES;
#pragma unroll
        for (int i = 0; i < MINE; i++) {
            const int at = threadIdx.x + i * 128;
            tile[placeOf(at / PIECES, at % PIECES)] = next[i];
        }
    };

    float sums[TALL][WIDE][4] = {};
    Weights<TALL> w;
    ask(0);
    w.fetch(codes, scales, first, outputs, 0, chunks, lane);
    fillPairs(memory);
    keep(0);
    for (int group = 0; group < chunks; group += DEEP) {
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            const int chunk = group + d;
            if (chunk >= chunks) break;
            __syncthreads(); // this chunk of x is there for all; and all are done with the one
                             // before
            if (chunk + 1 < chunks) ask(chunk + 1);
            const uint4 *tile = tiles + chunk % 2 * ROWS * PIECES;
            multiply(sums, w, d, memory, lane, [&](int wide, int part) {
                return tile[placeOf(8 * wide + lane / 4, wordOf(lane) + 4 * part)];
            });
            if (chunk + 1 < chunks) keep(chunk + 1);
        }
        if (group + DEEP < chunks)
            w.fetch(codes, scales, first, outputs, group + DEEP, chunks, lane);
    }

#pragma unroll
    for (int tall = 0; tall < TALL; tall++) {
#pragma unroll
        for (int wide = 0; wide < WIDE; wide++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int output = first + 16 * tall + lane / 4 + i / 2 * 8;
                const int row = firstRow + 8 * wide + lane % 4 * 2 + i % 2;
                if (row < rows && output < outputs)
                    places.put(row, output, sums[tall][wide][i] + __half2float(bias[output]));
            }
        }
    }
}
