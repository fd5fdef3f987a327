// The warm-up's eight puzzles and its first kernel in four steps, solved.

#define BLOCK 256 // threads of a block in puzzles 4, 5 and 8
#define SIDE 32   // of a tile in puzzles 6 and 7

// 1. Map: y[i] = x[i] + 10. There is one block, with a thread for each number.
extern "C" __global__ void add_ten(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x] + 10;
}

// 2. Guard: the same, in several blocks. The last block has more threads than there are numbers.
extern "C" __global__ void add_ten_guarded(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 10;
}

// 3. Two dimensions: y[row][col] = x[row][col] + bias[col]. x and y are [rows, cols].
extern "C" __global__ void add_bias(const float *x, const float *bias, float *y, int rows,
                                    int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) y[row * cols + col] = x[row * cols + col] + bias[col];
}

// 4. Shift: each block's numbers move one place to the left, and its first one goes to its end.
extern "C" __global__ void shift_left(const float *x, float *y) {
    __shared__ float held[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    held[t] = x[i];
    __syncthreads(); // the neighbour's number is there
    y[i] = held[(t + 1) % BLOCK];
}

// 5. Reduction: y[block] is the sum of the block's 256 numbers.
extern "C" __global__ void sum_block(const float *x, float *y) {
    __shared__ float part[BLOCK];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * BLOCK + t];
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads(); // the sums of the round before are complete
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) y[blockIdx.x] = part[0]; // thread 0 wrote part[0] itself
}

// 6. Transposition: y[col][row] = x[row][col], for any rows and cols. x is [rows, cols], y is
//    [cols, rows]. The tile turns in shared memory, so that each warp reads and writes 32
//    neighbours.
extern "C" __global__ void transpose(const float *x, float *y, int rows, int cols) {
    __shared__ float tile[SIDE][SIDE + 1];
    int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE, tx = threadIdx.x, ty = threadIdx.y;
    if (row + ty < rows && col + tx < cols) tile[ty][tx] = x[(row + ty) * cols + col + tx];
    __syncthreads(); // the tile is complete
    if (col + ty < cols && row + tx < rows) y[(col + ty) * rows + row + tx] = tile[tx][ty];
}

// 7. Pad: y[row] is the sum of row x[row]. x is [rows, 32], and a block's 32 threads take 32 rows.
//    They read a column of the tile at a time.
extern "C" __global__ void sum_rows(const float *x, float *y) {
    __shared__ float tile[SIDE][SIDE + 1]; // so the 32 numbers of a column lie in 32 banks
    int t = threadIdx.x, row = blockIdx.x * SIDE;
    for (int r = 0; r < SIDE; r++) tile[r][t] = x[(row + r) * SIDE + t];
    __syncthreads(); // the tile is complete
    float sum = 0;
    for (int c = 0; c < SIDE; c++) sum += tile[t][c];
    y[row + t] = sum;
}

// 8. Find the race: y[i] is the largest of five numbers, x[i] and the four behind it. Behind a
//    block's last number comes its first.
extern "C" __global__ void largest_of_five(const float *x, float *y) {
    __shared__ float held[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    held[t] = x[i];
    for (int round = 0; round < 4; round++) {
        __syncthreads(); // the neighbour's number is there
        float next = held[(t + 1) % BLOCK];
        __syncthreads(); // the neighbour has read this thread's number
        held[t] = fmaxf(held[t], next);
    }
    y[i] = held[t];
}

// 9 to 12 are one kernel, step by step: each row of x [rows, n] loses its mean. n is any from 1 to
// 1024; block b's 256 threads take row b.

// 9. Walk: y[row][i] = x[row][i]. Thread t takes numbers t, t + 256, t + 512 … of its row.
extern "C" __global__ void walk_rows(const float *x, float *y, int n) {
    int first = blockIdx.x * n; // where this block's row begins
    for (int i = threadIdx.x; i < n; i += BLOCK) y[first + i] = x[first + i];
}

// 10. Parts: y[row][t] is the sum of the numbers that thread t came by, 0 if there were none. y is
//     [rows, 256].
extern "C" __global__ void part_sums(const float *x, float *y, int n) {
    int first = blockIdx.x * n;
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += BLOCK) sum += x[first + i];
    y[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

// 11. Total: y[row] is the sum of the row, made of its 256 parts as in puzzle 5. y is [rows].
extern "C" __global__ void row_totals(const float *x, float *y, int n) {
    __shared__ float part[BLOCK];
    int first = blockIdx.x * n, t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < n; i += BLOCK) sum += x[first + i];
    part[t] = sum;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads(); // the sums of the round before are complete
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) y[blockIdx.x] = part[0]; // thread 0 wrote part[0] itself
}

// 12. Centre: y[row][i] = x[row][i] - mean, where the mean is the row's sum over n.
extern "C" __global__ void centre_rows(const float *x, float *y, int n) {
    __shared__ float part[BLOCK];
    int first = blockIdx.x * n, t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < n; i += BLOCK) sum += x[first + i];
    part[t] = sum;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads(); // the sums of the round before are complete
        if (t < half) part[t] += part[t + half];
    }
    __syncthreads(); // the total is there, for all threads
    float mean = part[0] / n;
    for (int i = t; i < n; i += BLOCK) y[first + i] = x[first + i] - mean;
}
