// A linear layer for many rows, as in a prompt: out = x * w^T + bias.
//
// x [rows, in], w [width, in], out [rows, width]. A block computes a square of
// TILE x TILE results. It walks along `in` in slabs of DEPTH. Shared memory holds a
// slab of x and a slab of w, transposed so that neighbouring lines are adjacent.
// A thread keeps (4 * PARTS)^2 results in registers, in PARTS^2 squares of 4 x 4.
// So it reads float4s, and each number it reads is used in 4 * PARTS products.
// While it multiplies, the next slab is on its way to its registers.

// defines.go defines BLOCK, the threads of a block, and what happens to
// x * w^T + bias: GELU, or ADD, which adds it to what is already in out.

#define DEPTH 16
#define QUADS (DEPTH / 4) // float4s of a line of a slab

__device__ float finish(float value, const float *out, int then) {
    if (then == ADD) return *out + value;
    if (then != GELU) return value;
    const float u = 0.7978845608028654f * (value + 0.044715f * value * value * value);
    return value / (1.0f + expf(-2.0f * u)); // as in elementwise.cu
}

// Four neighbouring numbers of a line. Beyond its end they are zeros, which add nothing.
// wide says that lines start at multiples of 16 bytes; wideOut says the same of out.
__device__ float4 load(const float *matrix, int line, int lines, int k, int in, int wide) {
    if (line >= lines || k >= in) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float *from = matrix + (size_t)line * in + k;
    if (wide) return *(const float4 *)from;
    return make_float4(from[0], k + 1 < in ? from[1] : 0.0f, k + 2 < in ? from[2] : 0.0f,
                       k + 3 < in ? from[3] : 0.0f);
}

// A thread's share of a slab of TILE lines, on its way to shared memory. QUADS
// neighbouring threads read one line.
template <int LOADS>
__device__ void fetch(float4 (&held)[LOADS], const float *matrix, int line0, int lines, int k0,
                      int in, int wide) {
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int at = threadIdx.x + i * BLOCK;
        held[i] = load(matrix, line0 + at / QUADS, lines, k0 + at % QUADS * 4, in, wide);
    }
}

template <int LOADS, int PITCH>
__device__ void put(float (&slab)[DEPTH][PITCH], const float4 (&held)[LOADS]) {
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int at = threadIdx.x + i * BLOCK;
        const int line = at / QUADS, k = at % QUADS * 4;
        slab[k][line] = held[i].x;
        slab[k + 1][line] = held[i].y;
        slab[k + 2][line] = held[i].z;
        slab[k + 3][line] = held[i].w;
    }
}

// Adds four numbers of a slab's row to d, from line on.
__device__ void take(float *d, const float *from) {
    const float4 v = *(const float4 *)from;
    d[0] = v.x, d[1] = v.y, d[2] = v.z, d[3] = v.w;
}

template <int PARTS>
__device__ void multiply(const float *x, const float *w, const float *bias, float *out, int rows,
                         int in, int width, int hasBias, int then, int wide, int wideOut) {
    constexpr int TILE = 64 * PARTS; // 16 x 16 threads, 4 results a side, PARTS times
    constexpr int LOADS = TILE * QUADS / BLOCK;
    constexpr int PER = 4 * PARTS;
    // Four columns more than TILE: float4s stay aligned, and lines that are stored
    // together are spread over the banks.
    __shared__ __align__(16) float xSlab[2][DEPTH][TILE + 4];
    __shared__ __align__(16) float wSlab[2][DEPTH][TILE + 4];

    // A warp is 4 x 8 threads, and the block is 4 x 2 warps. So a warp reads 4 different
    // float4s of x and 8 of w, each in one pass over the banks.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int threadRow = warp / 2 * 4 + lane / 8;
    const int threadColumn = warp % 2 * 8 + lane % 8;
    const int columns = (width + TILE - 1) / TILE;
    const int row0 = blockIdx.x / columns * TILE;
    const int column0 = blockIdx.x % columns * TILE;

    float sum[PER][PER] = {};
    float4 xHeld[LOADS], wHeld[LOADS];
    fetch(xHeld, x, row0, rows, 0, in, wide);
    fetch(wHeld, w, column0, width, 0, in, wide);
    put(xSlab[0], xHeld);
    put(wSlab[0], wHeld);
    __syncthreads(); // the first slabs are complete before anyone reads them

    int now = 0; // which of the two slabs is read
    for (int k0 = 0; k0 < in; k0 += DEPTH) {
        const bool more = k0 + DEPTH < in;
        // 1. Ask for the next slabs.
        if (more) {
            fetch(xHeld, x, row0, rows, k0 + DEPTH, in, wide);
            fetch(wHeld, w, column0, width, k0 + DEPTH, in, wide);
        }
        // 2. Add DEPTH terms to each sum.
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float fromX[PER], fromW[PER];
#pragma unroll
            for (int p = 0; p < PARTS; p++) {
                take(fromX + 4 * p, &xSlab[now][k][p * 64 + threadRow * 4]);
                take(fromW + 4 * p, &wSlab[now][k][p * 64 + threadColumn * 4]);
            }
#pragma unroll
            for (int i = 0; i < PER; i++)
#pragma unroll
                for (int j = 0; j < PER; j++) sum[i][j] += fromX[i] * fromW[j];
        }
        // 3. Store them in the other slabs. All threads finished with those before
        //    the last barrier.
        if (more) {
            now = 1 - now;
            put(xSlab[now], xHeld);
            put(wSlab[now], wHeld);
            __syncthreads(); // complete, before anyone reads them
        }
    }

    // 4. Write what is within out, four columns at a time where alignment allows.
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        const int column = column0 + p * 64 + threadColumn * 4;
        float add[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            add[j] = hasBias && column + j < width ? bias[column + j] : 0.0f;
#pragma unroll
        for (int i = 0; i < PER; i++) {
            const int row = row0 + i / 4 * 64 + threadRow * 4 + i % 4;
            if (row >= rows || column >= width) continue;
            float *to = out + (size_t)row * width + column;
            float *d = sum[i] + 4 * p;
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (column + j < width) d[j] = finish(d[j] + add[j], to + j, then);
            if (wideOut) {
                *(float4 *)to = make_float4(d[0], d[1], d[2], d[3]);
                continue;
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
                if (column + j < width) to[j] = d[j];
        }
    }
}

// Tiles of 128 x 128, for layers with enough tiles to fill the device.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    gemm_128(const float *x, const float *w, const float *bias, float *out, int rows, int in,
             int width, int hasBias, int then, int wide, int wideOut) {
    multiply<2>(x, w, bias, out, rows, in, width, hasBias, then, wide, wideOut);
}

// Tiles of 64 x 64.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    gemm_64(const float *x, const float *w, const float *bias, float *out, int rows, int in,
            int width, int hasBias, int then, int wide, int wideOut) {
    multiply<1>(x, w, bias, out, rows, in, width, hasBias, then, wide, wideOut);
}
