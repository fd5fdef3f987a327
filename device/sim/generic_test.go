package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// One function reads, or writes, shared memory first and device memory later, or both at once, by a pointer to either.
const generic = `
template <class T> __device__ __noinline__ T load(const T *p) { return *p; }
template <class T> __device__ __noinline__ void store(T *p, T v) { *p = v; }
#define BOTH(NAME, T) extern "C" __global__ void NAME(const void *from, void *to) { \
    __shared__ T s[64]; \
    const T *x = (const T *)from; \
    T *y = (T *)to; \
    const int t = threadIdx.x; \
    s[t] = x[t]; \
    T a = load(s + t), b = load(x + t), c = load(t % 2 ? s + t : x + t); \
    store(s + t, b); \
    store(y + t, a); \
    store(t % 2 ? s + t : y + t, c); \
}
BOTH(bytes, char)
BOTH(halves, short)
BOTH(words, int)
BOTH(pairs, int2)
BOTH(fours, int4)

__device__ __noinline__ int add(int *p) { return atomicAdd(p, 1); }
extern "C" __global__ void atomics(const void *, void *to) {
    __shared__ int s[64];
    s[threadIdx.x] = 0;
    add(s + threadIdx.x);
    add((int *)to + threadIdx.x);
}

__device__ __noinline__ void move(void *to, const void *from, size_t n) { memcpy(to, from, n); }
extern "C" __global__ void blocks(const void *from, void *to) {
    __shared__ char s[64 * 16];
    move(s + threadIdx.x * 16, (const char *)from + threadIdx.x * 16, 3);
    move((char *)to + threadIdx.x * 16, (const char *)from + threadIdx.x * 16, 16);
}
`

// TestAnAccessCountsForTheMemoryThatItReaches: loads, stores, atomics and copies of every size by one instruction for
// shared and device memory, in turn and by lanes of one warp.
func TestAnAccessCountsForTheMemoryThatItReaches(t *testing.T) {
	type counts struct{ read, written, sharedRead, sharedWritten uint64 }
	want := map[string]counts{"atomics": {0, 64 * 4, 0, 2 * 64 * 4}, "blocks": {64 * 19, 64 * 16, 0, 64 * 3}}
	for name, n := range map[string]uint64{"bytes": 1, "halves": 2, "words": 4, "pairs": 8, "fours": 16} {
		want[name] = counts{(64 + 64 + 32) * n, (64 + 32) * n, (64 + 32) * n, (64 + 64 + 32) * n}
	}
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "k.cu", Text: generic})
		require.NoError(t, err)
		b := bench{t, d, m}
		for name, w := range want {
			require.NoError(t, d.Reset())
			x, y := upload(b, "x", make([]int32, 256)), upload(b, "y", make([]int32, 256))
			r, err := b.try(name, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, x, y)
			require.NoError(t, err)
			assert.Empty(t, r.Findings, name)
			c := r.Launches[0]
			assert.Equal(t, w, counts{c.GlobalRead, c.GlobalWritten, c.SharedRead, c.SharedWritten}, name)
		}
	})
}

// TestWhatABlockReadsOfItsNeighboursCounts: a block that has others fetch for it still reads it all.
func TestWhatABlockReadsOfItsNeighboursCounts(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "k.cu", Text: `#include <cooperative_groups.h>
extern "C" __global__ void fetched(const float *x, float *y) {
    __shared__ float part[64];
    cooperative_groups::cluster_group c = cooperative_groups::this_cluster();
    part[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    c.sync();
    float sum = 0;
    for (int r = 0; r < 4 && blockIdx.x == 0; r++) sum += c.map_shared_rank(part, r)[threadIdx.x];
    if (blockIdx.x == 0) y[threadIdx.x] = sum;
    c.sync();
}`})
	require.NoError(t, err)
	b := bench{t, d, m}
	r, err := b.try("fetched", device.Launch{Grid: device.D1(4), Block: device.D1(64), Cluster: device.D1(4)}, upload(b, "x", make([]float32, 256)), alloc[float32](b, "y", 64))
	require.NoError(t, err)
	assert.Empty(t, r.Findings)
	assert.Equal(t, uint64(4*64*4), r.Launches[0].MostRead)
}

// TestSumsAreWholeOnTheirStack: a sum of wgmma that ends beyond the thread's stack is none of its variables.
func TestSumsAreWholeOnTheirStack(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "k.cu", Text: `#include "hopper.h"
extern "C" __global__ void sums(float *y) {
    __shared__ __align__(1024) char tile[8192];
    for (int i = threadIdx.x; i < 8192; i += 128) tile[i] = 0;
    float local[4] = {};
    float *last = (float *)(((unsigned long long)local | 4095) - 1);
    fence_proxy_async();
    __syncthreads();
    wgmma_fence();
    const unsigned long long a = matrix_descriptor(tile);
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 0, 1, 1, 0, 0;"
                 : "+f"(local[0]), "+f"(local[1]), "+f"(local[2]), "+f"(*last) : "l"(a));
    wgmma_commit();
    wgmma_wait<0>(local);
    y[threadIdx.x] = local[0];
}`})
	require.NoError(t, err)
	b := bench{t, d, m}
	r, _ := b.try("sums", device.Launch{Grid: device.D1(1), Block: device.D1(128)}, alloc[float32](b, "y", 128))
	require.NotEmpty(t, r.Findings)
	assert.Equal(t, "bad sums", r.Findings[0].Kind)
}
