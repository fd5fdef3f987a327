// The tensor cores' instructions on fragments as they are, register by register: the suite lays
// the matrices out, and so proves where each number goes. A block is one warp.
#include "tensorcore.h"

// multiply: d [blocks, 32, 4] += a [blocks, 32, 4] · b [blocks, 32, 2], of kind 0 (half), 1
// (bfloat16) or 2 (tf32).
extern "C" __global__ void multiply(const unsigned *a, const unsigned *b, float *d, int kind) {
    int lane = blockIdx.x * 32 + threadIdx.x;
    unsigned fa[4], fb[2];
    float fd[4];
    for (int i = 0; i < 4; i++) fa[i] = a[4 * lane + i], fd[i] = d[4 * lane + i];
    for (int i = 0; i < 2; i++) fb[i] = b[2 * lane + i];
    if (kind == 0)
        mma_f16(fd, fa, fb);
    else if (kind == 1)
        mma_bf16(fd, fa, fb[0], fb[1]);
    else
        mma_tf32(fd, fa, fb);
    for (int i = 0; i < 4; i++) d[4 * lane + i] = fd[i];
}

// load: r [32, 4], the fragments of matrices x [4, 8, 8] of halves. Each row is given by its lane.
extern "C" __global__ void load(const uint4 *x, unsigned *r, bool transposed) {
    __shared__ __align__(128) uint4 rows[32];
    int lane = threadIdx.x;
    rows[31 - lane] = x[lane];
    __syncthreads();
    unsigned fr[4];
    if (transposed)
        load_matrix_transposed(fr, &rows[31 - lane]);
    else
        load_matrix(fr, &rows[31 - lane]);
    for (int i = 0; i < 4; i++) r[4 * lane + i] = fr[i];
}

extern "C" __global__ void roundToTF32(const float *x, unsigned *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = to_tf32(x[i]);
}
