// hopper.h - Hopper's instructions: barriers in shared memory (runtime/mbarrier.cpp), the copy
// engine (bulk.cpp, tensormap.cpp), products of warpgroups (wgmma.cpp). Inline PTX becomes calls of
// these.
#pragma once
#include "cluster.h"

extern "C" {
void simt_mbarrier_init(void *barrier, unsigned count, int line);
void simt_mbarrier_inval(void *barrier, int line);
void simt_mbarrier_expect(void *barrier, unsigned bytes, int line);
void simt_mbarrier_complete(void *barrier, unsigned bytes, int line);
unsigned long long simt_mbarrier_arrive(void *barrier, unsigned arrivals, unsigned bytes, int drops,
                                        int line);
int simt_mbarrier_wait(void *barrier, unsigned long long phase, int byParity, int line);
void simt_mbarrier_arrive_copies(void *barrier, int counted, int line);
void simt_named_barrier(unsigned barrier, unsigned threads, int waits, int line);
void simt_fence_proxy();
void simt_fence_mbarrier_init();
void simt_setmaxnreg(long long count, int more, int line);

// blocks is the mask of a multicast, or 0.
void simt_bulk_load(void *to, const void *from, unsigned bytes, void *barrier, unsigned blocks,
                    int line);
void simt_bulk_send(void *to, const void *from, unsigned bytes, void *barrier, int line);
void simt_store_async(void *to, const void *value, unsigned bytes, void *barrier, int line);
void simt_bulk_store(void *to, const void *from, unsigned bytes, int line);
void simt_tensor_load(int rank, void *to, const void *map, int c0, int c1, int c2, int c3, int c4,
                      void *barrier, unsigned blocks, int line);
void simt_tensor_store(int rank, const void *map, int c0, int c1, int c2, int c3, int c4,
                       const void *from, int line);
void simt_bulk_commit();
void simt_bulk_wait(unsigned long long groupsLeft);

// The form is packed as runtime/wgmma.h has it; behind the line come pointers to the sums.
void simt_wgmma(unsigned form, unsigned long long a, unsigned long long b, unsigned a0, unsigned a1,
                unsigned a2, unsigned a3, int adds, int line, ...);
void simt_wgmma_fence(int line);
void simt_wgmma_commit(int line);
void simt_wgmma_wait(unsigned long long groupsLeft, int line);
}

namespace simt::ptx {

// Where a sum of wgmma is.
template <class T> SIMT_INLINE unsigned *place(T &v) {
    static_assert(sizeof(T) == 4, "a sum of wgmma is a register of 32 bits");
    return (unsigned *)&v;
}

} // namespace simt::ptx
