// A program of several files: a kernel here calls a function that another file has.
#include <cstdio>

#include <cuda_runtime.h>

void launchTwice(int *x, int n);

// nvcc leaves a .cpp to the host's compiler, where CUDA's functions for kernels have no names.
static unsigned umin(unsigned a, unsigned b) {
    return a < b ? a : b;
}

int main() {
    int x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *d;
    cudaMalloc(&d, sizeof x);
    cudaMemcpy(d, x, sizeof x, cudaMemcpyHostToDevice);
    launchTwice(d, umin(8, 9));
    cudaMemcpy(x, d, sizeof x, cudaMemcpyDeviceToHost);
    cudaFree(d);
    printf("%d %d\n", x[0], x[7]);
    return x[0] == 2 && x[7] == 16 ? 0 : 1;
}
