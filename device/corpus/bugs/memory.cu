// Bad addresses. Without BUG each kernel is its twin, which is right. Buffers hold what
// bug_table.go says.

// No guard in the last block.
extern "C" __global__ void no_guard(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
    y[i] = x[0] * n; // want: out of bounds
#else
    if (i < n) y[i] = x[0] * n;
#endif
}

// One too many.
extern "C" __global__ void up_to_n(const float *x, float *y, int n) {
#ifdef BUG
    for (int i = threadIdx.x; i <= n; i += blockDim.x) y[i] = x[0]; // want: out of bounds
#else
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[0];
#endif
}

// One before the first.
extern "C" __global__ void before_the_start(const float *x, float *y) {
    int t = threadIdx.x;
#ifdef BUG
    y[t] = x[t] - x[t - 1]; // want: out of bounds
#else
    y[t] = t > 0 ? x[t] - x[t - 1] : x[t];
#endif
}

// The same with unsigned numbers: 0 - 1 is four thousand million.
extern "C" __global__ void unsigned_wraps(const float *x, float *y) {
#ifdef BUG
    unsigned int left = threadIdx.x - 1;
#else
    unsigned int left = threadIdx.x > 0 ? threadIdx.x - 1 : 0;
#endif
    y[threadIdx.x] = x[left]; // want: out of bounds
}

// Rows of the wrong length: x is [rows, cols], a thread a row.
extern "C" __global__ void wrong_stride(const float *x, float *y, int rows, int cols) {
    int row = threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
#ifdef BUG
    for (int c = 0; c < cols; c++) sum += x[row * rows + c]; // want: out of bounds
#else
    for (int c = 0; c < cols; c++) sum += x[row * cols + c];
#endif
    y[row] = sum;
}

// A pitch in bytes, taken for one in elements.
extern "C" __global__ void pitch_in_bytes(const float *x, float *y, int pitch, int rows) {
    int row = threadIdx.x;
#ifdef BUG
    if (row < rows) y[row] = x[row * pitch]; // want: out of bounds
#else
    if (row < rows) y[row] = x[row * pitch / sizeof(float)];
#endif
}

// A transpose that keeps the old row length; rows and cols differ.
extern "C" __global__ void indices_swapped(const float *x, float *y, int rows, int cols) {
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x) {
        int row = i / cols, col = i % cols;
#ifdef BUG
        y[col * cols + row] = x[i]; // want: out of bounds
#else
        y[col * rows + row] = x[i];
#endif
    }
}

// The last tile is not full: n is no multiple of 16.
extern "C" __global__ void last_tile_unguarded(const float *x, float *y, int n) {
    __shared__ float tile[16];
    int t = threadIdx.x;
    float sum = 0;
    for (int from = 0; from < n; from += 16) {
#ifdef BUG
        if (t < 16) tile[t] = x[from + t]; // want: out of bounds
#else
        if (t < 16) tile[t] = from + t < n ? x[from + t] : 0.f;
#endif
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += tile[k];
        __syncthreads();
    }
    y[t] = sum;
}

// Four at a time, and the last four are but two.
extern "C" __global__ void four_at_a_time(const float4 *x, float4 *y, int n) {
#ifdef BUG
    for (int i = threadIdx.x; i * 4 < n; i += blockDim.x) y[i] = x[i]; // want: out of bounds
#else
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) y[i] = x[i];
    int i = n / 4 * 4 + threadIdx.x;
    if (i < n) ((float *)y)[i] = ((const float *)x)[i];
#endif
}

// 32 bits are too few for this product.
extern "C" __global__ void index_overflows(const float *x, float *y, int n) {
    int row = threadIdx.x + n; // 50000 and more
#ifdef BUG
    int at = row * n;
    float *corner = y + (at - (long long)n * n);
#else
    long long at = (long long)row * n;
    float *corner = y + (at - (long long)n * n) / n;
#endif
    *corner = x[threadIdx.x]; // want: out of bounds
}

// A bin that nobody checked.
extern "C" __global__ void wild_bin(const int *x, int *bins) {
#ifdef BUG
    atomicAdd(&bins[x[threadIdx.x] - 1], 1); // want: out of bounds
#else
    int bin = x[threadIdx.x] - 1;
    if (bin >= 0 && bin < 64) atomicAdd(&bins[bin], 1);
#endif
}

// Beyond a static array of the block.
extern "C" __global__ void past_shared(const float *x, float *y) {
#ifdef BUG
    __shared__ float s[64];
#else
    __shared__ float s[65];
#endif
    int t = threadIdx.x;
    s[t + 1] = x[t]; // want: index out of bounds
    __syncthreads();
#ifdef BUG
    y[t] = s[63 - t];
#else
    y[t] = s[64 - t];
#endif
}

// The same by a pointer, which knows of no length.
extern "C" __global__ void past_shared_by_pointer(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
#ifdef BUG
    for (float *p = s + t; p <= s + 64; p += 64) *p = x[t]; // want: out of bounds
#else
    for (float *p = s + t; p < s + 64; p += 64) *p = x[t];
#endif
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

// Past the end of a row, which is the next row's start.
extern "C" __global__ void past_the_row(const float *x, float *y, int n) {
    __shared__ float tile[8][8];
    int t = threadIdx.x;
    tile[t / 8][t % 8] = x[t];
    __syncthreads();
#ifdef BUG
    y[t] = t / 8 < 7 ? tile[t / 8][t % 8 + n] : 0.f; // want: index out of bounds
#else
    y[t] = t / 8 < 7 ? tile[t / 8 + n][t % 8] : 0.f;
#endif
}

// A thread's own array; n is 4.
extern "C" __global__ void past_local(const float *x, float *y, int n) {
    float best[4] = {x[0], x[1], x[2], x[3]};
#ifdef BUG
    for (int i = 0; i <= n; i++) best[i] += x[threadIdx.x]; // want: index out of bounds
#else
    for (int i = 0; i < n; i++) best[i] += x[threadIdx.x];
#endif
    y[threadIdx.x] = best[threadIdx.x % 4];
}

// No address at all; address is 0.
extern "C" __global__ void null_pointer(float *y, unsigned long long address) {
    float *p = (float *)address;
#ifdef BUG
    if (y[0] < 0) p = y;
#else
    if (!p) p = y;
#endif
    p[threadIdx.x] = 1; // want: out of bounds
}

// An address that was given back before the launch.
extern "C" __global__ void after_free(float *y, unsigned long long address) {
#ifdef BUG
    const float *x = (const float *)address;
#else
    const float *x = y;
#endif
    y[threadIdx.x] = x[threadIdx.x]; // want: use after free
}

// 16 bytes at an address that is a multiple of 4.
extern "C" __global__ void crooked_float4(const float *x, float *y) {
#ifdef BUG
    float4 v = *(const float4 *)(x + 4 * threadIdx.x + 1); // want: misaligned
#else
    float4 v = *(const float4 *)(x + 4 * threadIdx.x);
#endif
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// 8 bytes in rows of 33: every second row is crooked.
extern "C" __global__ void crooked_float2(const float *x, float *y) {
#ifdef BUG
    __shared__ float tile[2][33];
#else
    __shared__ __align__(8) float tile[2][34];
#endif
    int row = threadIdx.x / 32, col = threadIdx.x % 32;
    tile[row][col] = x[threadIdx.x];
    __syncthreads();
    float2 v = *(const float2 *)&tile[row][col / 2 * 2]; // want: misaligned
    y[threadIdx.x] = v.x + v.y;
}

__constant__ float weights[64] = {1, 2, 3, 4};

// A table that kernels may only read.
extern "C" __global__ void writes_constant(const float *x, float *y) {
#ifdef BUG
    float *table = const_cast<float *>(weights);
    if (x[0] > 1000) table = y;
    table[threadIdx.x] = x[threadIdx.x]; // want: write to constant memory
#endif
    y[threadIdx.x] = weights[0];
}

__device__ float scratch[64];

// Beyond a variable of the module; n is 64.
extern "C" __global__ void past_a_variable(const float *x, float *y, int n) {
#ifdef BUG
    scratch[threadIdx.x + n] = x[threadIdx.x]; // want: index out of bounds
#else
    scratch[threadIdx.x % n] = x[threadIdx.x];
#endif
    y[threadIdx.x] = 1;
}
