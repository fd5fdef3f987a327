#include "two.h"

__global__ void twiceAll(int *x) {
    x[threadIdx.x] = twice(x[threadIdx.x]);
}

void launchTwice(int *x, int n) {
    twiceAll<<<1, n>>>(x);
}
