// What the rungs on tensor cores share.
//
// A block has BR queries of one head, each warp 16 of them, and walks over the head's keys BC at a
// time. Scores, probabilities and output stay in the registers of one warp, as fragments: of a tile
// [16 x 8] a lane has four numbers, i = 0 to 3, in row lane / 4 + i / 2 * 8, column
// lane % 4 * 2 + i % 2. The host defines BR, BC, and DIM: room for a head, 64 or 128.

#include <cuda_fp16.h>
#include "tensorcore.h"

#define WARPS (BR / 16)
#define GROUPS (BC / 8) // of keys: as many fragments are side by side in a tile of scores
typedef float Scores[GROUPS][4];

#define EVERYONE 0xffffffffu
#define LANE (threadIdx.x % 32)
#define WARP (threadIdx.x / 32)
// Unrolled, by nvcc itself or by a pragma: then what i indexes can be in registers.
#define EACH(i, n) for (int i = 0; i < (n); i++)

// Where a row's chunk of eight halves is.
__device__ int at(int row, int chunk) {
    return row * (DIM + 8) + chunk * 8;
}

// Four numbers of a row, of which have exist: the others are zeros. wide says that rows start at
// multiples of 16 bytes.
__device__ float4 read(const float *from, int have, int wide) {
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (wide && have > 0) v = *(const float4 *)from;
    if (!wide && have > 0) v.x = from[0];
    if (!wide && have > 1) v.y = from[1];
    if (!wide && have > 2) v.z = from[2];
    if (!wide && have > 3) v.w = from[3];
    return v;
}

// d += a * b for two neighbouring fragments of 8 columns.
__device__ void multiply(float (*d)[4], const unsigned (&a)[4], const unsigned (&b)[4]) {
    mma_f16(d[0], a, b[0], b[1]);
    mma_f16(d[1], a, b[2], b[3]);
}

// Divides a warp's output, in the given unit, by each row's whole sum, of which four lanes have a
// part each, and writes it. A row that saw no key has zeros.
__device__ void write(float *out, const float (&y)[DIM / 8][4], const float (&sum)[2], float unit,
                      int query0, int seqQ, int dim, int wide) {
#pragma unroll
    EACH(h, 2) {
        float whole = sum[h];
        EACH(i, 2) whole += __shfl_xor_sync(EVERYONE, whole, 1 + i);
        const float inverse = whole > 0.0f ? unit / whole : 0.0f;
        const int query = query0 + h * 8 + LANE / 4;
        if (query >= seqQ) continue;
#pragma unroll
        EACH(n, DIM / 8) {
            const int x = n * 8 + LANE % 4 * 2;
            float *to = out + (size_t)query * dim + x;
            const float *a = &y[n][2 * h];
            if (wide && x < dim) *(float2 *)to = make_float2(a[0] * inverse, a[1] * inverse);
            if (!wide && x < dim) to[0] = a[0] * inverse;
            if (!wide && x + 1 < dim) to[1] = a[1] * inverse;
        }
    }
}
