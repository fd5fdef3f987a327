// Softmax of x [outer, len, inner] along the dimension len, written to y.
//
// Block b handles row b = o * inner + j; element i of row (o, j) lies at
// x[(o * len + i) * inner + j]. A row is read from device memory once and written
// once: between the two it is staged in shared memory.
//
// The host defines BLOCK, the most threads that a block may have. It launches a
// power of two of them (the trees below halve it), with len floats of dynamic
// shared memory.

extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax(const float *__restrict__ x, float *__restrict__ y, int len, int inner) {
    extern __shared__ float row[];   // the row: x, then exp(x - max)
    __shared__ float partial[BLOCK]; // one value a thread, for the trees

    const int thread = threadIdx.x;
    const int threads = blockDim.x;
    const int o = blockIdx.x / inner;
    const int j = blockIdx.x % inner;
    const size_t first = (size_t)o * len * inner + j; // element 0 of this row

    // 1. Stage the row. The threads stride over it, so that neighbours read
    //    neighbours; each keeps the largest value it has seen.
    float largest = -INFINITY;
    for (int i = thread; i < len; i += threads) {
        const float value = x[first + (size_t)i * inner];
        row[i] = value;
        largest = fmaxf(largest, value);
    }
    partial[thread] = largest;
    __syncthreads(); // every thread's maximum is in place before others read it

    // 2. The row's maximum, by a tree: each step folds the upper half of partial
    //    onto the lower half.
    for (int half = threads / 2; half > 0; half /= 2) {
        if (thread < half) {
            partial[thread] = fmaxf(partial[thread], partial[thread + half]);
        }
        __syncthreads(); // the next step reads what this one wrote
    }
    largest = partial[0];
    __syncthreads(); // all have read partial[0] before stage 3 overwrites it

    // 3. Exponentials. With the maximum subtracted no exponent is above 0, so
    //    nothing overflows, and the largest term is exactly 1, so that the sum is
    //    never 0. No barrier guards row: a thread reads back only what it wrote
    //    itself, in stage 1 and here.
    float sum = 0.0f;
    for (int i = thread; i < len; i += threads) {
        const float term = expf(row[i] - largest);
        row[i] = term;
        sum += term;
    }
    partial[thread] = sum;
    __syncthreads(); // every thread's sum is in place before others read it

    // 4. The row's sum, by the same tree.
    for (int half = threads / 2; half > 0; half /= 2) {
        if (thread < half) {
            partial[thread] += partial[thread + half];
        }
        __syncthreads(); // the next step reads what this one wrote
    }
    sum = partial[0]; // nothing writes partial from here on: no barrier needed

    // 5. Normalise, and write the row once.
    for (int i = thread; i < len; i += threads) {
        y[first + (size_t)i * inner] = row[i] / sum;
    }
}
