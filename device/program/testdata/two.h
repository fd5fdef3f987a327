#pragma once
void launchTwice(int *x, int n);
__device__ int twice(int v);
