// cluster.h - thread block clusters (runtime/cluster.cpp, distributed.cpp), and kernels that may
// begin early, which here never overlap.
#pragma once

extern "C" {
__attribute__((const)) unsigned simt_cluster(int what); // see runtime/cluster.cpp
void simt_cluster_arrive(int releases, int line);
void simt_cluster_wait(int line);
void *simt_map_shared(const void *p, unsigned rank, int line);
unsigned simt_map_offset(unsigned offset, unsigned rank, int line); // addresses of 32 bits
unsigned simt_shared_rank(const void *p, int line);
}

SIMT_INLINE void cudaGridDependencySynchronize() {}
SIMT_INLINE void cudaTriggerProgrammaticLaunchCompletion() {}
SIMT_INLINE unsigned __clusterDimIsSpecified() {
    return simt_cluster(14);
}
SIMT_INLINE dim3 __clusterDim() {
    return dim3(simt_cluster(3), simt_cluster(4), simt_cluster(5));
}
SIMT_INLINE dim3 __clusterRelativeBlockIdx() {
    return dim3(simt_cluster(0), simt_cluster(1), simt_cluster(2));
}
SIMT_INLINE dim3 __clusterIdx() {
    return dim3(simt_cluster(6), simt_cluster(7), simt_cluster(8));
}
SIMT_INLINE dim3 __clusterGridDimInClusters() {
    return dim3(simt_cluster(9), simt_cluster(10), simt_cluster(11));
}
SIMT_INLINE unsigned __clusterRelativeBlockRank() {
    return simt_cluster(12);
}
SIMT_INLINE unsigned __clusterSizeInBlocks() {
    return simt_cluster(13);
}
SIMT_INLINE void __cluster_barrier_arrive(int line = __builtin_LINE()) {
    simt_cluster_arrive(1, line);
}
SIMT_INLINE void __cluster_barrier_arrive_relaxed(int line = __builtin_LINE()) {
    simt_cluster_arrive(0, line);
}
SIMT_INLINE void __cluster_barrier_wait(int line = __builtin_LINE()) {
    simt_cluster_wait(line);
}
SIMT_INLINE void *__cluster_map_shared_rank(const void *p, unsigned rank,
                                            int line = __builtin_LINE()) {
    return simt_map_shared(p, rank, line);
}
SIMT_INLINE unsigned __cluster_query_shared_rank(const void *p, int line = __builtin_LINE()) {
    return simt_shared_rank(p, line);
}
