// From halves to codes of 8 bits: a number is (code - zero) * scale. Two ways to choose scale and
// zero: one for all of a tensor, or one scale for each block of 64 rows, with zero = 0.
//
// A tensor is rows of DIM numbers; a thread takes pieces of them, of 8 numbers: 16 bytes.
// The host defines DIM (64 or 128).

#include <cuda_fp16.h>
#include <stdint.h>

constexpr int PIECES = DIM / 8, BLOCK = 64; // BLOCK: rows that share a scale
constexpr unsigned EVERYONE = 0xffffffff;

union Piece {
    uint4 whole;
    __half x[8];
};
union Codes {
    uint2 whole;
    int8_t x[8];
};

// The largest absolute value of a warp's lanes, of the bits of floats without a sign. As integers
// they have the floats' order, and a NaN is above all: it is not lost, as fmaxf would lose it.
__device__ int largestOf(int bits) {
    for (int step = 16; step > 0; step /= 2)
        bits = max(bits, __shfl_xor_sync(EVERYONE, bits, step));
    return bits;
}

// --- One scale and one zero for a tensor

// How far a tensor goes above 0 and below: extent[0] and [1], bits of floats, 0 to begin with.
extern "C" __global__ void extents(const __half *x, int pieces, int *extent) {
    int above = 0, below = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += gridDim.x * blockDim.x) {
        const Piece piece = {reinterpret_cast<const uint4 *>(x)[i]};
        for (int e = 0; e < 8; e++) {
            const int bits = __float_as_int(__half2float(piece.x[e]));
            if (bits >= 0)
                above = max(above, bits);
            else
                below = max(below, bits & 0x7fffffff);
        }
    }
    above = largestOf(above), below = largestOf(below);
    if (threadIdx.x % 32 == 0) {
        atomicMax(&extent[0], above);
        atomicMax(&extent[1], below);
    }
}

// Codes -128 ... 127 of a tensor, its scale and zero, and the sum of each row's codes.
extern "C" __global__ void tensorCodes(const __half *x, int pieces, const int *extent,
                                       int8_t *codes, float *affine, int *sums) {
    const float above = __int_as_float(extent[0]), below = __int_as_float(extent[1]);
    const float range = above + below + (above - above) + (below - below); // infinite: NaN
    const float scale = range == 0 ? 1 : range / 255, steps = 1 / scale;
    const int zero = __float2int_rn(below * steps) - 128;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) affine[0] = scale, affine[1] = zero;

    int sum = 0;
    if (i < pieces) {
        const Piece piece = {reinterpret_cast<const uint4 *>(x)[i]};
        Codes to;
        for (int e = 0; e < 8; e++) {
            const int code = __float2int_rn(__half2float(piece.x[e]) * steps) + zero;
            to.x[e] = (int8_t)max(min(code, 127), -128);
            sum += to.x[e];
        }
        reinterpret_cast<uint2 *>(codes)[i] = to.whole;
    }
    for (int step = PIECES / 2; step > 0; step /= 2) sum += __shfl_xor_sync(EVERYONE, sum, step);
    if (i < pieces && i % PIECES == 0) sums[i / PIECES] = sum;
}

// --- One scale for a block of rows, after the mean

constexpr int COLUMNS = 16, WARPS = 8; // of a block of threads: two of them have a line

// The mean of each column of a head's rows. A block has COLUMNS of them: 32 bytes, which is what
// memory gives at a time.
extern "C" __global__ void means(const __half *x, int len, float *mean) {
    __shared__ float sums[WARPS][COLUMNS];
    const int lane = threadIdx.x % 32, line = threadIdx.x / 2;
    const __half *from = x + (size_t)blockIdx.y * len * DIM + blockIdx.x * COLUMNS + lane % 2 * 8;
    float sum[8] = {};
#pragma unroll 8
    for (int row = line; row < len; row += WARPS * 16) {
        const Piece piece = {*reinterpret_cast<const uint4 *>(from + (size_t)row * DIM)};
#pragma unroll
        for (int e = 0; e < 8; e++) sum[e] += __half2float(piece.x[e]);
    }
#pragma unroll
    for (int e = 0; e < 8; e++) {
        for (int step = 16; step > 1; step /= 2) sum[e] += __shfl_xor_sync(EVERYONE, sum[e], step);
        if (lane < 2) sums[threadIdx.x / 32][lane * 8 + e] = sum[e];
    }
    __syncthreads(); // the sums of all warps are in place
    if (threadIdx.x >= COLUMNS) return;
    float all = 0;
    for (int w = 0; w < WARPS; w++) all += sums[w][threadIdx.x];
    mean[blockIdx.y * DIM + blockIdx.x * COLUMNS + threadIdx.x] = all / len;
}

constexpr int THREADS = 128, STRIDE = THREADS / PIECES, EACH = BLOCK / STRIDE; // EACH: pieces

// Codes -127 ... 127 of 64 rows of a head, and their scale; the columns' means go first, if asked.
extern "C" __global__ __launch_bounds__(THREADS) void blockCodes(const __half *x, int len,
                                                                 const float *mean, int centred,
                                                                 int8_t *codes, float *scales) {
    __shared__ int warps[THREADS / 32];
    const int row = blockIdx.x * BLOCK + threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
    const size_t first = ((size_t)blockIdx.y * len + row) * PIECES + piece; // in pieces
    float value[EACH][8];
    union {
        float4 whole[2];
        float x[8];
    } centre = {};
    if (centred) {
        const float4 *from = reinterpret_cast<const float4 *>(mean + blockIdx.y * DIM + piece * 8);
        centre.whole[0] = from[0], centre.whole[1] = from[1];
    }

    // 1. The largest absolute value of the block.
    int largest = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        Piece from = {};
        const bool there = row + i * STRIDE < len;
        if (there) from.whole = reinterpret_cast<const uint4 *>(x)[first + i * THREADS];
#pragma unroll
        for (int e = 0; e < 8; e++) {
            value[i][e] = there ? __half2float(from.x[e]) - centre.x[e] : 0;
            largest = max(largest, __float_as_int(fabsf(value[i][e])));
        }
    }
    largest = largestOf(largest);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = largest;
    __syncthreads(); // the warps' maxima are in place
    for (int w = 0; w < THREADS / 32; w++) largest = max(largest, warps[w]);

    // 2. Its codes. A block of zeros has a scale of 1: any is right, and 0 * -inf is NaN.
    const float most = largest == 0 ? 127 : __int_as_float(largest), steps = 127 / most;
    if (threadIdx.x == 0) scales[blockIdx.y * gridDim.x + blockIdx.x] = most / 127;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if (row + i * STRIDE >= len) continue;
        Codes to;
#pragma unroll
        for (int e = 0; e < 8; e++)
            to.x[e] = (int8_t)max(min(__float2int_rn(value[i][e] * steps), 127), -127);
        reinterpret_cast<uint2 *>(codes)[first + i * THREADS] = to.whole;
    }
}
