// Many rows, laid weights: the rungs differ by WARPS, and by ROWS, the rows of x that a block has.

// A block has a tile of 16 outputs; its warps take pieces of k in turn. A lane has four numbers of
// output g and of output g + 8 in each word, and multiplies them with as many of every row of x.
extern "C" __global__ __launch_bounds__(WARPS * 32) void rows(const __half *x, const uint4 *codes,
                                                              const __half *scales,
                                                              const unsigned char *zeros, __half *y,
                                                              int rows, int k, int n) {
    __shared__ float shares[WARPS][ROWS][TALL];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int pieces = k / PIECE, firstRow = blockIdx.y * ROWS;
    float sums[ROWS][2] = {};
    for (int piece = warp; piece < pieces; piece += WARPS) {
        const size_t at = (size_t)blockIdx.x * pieces + piece;
        const uint4 w = codes[at * 32 + lane];
        const unsigned words[4] = {w.x, w.y, w.z, w.w};
        const size_t pair = at / 2 * 8 + g; // of scales, and of zeros
        const float2 scale = __half22float2(reinterpret_cast<const __half2 *>(scales)[pair]);
        const uchar2 zero = reinterpret_cast<const uchar2 *>(zeros)[pair];
        const unsigned zero0 = twice(zero.x), zero8 = twice(zero.y);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 a = __half22float2(low(words[i], zero0));
            const float2 b = __half22float2(high(words[i], zero8));
            const float2 c = __half22float2(low(words[i] >> 8, zero0));
            const float2 d = __half22float2(high(words[i] >> 8, zero8));
            const int number = piece * PIECE + i / 2 * 32 + t * 8 + i % 2 * 4;
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (firstRow + r >= rows) break;
                const uint2 four =
                    *reinterpret_cast<const uint2 *>(x + (size_t)(firstRow + r) * k + number);
                const float2 p = __half22float2(halvesOf(four.x));
                const float2 q = __half22float2(halvesOf(four.y));
                sums[r][0] += scale.x * (a.x * p.x + a.y * p.y + c.x * q.x + c.y * q.y);
                sums[r][1] += scale.y * (b.x * p.x + b.y * p.y + d.x * q.x + d.y * q.y);
            }
        }
    }
    for (int r = 0; r < ROWS; r++)
        for (int half = 0; half < 2; half++) {
            float sum = sums[r][half]; // of four lanes
            sum += __shfl_xor_sync(EVERYONE, sum, 1);
            sum += __shfl_xor_sync(EVERYONE, sum, 2);
            if (t == 0) shares[warp][r][g + 8 * half] = sum;
        }
    __syncthreads(); // every warp's share is there
    for (int i = threadIdx.x; i < ROWS * TALL; i += WARPS * 32) {
        const int row = firstRow + i / TALL, output = blockIdx.x * TALL + i % TALL;
        float sum = 0;
        for (int w = 0; w < WARPS; w++) sum += shares[w][i / TALL][i % TALL];
        if (row < rows && output < n) y[(size_t)row * n + output] = __float2half_rn(sum);
    }
}
