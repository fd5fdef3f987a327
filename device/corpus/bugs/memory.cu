// Bad addresses, each followed by its twin that is right. Buffers hold what
// bug_table.go says.

// No guard in the last block.
extern "C" __global__ void no_guard(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[0] * n; // want: out of bounds
}
extern "C" __global__ void no_guard_ok(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[0] * n;
}

// One too many.
extern "C" __global__ void up_to_n(const float *x, float *y, int n) {
    for (int i = threadIdx.x; i <= n; i += blockDim.x) y[i] = x[0]; // want: out of bounds
}
extern "C" __global__ void up_to_n_ok(const float *x, float *y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[0];
}

// One before the first.
extern "C" __global__ void before_the_start(const float *x, float *y) {
    int t = threadIdx.x;
    y[t] = x[t] - x[t - 1]; // want: out of bounds
}
extern "C" __global__ void before_the_start_ok(const float *x, float *y) {
    int t = threadIdx.x;
    y[t] = t > 0 ? x[t] - x[t - 1] : x[t];
}

// The same with unsigned numbers: 0 - 1 is four thousand million.
extern "C" __global__ void unsigned_wraps(const float *x, float *y) {
    unsigned int left = threadIdx.x - 1;
    y[threadIdx.x] = x[left]; // want: out of bounds
}
extern "C" __global__ void unsigned_wraps_ok(const float *x, float *y) {
    unsigned int left = threadIdx.x > 0 ? threadIdx.x - 1 : 0;
    y[threadIdx.x] = x[left];
}

// Rows of the wrong length: x is [rows, cols], a thread a row.
extern "C" __global__ void wrong_stride(const float *x, float *y, int rows, int cols) {
    int row = threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += x[row * rows + c]; // want: out of bounds
    y[row] = sum;
}
extern "C" __global__ void wrong_stride_ok(const float *x, float *y, int rows, int cols) {
    int row = threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += x[row * cols + c];
    y[row] = sum;
}

// A pitch in bytes, taken for one in elements.
extern "C" __global__ void pitch_in_bytes(const float *x, float *y, int pitch, int rows) {
    int row = threadIdx.x;
    if (row < rows) y[row] = x[row * pitch]; // want: out of bounds
}
extern "C" __global__ void pitch_in_bytes_ok(const float *x, float *y, int pitch, int rows) {
    int row = threadIdx.x;
    if (row < rows) y[row] = x[row * pitch / sizeof(float)];
}

// A transpose that keeps the old row length; rows and cols differ.
extern "C" __global__ void indices_swapped(const float *x, float *y, int rows, int cols) {
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x) {
        int row = i / cols, col = i % cols;
        y[col * cols + row] = x[i]; // want: out of bounds
    }
}
extern "C" __global__ void indices_swapped_ok(const float *x, float *y, int rows, int cols) {
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x) {
        int row = i / cols, col = i % cols;
        y[col * rows + row] = x[i];
    }
}

// The last tile is not full: n is no multiple of 16.
extern "C" __global__ void last_tile_unguarded(const float *x, float *y, int n) {
    __shared__ float tile[16];
    int t = threadIdx.x;
    float sum = 0;
    for (int from = 0; from < n; from += 16) {
        if (t < 16) tile[t] = x[from + t]; // want: out of bounds
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += tile[k];
        __syncthreads();
    }
    y[t] = sum;
}
extern "C" __global__ void last_tile_unguarded_ok(const float *x, float *y, int n) {
    __shared__ float tile[16];
    int t = threadIdx.x;
    float sum = 0;
    for (int from = 0; from < n; from += 16) {
        if (t < 16) tile[t] = from + t < n ? x[from + t] : 0.f;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += tile[k];
        __syncthreads();
    }
    y[t] = sum;
}

// Four at a time, and the last four are but two.
extern "C" __global__ void four_at_a_time(const float4 *x, float4 *y, int n) {
    for (int i = threadIdx.x; i * 4 < n; i += blockDim.x) y[i] = x[i]; // want: out of bounds
}
extern "C" __global__ void four_at_a_time_ok(const float4 *x, float4 *y, int n) {
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) y[i] = x[i];
    int i = n / 4 * 4 + threadIdx.x;
    if (i < n) ((float *)y)[i] = ((const float *)x)[i];
}

// 32 bits are too few for this product.
extern "C" __global__ void index_overflows(const float *x, float *y, int n) {
    int row = threadIdx.x + n; // 50000 and more
    int at = row * n;
    float *corner = y + (at - (long long)n * n);
    *corner = x[threadIdx.x]; // want: out of bounds
}
extern "C" __global__ void index_overflows_ok(const float *x, float *y, int n) {
    int row = threadIdx.x + n;
    long long at = (long long)row * n;
    float *corner = y + (at - (long long)n * n) / n;
    *corner = x[threadIdx.x];
}

// A bin that nobody checked.
extern "C" __global__ void wild_bin(const int *x, int *bins) {
    atomicAdd(&bins[x[threadIdx.x] - 1], 1); // want: out of bounds
}
extern "C" __global__ void wild_bin_ok(const int *x, int *bins) {
    int bin = x[threadIdx.x] - 1;
    if (bin >= 0 && bin < 64) atomicAdd(&bins[bin], 1);
}

// Beyond a static array of the block.
extern "C" __global__ void past_shared(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t + 1] = x[t]; // want: index out of bounds
    __syncthreads();
    y[t] = s[63 - t];
}
extern "C" __global__ void past_shared_ok(const float *x, float *y) {
    __shared__ float s[65];
    int t = threadIdx.x;
    s[t + 1] = x[t];
    __syncthreads();
    y[t] = s[64 - t];
}

// The same by a pointer, which knows of no length.
extern "C" __global__ void past_shared_by_pointer(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    for (float *p = s + t; p <= s + 64; p += 64) *p = x[t]; // want: out of bounds
    __syncthreads();
    y[t] = s[63 - t];
}
extern "C" __global__ void past_shared_by_pointer_ok(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    for (float *p = s + t; p < s + 64; p += 64) *p = x[t];
    __syncthreads();
    y[t] = s[63 - t];
}

// Launched with too little dynamic memory: 64 floats; the twin gets 128.
extern "C" __global__ void dynamic_too_small(const float *x, float *y) {
    extern __shared__ float pool[];
    float *second = pool + blockDim.x;
    int t = threadIdx.x;
    pool[t] = x[t];
    second[t] = 2 * x[t]; // want: out of bounds
    __syncthreads();
    y[t] = pool[63 - t] + second[63 - t];
}
extern "C" __global__ void dynamic_too_small_ok(const float *x, float *y) {
    extern __shared__ float pool[];
    float *second = pool + blockDim.x;
    int t = threadIdx.x;
    pool[t] = x[t];
    second[t] = 2 * x[t];
    __syncthreads();
    y[t] = pool[63 - t] + second[63 - t];
}

// Past the end of a row, which is the next row's start.
extern "C" __global__ void past_the_row(const float *x, float *y, int n) {
    __shared__ float tile[8][8];
    int t = threadIdx.x;
    tile[t / 8][t % 8] = x[t];
    __syncthreads();
    y[t] = t / 8 < 7 ? tile[t / 8][t % 8 + n] : 0.f; // want: index out of bounds
}
extern "C" __global__ void past_the_row_ok(const float *x, float *y, int n) {
    __shared__ float tile[8][8];
    int t = threadIdx.x;
    tile[t / 8][t % 8] = x[t];
    __syncthreads();
    y[t] = t / 8 < 7 ? tile[t / 8 + n][t % 8] : 0.f;
}

// A thread's own array; n is 4.
extern "C" __global__ void past_local(const float *x, float *y, int n) {
    float best[4] = {x[0], x[1], x[2], x[3]};
    for (int i = 0; i <= n; i++) best[i] += x[threadIdx.x]; // want: index out of bounds
    y[threadIdx.x] = best[threadIdx.x % 4];
}
extern "C" __global__ void past_local_ok(const float *x, float *y, int n) {
    float best[4] = {x[0], x[1], x[2], x[3]};
    for (int i = 0; i < n; i++) best[i] += x[threadIdx.x];
    y[threadIdx.x] = best[threadIdx.x % 4];
}

// No address at all; address is 0.
extern "C" __global__ void null_pointer(float *y, unsigned long long address) {
    float *p = (float *)address;
    if (y[0] < 0) p = y;
    p[threadIdx.x] = 1; // want: out of bounds
}
extern "C" __global__ void null_pointer_ok(float *y, unsigned long long address) {
    float *p = (float *)address;
    if (!p) p = y;
    p[threadIdx.x] = 1;
}

// An address that was given back before the launch.
extern "C" __global__ void after_free(float *y, unsigned long long address) {
    const float *x = (const float *)address;
    y[threadIdx.x] = x[threadIdx.x]; // want: use after free
}
extern "C" __global__ void after_free_ok(float *y, unsigned long long address) {
    const float *x = address ? y : nullptr;
    y[threadIdx.x] = x ? x[threadIdx.x] : 0.f;
}

// 16 bytes at an address that is a multiple of 4.
extern "C" __global__ void crooked_float4(const float *x, float *y) {
    float4 v = *(const float4 *)(x + 4 * threadIdx.x + 1); // want: misaligned
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
extern "C" __global__ void crooked_float4_ok(const float *x, float *y) {
    float4 v = *(const float4 *)(x + 4 * threadIdx.x);
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// 8 bytes in rows of 33: every second row is crooked.
extern "C" __global__ void crooked_float2(const float *x, float *y) {
    __shared__ float tile[2][33];
    int row = threadIdx.x / 32, col = threadIdx.x % 32;
    tile[row][col] = x[threadIdx.x];
    __syncthreads();
    float2 v = *(const float2 *)&tile[row][col / 2 * 2]; // want: misaligned
    y[threadIdx.x] = v.x + v.y;
}
extern "C" __global__ void crooked_float2_ok(const float *x, float *y) {
    __shared__ __align__(8) float tile[2][34];
    int row = threadIdx.x / 32, col = threadIdx.x % 32;
    tile[row][col] = x[threadIdx.x];
    __syncthreads();
    float2 v = *(const float2 *)&tile[row][col / 2 * 2];
    y[threadIdx.x] = v.x + v.y;
}

__constant__ float weights[64] = {1, 2, 3, 4};

// A table that kernels may only read.
extern "C" __global__ void writes_constant(const float *x, float *y) {
    float *table = const_cast<float *>(weights);
    if (x[0] > 1000) table = y;
    table[threadIdx.x] = x[threadIdx.x]; // want: write to constant memory
    y[threadIdx.x] = weights[0];
}
extern "C" __global__ void writes_constant_ok(const float *x, float *y) {
    const float *table = weights;
    y[threadIdx.x] = x[threadIdx.x] * table[0];
}

__device__ float scratch[64];

// Beyond a variable of the module; n is 64.
extern "C" __global__ void past_a_variable(const float *x, float *y, int n) {
    scratch[threadIdx.x + n] = x[threadIdx.x]; // want: index out of bounds
    y[threadIdx.x] = 1;
}
extern "C" __global__ void past_a_variable_ok(const float *x, float *y, int n) {
    scratch[threadIdx.x % n] = x[threadIdx.x];
    y[threadIdx.x] = 1;
}
