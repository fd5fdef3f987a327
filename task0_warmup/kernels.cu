// Eight puzzles, and a first kernel in four steps: README.md says what each kernel has to do. Go
// launches them by their names, and puzzles.go says with how many blocks and threads: change
// neither the names nor the parameters.

#define BLOCK 256 // threads of a block in puzzles 4, 5 and 8
#define SIDE 32   // of a tile in puzzles 6 and 7

// 1. Map: y[i] = x[i] + 10. There is one block, with a thread for each number.
extern "C" __global__ void add_ten(const float *x, float *y) {
    // Yours to write: 1 or 2 lines.
}

// 2. Guard: the same, in several blocks. The last block has more threads than there are numbers.
extern "C" __global__ void add_ten_guarded(const float *x, float *y, int n) {
    // Yours to write: 2 lines.
}

// 3. Two dimensions: y[row][col] = x[row][col] + bias[col]. x and y are [rows, cols].
extern "C" __global__ void add_bias(const float *x, const float *bias, float *y, int rows,
                                    int cols) {
    // Yours to write: 3 or 4 lines.
}

// 4. Shift: each block's numbers move one place to the left, and its first one goes to its end.
//    Read x once only, and pass the numbers on through shared memory.
extern "C" __global__ void shift_left(const float *x, float *y) {
    // Yours to write: 5 lines.
}

// 5. Reduction: y[block] is the sum of the block's 256 numbers.
extern "C" __global__ void sum_block(const float *x, float *y) {
    // Yours to write: 8 lines.
}

// 6. Transposition: y[col][row] = x[row][col], for any rows and cols. x is [rows, cols], y is
//    [cols, rows]. Neighbouring threads read neighbouring numbers, and write neighbouring numbers.
extern "C" __global__ void transpose(const float *x, float *y, int rows, int cols) {
    // Yours to write: 8 lines.
}

// 7. Pad: y[row] is the sum of row x[row]. x is [rows, 32], and a block's 32 threads take 32 rows.
//    This is right, but its threads queue up at one bank of shared memory. One line changes that.
extern "C" __global__ void sum_rows(const float *x, float *y) {
    __shared__ float tile[SIDE][SIDE];
    int t = threadIdx.x, row = blockIdx.x * SIDE;
    for (int r = 0; r < SIDE; r++) tile[r][t] = x[(row + r) * SIDE + t];
    __syncthreads(); // the tile is complete
    float sum = 0;
    for (int c = 0; c < SIDE; c++) sum += tile[t][c];
    y[row + t] = sum;
}

// 8. Find the race: y[i] is the largest of five numbers, x[i] and the four behind it. Behind a
//    block's last number comes its first. A line is missing.
extern "C" __global__ void largest_of_five(const float *x, float *y) {
    __shared__ float held[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    held[t] = x[i];
    for (int round = 0; round < 4; round++) {
        __syncthreads(); // the neighbour's number is there
        float next = held[(t + 1) % BLOCK];
        held[t] = fmaxf(held[t], next);
    }
    y[i] = held[t];
}

// 9 to 12 are one kernel, step by step: each row of x [rows, n] loses its mean. n is any from 1 to
// 1024; block b's 256 threads take row b. Begin each step with a copy of the one before.

// 9. Walk: y[row][i] = x[row][i]. Thread t takes numbers t, t + 256, t + 512 … of its row.
extern "C" __global__ void walk_rows(const float *x, float *y, int n) {
    // Yours to write: 3 or 4 lines.
}

// 10. Parts: y[row][t] is the sum of the numbers that thread t came by, 0 if there were none. y is
//     [rows, 256].
extern "C" __global__ void part_sums(const float *x, float *y, int n) {
    // Yours to write: 4 or 5 lines.
}

// 11. Total: y[row] is the sum of the row, made of its 256 parts as in puzzle 5. y is [rows].
extern "C" __global__ void row_totals(const float *x, float *y, int n) {
    // Yours to write: 10 lines.
}

// 12. Centre: y[row][i] = x[row][i] - mean, where the mean is the row's sum over n.
extern "C" __global__ void centre_rows(const float *x, float *y, int n) {
    // Yours to write: 12 lines.
}
