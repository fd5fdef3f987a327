// The kernels of the conformance suite: one per idea, so that a failure names
// what is broken.

// add: the simplest kernel there is, with a ragged last block.
extern "C" __global__ void add(const float *a, const float *b, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}

// indices: every thread writes its twelve built-in numbers to its own place.
extern "C" __global__ void indices(int *out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int *mine = out + 12 * (block * (int)(blockDim.x * blockDim.y * blockDim.z) + thread);
    mine[0] = threadIdx.x, mine[1] = threadIdx.y, mine[2] = threadIdx.z;
    mine[3] = blockIdx.x, mine[4] = blockIdx.y, mine[5] = blockIdx.z;
    mine[6] = blockDim.x, mine[7] = blockDim.y, mine[8] = blockDim.z;
    mine[9] = gridDim.x, mine[10] = gridDim.y, mine[11] = gridDim.z;
}

// blockSum: a tree reduction in static shared memory, one barrier a step.
extern "C" __global__ void __launch_bounds__(256) blockSum(const float *in, float *sums) {
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

// reverse: n numbers through dynamic shared memory, out in the opposite order.
extern "C" __global__ void reverse(const int *in, int *out, int n) {
    extern __shared__ int held[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) held[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = held[n - 1 - i];
}

// lookUp: a table in constant memory, read through a helper function.
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

__device__ int primeTimes(int i, int factor) {
    return primes[i % 8] * factor;
}

extern "C" __global__ void lookUp(int *out, int factor) {
    out[threadIdx.x] = primeTimes(threadIdx.x, factor);
}

// passOn: arguments of every size, in an order that needs padding between them.
extern "C" __global__ void passOn(bool flag, double d, short s, long long ll, float f,
                                  unsigned int u, unsigned long long ull, int i, double *floats,
                                  long long *ints) {
    floats[0] = d;
    floats[1] = f;
    ints[0] = flag;
    ints[1] = s;
    ints[2] = ll;
    ints[3] = u;
    ints[4] = (long long)ull;
    ints[5] = i;
}

// passStruct: a struct by value, and a pointer by another name. Only compilers know their sizes.
struct Straight {
    short from;
    float slope;
};
using Numbers = float *;

extern "C" __global__ void passStruct(Straight line, Numbers y) {
    y[threadIdx.x] = line.from + line.slope * threadIdx.x;
}

// step: its result depends on the order of the launches.
extern "C" __global__ void step(unsigned int *x, unsigned int k) {
    *x = *x * 3 + k;
}

// poke: writes where it is told to, even outside any allocation.
extern "C" __global__ void poke(float *out, long long at) {
    out[at] = 1.0f;
}
