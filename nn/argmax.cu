// The largest of each row of x [rows, width]: its column, the lowest where several
// are largest, and -1 for a row with a NaN. A block has one row.

#define WARP 32
#define BLOCK 1024      // threads; rows.go knows it
#define NONE 0x7fffffff // a column after all others

struct Best {
    float value;
    int column; // NONE before there is any
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

extern "C" __global__ void __launch_bounds__(BLOCK) argmax(int *out, const float *x, int width) {
    __shared__ float values[BLOCK / WARP];
    __shared__ int columns[BLOCK / WARP];
    const int thread = threadIdx.x;
    const float *row = x + (size_t)blockIdx.x * width;

    // 1. The best of each thread. A NaN counts as infinitely good, with a column
    //    that wins every tie: so it needs no bookkeeping of its own.
    Best best = {-INFINITY, NONE};
#pragma unroll 8
    for (int i = thread; i < width; i += blockDim.x) {
        const float value = row[i];
        best = better(best, value == value ? Best{value, i} : Best{INFINITY, -1});
    }

    // 2. Of each warp, then of all.
    best = bestOfWarp(best);
    if (thread % WARP == 0) {
        values[thread / WARP] = best.value;
        columns[thread / WARP] = best.column;
    }
    __syncthreads(); // each warp's best is in place before the first warp reads it
    if (thread >= WARP) return;
    best = Best{-INFINITY, NONE};
    if (thread < blockDim.x / WARP) best = Best{values[thread], columns[thread]};
    best = bestOfWarp(best);
    if (thread == 0) out[blockIdx.x] = best.column;
}
