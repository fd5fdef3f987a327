// How the rungs stage numbers of float32: a slab of DEPTH terms, of TILE lines each.

#define PER (TILE / SIDE) // results of a thread, down and across
#define THREADS (SIDE * SIDE)

// Stages DEPTH terms of TILE lines (rows of a, or columns of b) from (line0, k0)
// on. Beyond the matrix come zeros, which add nothing to a sum.
template <int PITCH>
__device__ void stage(float (*slab)[PITCH], const float *matrix, int line0, int lines, int k0,
                      int depth, size_t lineStride, size_t kStride) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        // Neighbouring threads read neighbouring addresses, whichever way the matrix is stored.
        const int line = kStride == 1 ? i / DEPTH : i % TILE;
        const int k = kStride == 1 ? i % DEPTH : i / TILE;
        const bool inside = line0 + line < lines && k0 + k < depth;
        slab[k][line] = inside ? matrix[(line0 + line) * lineStride + (k0 + k) * kStride] : 0.0f;
    }
}

// Adds a term to each of a thread's sums.
__device__ void add(float (&sum)[PER][PER], const float (&fromA)[PER], const float (&fromB)[PER]) {
#pragma unroll
    for (int i = 0; i < PER; i++) {
#pragma unroll
        for (int j = 0; j < PER; j++) sum[i][j] += fromA[i] * fromB[j];
    }
}

// Writes those that lie within c; rowOf and columnOf tell where sum[i][j] belongs.
template <class Row, class Column>
__device__ void write(float *c, int M, int N, const float (&sum)[PER][PER], Row rowOf,
                      Column columnOf) {
#pragma unroll
    for (int i = 0; i < PER; i++) {
#pragma unroll
        for (int j = 0; j < PER; j++) {
            const int row = rowOf(i), column = columnOf(j);
            if (row < M && column < N) c[(size_t)row * N + column] = sum[i][j];
        }
    }
}
