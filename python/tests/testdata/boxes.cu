// A copy of a tensor [rows, 32], row by row, by Hopper's copy engine: a test's kernel that takes a
// tensor map.
#include <cuda.h>
#include <stdint.h>

extern "C" __global__ void copy_row(const __grid_constant__ CUtensorMap map, float *out) {
    __shared__ __align__(128) float row[32];
    __shared__ uint64_t full;
    const uint32_t to = (uint32_t)__cvta_generic_to_shared(row),
                   barrier = (uint32_t)__cvta_generic_to_shared(&full);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                     "n"(sizeof row)
                     : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                     "l"(&map), "r"(0), "r"(blockIdx.x), "r"(barrier)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "AGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                 "@!p bra AGAIN;\n"
                 "}" ::"r"(barrier)
                 : "memory");
    out[32 * blockIdx.x + threadIdx.x] = row[threadIdx.x];
}
