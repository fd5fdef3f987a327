#include "two.h"

__device__ int twice(int v) {
    return 2 * v;
}
