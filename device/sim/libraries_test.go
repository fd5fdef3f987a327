package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

const ofCUB = `
#include <cub/cub.cuh>
struct Larger { __device__ int operator()(int a, int b) const { return a < b ? b : a; } };
struct Last { __device__ int operator()(int a, int b) const { return b ? b : a; } }; // not commutative

extern "C" __global__ void reduces(const int *x, int *y) {
    typedef cub::BlockReduce<int, 96> Block;
    __shared__ union { Block::TempStorage block; typename cub::WarpReduce<int, 8>::TempStorage warp[12]; } room;
    int t = threadIdx.x, pair[2] = {x[2 * t], x[2 * t + 1]};
    int sum = Block(room.block).Sum(x[t]);
    __syncthreads();
    int largest = Block(room.block).Reduce(x[t], Larger());
    __syncthreads();
    int first50 = Block(room.block).Sum(x[t], 50);
    __syncthreads();
    int pairs = Block(room.block).Reduce(pair, cub::Max());
    __syncthreads();
    int last = Block(room.block).Reduce(x[t] % 3, Last());
    __syncthreads();
    int own = cub::BlockReduce<int, 32, cub::BLOCK_REDUCE_RAKING, 3>().Sum(2);
    int eight = cub::WarpReduce<int, 8>(room.warp[t / 8]).Sum(x[t]);
    if (t == 0) y[0] = sum, y[1] = largest, y[2] = first50, y[3] = pairs, y[4] = last, y[5] = own;
    if (t % 8 == 0) y[8 + t / 8] = eight;
}

extern "C" __global__ void scans(const int *x, int *y) {
    typedef cub::BlockScan<int, 96> Block;
    __shared__ Block::TempStorage room;
    __shared__ cub::WarpScan<int>::TempStorage warps[3];
    int t = threadIdx.x, all = 0, pair[2] = {x[2 * t], x[2 * t + 1]}, out[2];
    Block(room).InclusiveSum(x[t], y[t]);
    __syncthreads();
    Block(room).ExclusiveSum(x[t], y[96 + t], all);
    if (t == 95) y[96 * 9] = all;
    __syncthreads();
    Block(room).ExclusiveScan(x[t], y[192 + t], -5, Larger());
    __syncthreads();
    Block(room).ExclusiveSum(pair, out);
    y[288 + 2 * t] = out[0], y[288 + 2 * t + 1] = out[1];
    __syncthreads();
    Block(room).InclusiveScan(pair, out, Last());
    y[480 + 2 * t] = out[0], y[480 + 2 * t + 1] = out[1];
    cub::WarpScan<int>(warps[t / 32]).ExclusiveSum(x[t], y[672 + t]);
}

template <cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S> __global__ void moves(const int *x, int *y) {
    typedef cub::BlockLoad<int, 64, 3, L> Load;
    typedef cub::BlockStore<int, 64, 3, S> Store;
    __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; } room;
    int v[3];
    Load(room.load).Load(x + blockIdx.x * 192, v, 150, -1);
    for (int i = 0; i < 3; i++) y[400 + blockIdx.x * 192 + threadIdx.x * 3 + i] = v[i];
    __syncthreads();
    Store(room.store).Store(y + blockIdx.x * 192, v);
}

extern "C" __global__ void reuses_too_early(const int *x, int *y) {
    typedef cub::BlockReduce<int, 64> Block;
    __shared__ Block::TempStorage room;
    int a = Block(room).Sum(x[threadIdx.x]);
    int b = Block(room).Sum(a);
    if (threadIdx.x == 0) y[0] = b;
}
`

// CUB's collectives give what loops give; storage that is used again without a barrier races, at the kernel's line.
func TestCollectivesOfCUB(t *testing.T) {
	x := make([]int32, 384)
	for i := range x {
		x[i] = int32(rand.IntN(1000) - 300)
	}
	var algorithms []string
	for _, l := range []string{"DIRECT", "VECTORIZE", "TRANSPOSE", "WARP_TRANSPOSE", "WARP_TRANSPOSE_TIMESLICED"} {
		algorithms = append(algorithms, fmt.Sprintf("moves<cub::BLOCK_LOAD_%[1]s, cub::BLOCK_STORE_%[1]s>", l))
	}
	algorithms = append(algorithms, "moves<cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>", "moves<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_DIRECT>")
	last := func(a, b int32) int32 {
		if b != 0 {
			return b
		}
		return a
	}
	bothCompilers(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "cub.cu", Text: ofCUB, Kernels: algorithms})
		require.NoError(t, err)
		run := func(name string, blocks, threads int) []int32 {
			k, err := m.Kernel(name)
			require.NoError(t, err)
			in, err := device.Upload(d, "x", x)
			require.NoError(t, err)
			out, err := device.Upload(d, "y", make([]int32, 1024))
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(blocks), Block: device.D1(threads)}, in, out))
			y, err := out.CopyOut(d)
			require.NoError(t, err)
			return y
		}
		clean := func() {
			r, err := d.Report()
			require.NoError(t, err)
			require.Empty(t, r.Findings)
		}
		sum := func(all []int32) (s int32) {
			for _, v := range all {
				s += v
			}
			return s
		}

		y := run("reduces", 1, 96)
		largest, pairs, lastOf := x[0], x[0], x[0]%3
		for i, v := range x[:192] {
			pairs = max(pairs, v)
			if i < 96 {
				largest, lastOf = max(largest, v), last(lastOf, v%3)
			}
		}
		assert.Equal(t, []int32{sum(x[:96]), largest, sum(x[:50]), pairs, lastOf, 192}, y[:6])
		for g := range 12 {
			assert.Equal(t, sum(x[8*g:8*g+8]), y[8+g])
		}

		y = run("scans", 1, 96)
		running, inclusive := int32(-5), x[0]
		for i := range 96 {
			assert.Equal(t, sum(x[:i+1]), y[i], "inclusive sum")
			assert.Equal(t, sum(x[:i]), y[96+i], "exclusive sum")
			assert.Equal(t, running, y[192+i], "exclusive maximum")
			assert.Equal(t, sum(x[i/32*32:i]), y[672+i], "a warp's exclusive sum")
			running = max(running, x[i])
		}
		for i := range 192 {
			assert.Equal(t, sum(x[:i]), y[288+i], "exclusive sum of pairs")
			if i > 0 {
				inclusive = last(inclusive, x[i])
			}
			assert.Equal(t, inclusive, y[480+i], "inclusive scan of pairs")
		}
		assert.Equal(t, sum(x[:96]), y[96*9])

		for _, name := range algorithms {
			y = run(name, 2, 64)
			for b := range 2 {
				for i := range 192 {
					want := x[b*192+i]
					if i >= 150 {
						want = -1
					}
					if strings.Contains(name, "TRANSPOSE, cub::BLOCK_STORE_DIRECT") || !strings.Contains(name, "STRIPED") {
						assert.Equal(t, want, y[400+b*192+i], "%s: item %d of block %d is loaded", name, i, b)
					}
					assert.Equal(t, want, y[b*192+i], "%s: item %d of block %d", name, i, b)
				}
			}
		}
		clean()
		run("reuses_too_early", 1, 64)
		r, err := d.Report()
		require.NoError(t, err)
		require.NotEmpty(t, r.Findings)
		assert.Equal(t, map[int]string{61: "race"}, byLine(r.Findings), "%v", r.Findings)
	})
}

// What is not there of a library that partly is, is named.
func TestWhatOfCUBIsMissing(t *testing.T) {
	for text, want := range map[string]string{
		"#include <cub/cub.cuh>\n__global__ void k(int *x) { typedef cub::BlockRadixSort<int, 64, 4> S; }\n": "k.cu:2: error: the simulator has no cub::BlockRadixSort",
		"__global__ void k(int *x) { typedef cub::BlockReduce<int, 64> S; }\n":                               "k.cu:1: error: cub::BlockReduce needs its header: #include <cub/cub.cuh>",
	} {
		_, err := start(t, Options{}).Compile(device.Source{Name: "k.cu", Text: text})
		assert.ErrorContains(t, err, want)
	}
}

// PyTorch's scalar types are there for who asks for them.
func TestScalarTypesOfPyTorch(t *testing.T) {
	const text = `
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
struct Context { cudaStream_t stream; cudaEvent_t done; int n; };
template <typename T> using Launcher = cudaError_t (*)(const T *x, T *y, cudaStream_t stream);
template <typename scalar_t> __global__ void scale(const scalar_t *x, scalar_t *y, float by, Context c) {
    using acc_t = at::opmath_type<scalar_t>;
    acc_t v = static_cast<acc_t>(x[threadIdx.x]) * by;
    y[threadIdx.x] = static_cast<scalar_t>(v) + x[threadIdx.x] * scalar_t(c.n);
}
template __global__ void scale<at::Half>(const at::Half *, at::Half *, float, Context);
extern "C" __global__ void halves(const c10::Half *x, __half *y) { c10::Half h = x[threadIdx.x]; h += h; y[threadIdx.x] = h; }
extern "C" __global__ void brains(const at::BFloat16 *x, float *y) { y[threadIdx.x] = x[threadIdx.x] - 1.f; }
void host(at::Tensor x) { scale<at::Half><<<1, 32>>>(x.data_ptr<at::Half>(), nullptr, 2, {}); }
`
	bothCompilers(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		s := device.Source{Name: "torch.cu", Text: text, Kernels: []string{"scale<at::Half>", "scale<float>", "scale<c10::BFloat16>"}, Defines: map[string]string{"FLASHLAB_TORCH": ""}}
		m, err := d.Compile(s)
		require.NoError(t, err)
		for _, name := range append(s.Kernels, "halves", "brains") {
			_, err := m.Kernel(name)
			assert.NoError(t, err)
		}
		x, err := device.Upload(d, "x", []uint16{0x3c00, 0x4000, 0x4200, 0xc400})
		require.NoError(t, err)
		y, err := device.Upload(d, "y", make([]uint16, 4))
		require.NoError(t, err)
		k, err := m.Kernel("halves")
		require.NoError(t, err)
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(4)}, x, y))
		got, err := y.CopyOut(d)
		require.NoError(t, err)
		assert.Equal(t, []uint16{0x4000, 0x4400, 0x4600, 0xc800}, got)

		s.Defines = nil
		_, err = d.Compile(s)
		assert.ErrorContains(t, err, "torch/extension.h")
	})
}
