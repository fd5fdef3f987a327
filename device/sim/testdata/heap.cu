// heap.cu - malloc, free, new and delete in kernels (heap_test.go).
#define EXPORT extern "C" __global__

struct Node {
    int value;
    Node *next;
    __device__ Node(int v, Node *n) : value(v), next(n) {}
};

// Each thread makes a list, and sums it as it takes it down.
EXPORT void lists(int *y) {
    int i = threadIdx.x, sum = 0;
    Node *first = nullptr;
    for (int k = 0; k <= i; k++) first = new Node(k, first);
    while (first) {
        sum += first->value;
        Node *next = first->next;
        delete first;
        first = next;
    }
    y[i] = sum;
}

// What one launch makes, the next one reads and frees; a block shares what one thread has made.
__device__ float *kept[64];
EXPORT void make(int n) {
    __shared__ float *common;
    if (threadIdx.x == 0) common = (float *)malloc(n * sizeof(float));
    __syncthreads();
    if (common) common[threadIdx.x] = threadIdx.x + blockIdx.x;
    if (threadIdx.x == 0) kept[blockIdx.x] = common;
}
EXPORT void take(float *y) {
    y[blockIdx.x * blockDim.x + threadIdx.x] = kept[blockIdx.x][threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(kept[blockIdx.x]);
}

EXPORT void too_much(int *y) {
    kept[0] = (float *)malloc(9 << 20); // where others see it: else the compiler may do without
    y[0] = kept[0] == nullptr;
    free(kept[0]);
}

// Misuse, each with its finding.
EXPORT void beyond(int *y, int n) {
    int *p = new int[n];
    p[n] = 1;
    y[0] = p[0];
    delete[] p;
}

// A compiler may do without a pair of new and delete whose memory nobody else sees.
__noinline__ __device__ int first(const int *p) {
    return p[0];
}
EXPORT void after_free(int *y, int n) {
    int *p = new int[n];
    p[0] = n;
    y[0] = first(p);
    delete[] p;
    y[1] = first(p);
}

EXPORT void twice(int *y, int n) {
    int *p = (int *)malloc(4 * n);
    p[0] = y[0] = n;
    kept[0] = (float *)p;
    free(p);
    free(kept[0]);
}

EXPORT void unwritten(int *y, int n) {
    int *p = (int *)malloc(4 * n);
    y[0] = p[n - 1];
    free(p);
}

EXPORT void used_up(int *y, int n) {
    for (int i = 0; i < 4096; i++) {
        int *p = new int[n * 1024];
        p[0] = i;
        y[0] = first(p);
    }
}
