// The column of the largest number in each row of x [rows, width]: the lowest such column
// if there is a tie, and -1 if the row has a NaN. There are two steps, because one block
// would take long over a row of 50 000. argmax_parts runs gridDim.y blocks on a row, and each
// leaves its best in values and columns [rows, gridDim.y]. argmax picks from those.

// defines.go defines BLOCK, the threads of a block of argmax_parts.

#define WARP 32
#define NONE 0x7fffffff // a column after all others

struct Best {
    float value;
    int column; // NONE until one is found
};

// The better of two.
__device__ Best better(Best a, Best b) {
    const bool second = b.value > a.value || (b.value == a.value && b.column < a.column);
    return second ? b : a;
}

__device__ Best bestOfWarp(Best best) {
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2) {
        Best other;
        other.value = __shfl_xor_sync(0xffffffffu, best.value, lanes);
        other.column = __shfl_xor_sync(0xffffffffu, best.column, lanes);
        best = better(best, other);
    }
    return best;
}

// The best of all the block's threads. Only the first warp gets it.
__device__ Best bestOfBlock(Best best) {
    __shared__ float values[BLOCK / WARP];
    __shared__ int columns[BLOCK / WARP];
    const int thread = threadIdx.x;
    best = bestOfWarp(best);
    if (thread % WARP == 0) {
        values[thread / WARP] = best.value;
        columns[thread / WARP] = best.column;
    }
    __syncthreads(); // each warp's best is in place before the first warp reads it
    if (thread >= WARP) return best;
    best = Best{-INFINITY, NONE};
    if (thread < BLOCK / WARP) best = Best{values[thread], columns[thread]};
    return bestOfWarp(best);
}

// A NaN counts as infinitely good, with a column that wins every tie, so it needs
// no separate bookkeeping.
extern "C" __global__ void __launch_bounds__(BLOCK)
    argmax_parts(float *values, int *columns, const float *x, int width) {
    const float *row = x + (size_t)blockIdx.x * width;
    Best best = {-INFINITY, NONE};
#pragma unroll 8
    for (int i = blockIdx.y * BLOCK + threadIdx.x; i < width; i += gridDim.y * BLOCK) {
        const float value = row[i];
        best = better(best, value == value ? Best{value, i} : Best{INFINITY, -1});
    }
    best = bestOfBlock(best);
    if (threadIdx.x > 0) return;
    const size_t at = (size_t)blockIdx.x * gridDim.y + blockIdx.y;
    values[at] = best.value;
    columns[at] = best.column;
}

extern "C" __global__ void __launch_bounds__(WARP)
    argmax(int *out, const float *values, const int *columns, int parts) {
    Best best = {-INFINITY, NONE};
    const size_t at = (size_t)blockIdx.x * parts + threadIdx.x;
    if (threadIdx.x < parts) best = Best{values[at], columns[at]};
    best = bestOfWarp(best);
    if (threadIdx.x == 0) out[blockIdx.x] = best.column;
}
