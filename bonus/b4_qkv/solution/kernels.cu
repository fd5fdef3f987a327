// [q | k | v] = x * [Wq | Wk | Wv] + bias in halves, sums in float32: one product, whose epilogue
// adds the bias, splits and transposes (project). And that epilogue alone, as a kernel (split).
//
//   x [rows, hidden]     w [hidden, outputs]     bias [outputs], if biased
//   q [batch, heads, seq, dim], k and v [batch, kvHeads, seq, dim]; or, with tokensFirst,
//   q [batch, seq, heads, dim] and so on
//
// A block has a tile of the output. Slices of x and w arrive by cp.async in three stages, ldmatrix
// reads them as fragments, and mma.sync multiplies those. Sums never leave the registers before
// they are outputs: the projection is not written as a matrix.
//
// The host defines BRAIN for bfloat16. hidden and dim are multiples of 8: 16 bytes.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
typedef __nv_bfloat162 Half2;
#define TYPE "bf16"
#else
typedef __half Half;
typedef __half2 Half2;
#define TYPE "f16"
#endif

constexpr int SLICE = 64, STAGES = 3; // numbers of hidden in a stage; stages
constexpr unsigned EVERYONE = 0xffffffff;

// ---- Outputs

// Two numbers rounded, in one register, and read from one.
__device__ uint32_t pack(float low, float high) {
#ifdef BRAIN
    Half2 two = __floats2bfloat162_rn(low, high);
#else
    Half2 two = __floats2half2_rn(low, high);
#endif
    return *reinterpret_cast<uint32_t *>(&two);
}
__device__ float2 unpack(uint32_t word) {
    const Half2 two = *reinterpret_cast<Half2 *>(&word);
#ifdef BRAIN
    return __bfloat1622float2(two);
#else
    return __half22float2(two);
#endif
}

// Where outputs go: columns are those of all heads of q, then of k, then of v.
struct Places {
    Half *q, *k, *v;
    int seq, heads, kvHeads, dim, tokensFirst;

    // Of eight columns, which lie in one head. Stores of 16 bytes.
    __device__ void put(int row, int column, uint4 eight) const {
        int head = column / dim, all = heads;
        Half *to = q;
        if (head >= heads) {
            head -= heads, all = kvHeads, to = k;
            if (head >= kvHeads) head -= kvHeads, to = v;
        }
        const int batch = row / seq, token = row % seq;
        const size_t line =
            tokensFirst ? (size_t)row * all + head : ((size_t)batch * all + head) * seq + token;
        *reinterpret_cast<uint4 *>(to + line * dim + column % dim) = eight;
    }
};

// A projection [rows, outputs] is split. A thread has eight columns of EACH rows, and reads their
// bias once.
constexpr int EACH = 8;

extern "C" __global__ void split(const Half *projection, const Half *bias, Half *q, Half *k,
                                 Half *v, int rows, int outputs, int seq, int heads, int kvHeads,
                                 int dim, int tokensFirst, int biased) {
    const int column = (blockIdx.x * blockDim.x + threadIdx.x) * 8, first = blockIdx.y * EACH;
    if (column >= outputs) return;
    const Places places = {q, k, v, seq, heads, kvHeads, dim, tokensFirst};
    uint4 more = make_uint4(0, 0, 0, 0); // the bias; zeros in both types
    if (biased) more = *reinterpret_cast<const uint4 *>(bias + column);
    const auto add = [](uint32_t x, uint32_t y) {
        const float2 a = unpack(x), b = unpack(y);
        return pack(a.x + b.x, a.y + b.y);
    };
    for (int row = first; row < min(first + EACH, rows); row++) {
        const uint4 p =
            *reinterpret_cast<const uint4 *>(projection + (size_t)row * outputs + column);
        places.put(
            row, column,
            make_uint4(add(p.x, more.x), add(p.y, more.y), add(p.z, more.z), add(p.w, more.w)));
    }
}

// ---- Shared memory

__device__ uint32_t at(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

// Rows of a tile lie one behind the other, in pieces of 16 bytes. Row r's pieces change places, by
// r's last three bits: eight rows of one column of pieces, as ldmatrix reads them, are then in
// different banks.
template <int PIECES> __device__ uint32_t place(uint32_t tile, int row, int piece) {
    return tile + (row * PIECES + (piece ^ row % 8)) * 16;
}

// Asks for LINES rows of a matrix [high, wide], from a row and a column on; zeros for what is not
// there. A thread takes one piece of every STRIDE-th row; as STRIDE is a multiple of 8, it is at
// the same place in each.
template <int LINES, int PIECES, int THREADS>
__device__ void fetch(uint32_t tile, const Half *matrix, int row, int column, int high, int wide) {
    constexpr int STRIDE = THREADS / PIECES;
    static_assert(STRIDE % 8 == 0 && LINES % STRIDE == 0, "rows are shared out evenly");
    row += threadIdx.x / PIECES, column += threadIdx.x % PIECES * 8;
    const uint32_t to = place<PIECES>(tile, threadIdx.x / PIECES, threadIdx.x % PIECES);
    const Half *from = matrix + (size_t)row * wide + column;
#pragma unroll
    for (int i = 0; i < LINES; i += STRIDE) {
        const bool there = row + i < high && column < wide;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + i * PIECES * 16),
                     "l"(there ? from : matrix), "r"(there ? 16 : 0)
                     : "memory");
        from += (size_t)STRIDE * wide;
    }
}

// ---- Products

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

// d [16 x 8] += a [16 x 16] * b [16 x 8].
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Lane t of four has pairs 4i + t of 32 columns, for i < 4; afterwards its p are pairs 4t to
// 4t + 3, which lie together: eight columns, 16 bytes.
__device__ void transpose(uint32_t (&p)[4], int lane) {
#pragma unroll
    for (int by = 1; by <= 2; by *= 2) {
        const bool high = lane & by;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (i & by) continue;
            const uint32_t theirs = __shfl_xor_sync(EVERYONE, high ? p[i] : p[i + by], by);
            (high ? p[i] : p[i + by]) = theirs;
        }
    }
}

// A block's warps are DOWN x ACROSS, and each has 16 * TALL rows and 32 columns.
template <int TALL, int DOWN, int ACROSS>
__device__ void project(const Half *x, const Half *w, const Half *bias, const Places &places,
                        int rows, int hidden, int outputs, int biased) {
    constexpr int ROWS = 16 * TALL * DOWN, COLUMNS = 32 * ACROSS, THREADS = 32 * DOWN * ACROSS;
    constexpr int XS = ROWS * SLICE * 2, WS = SLICE * COLUMNS * 2; // bytes of a stage
    extern __shared__ __align__(1024) unsigned char memory[];
    const uint32_t stages = at(memory);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int firstRow = blockIdx.x * ROWS, firstColumn = blockIdx.y * COLUMNS;
    const int down = warp / ACROSS * 16 * TALL, across = warp % ACROSS * 32;
    const int slices = (hidden + SLICE - 1) / SLICE;

    const auto ask = [&](int slice) {
        const uint32_t to = stages + slice % STAGES * (XS + WS);
        if (slice < slices) {
            fetch<ROWS, SLICE / 8, THREADS>(to, x, firstRow, slice * SLICE, rows, hidden);
            fetch<SLICE, COLUMNS / 8, THREADS>(to + XS, w, slice * SLICE, firstColumn, hidden,
                                               outputs);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    // Where this lane's row of the first fragments is, in the first stage. Pieces of later columns
    // are found by flipping bits, those of later rows by adding.
    const uint32_t xRow = place<SLICE / 8>(stages, down + lane % 16, lane / 16);
    const uint32_t wRow = place<COLUMNS / 8>(stages + XS, lane % 16, across / 8 + lane / 16);

    float sums[TALL][4][4] = {};
    for (int i = 0; i < STAGES - 1; i++) ask(i);
    for (int slice = 0; slice < slices; slice++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); // the slice has arrived, and every warp is done with the one before
        ask(slice + STAGES - 1);
        const uint32_t stage = slice % STAGES * (XS + WS);
#pragma unroll
        for (int i = 0; i < SLICE / 16; i++) {
            uint32_t a[TALL][4], b[2][4];
#pragma unroll
            for (int t = 0; t < TALL; t++)
                read(a[t], ((xRow + stage) ^ i * 32) + t * 16 * SLICE * 2);
#pragma unroll
            for (int j = 0; j < 2; j++)
                readTransposed(b[j], ((wRow + stage) ^ j * 32) + i * 16 * COLUMNS * 2);
#pragma unroll
            for (int t = 0; t < TALL; t++) {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply(sums[t][j], a[t], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
            }
        }
    }

    // The epilogue. Of a fragment of sums a lane holds [lane / 4 + 8 * h][lane % 4 * 2 + c] as
    // number 2 * h + c.
    float2 b[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int column = firstColumn + across + j * 8 + lane % 4 * 2;
        b[j] = make_float2(0, 0);
        if (biased && column < outputs)
            b[j] = unpack(*reinterpret_cast<const uint32_t *>(bias + column));
    }
    const int column = firstColumn + across + lane % 4 * 8;
#pragma unroll
    for (int t = 0; t < TALL; t++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            uint32_t p[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                p[j] = pack(sums[t][j][2 * h] + b[j].x, sums[t][j][2 * h + 1] + b[j].y);
            transpose(p, lane);
            const int row = firstRow + down + t * 16 + lane / 4 + h * 8;
            if (row < rows && column < outputs)
                places.put(row, column, make_uint4(p[0], p[1], p[2], p[3]));
        }
    }
}

#define PROJECT(NAME, TALL, DOWN, ACROSS)                                                          \
    extern "C" __global__ __launch_bounds__(32 * DOWN * ACROSS) void NAME(                         \
        const Half *x, const Half *w, const Half *bias, Half *q, Half *k, Half *v, int rows,       \
        int hidden, int outputs, int seq, int heads, int kvHeads, int dim, int tokensFirst,        \
        int biased) {                                                                              \
        project<TALL, DOWN, ACROSS>(x, w, bias, {q, k, v, seq, heads, kvHeads, dim, tokensFirst},  \
                                    rows, hidden, outputs, biased);                                \
    }
PROJECT(project64, 2, 2, 2)
PROJECT(project128, 4, 2, 4)
