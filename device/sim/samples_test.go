package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

// transposed transposes 64×64 floats by tiles of 32×32 in rows of `width`.
func transposed(t *testing.T, o Options, width int) trace.Counts {
	t.Helper()
	d := start(t, o)
	m, err := d.Compile(device.Source{Name: "kernels.cu", Text: fmt.Sprintf(`extern "C" __global__ void transpose(const float *x, float *y) {
    __shared__ float tile[32][%d];
    for (int r = threadIdx.y; r < 32; r += 8)
        tile[r][threadIdx.x] = x[(blockIdx.y * 32 + r) * 64 + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        y[(blockIdx.x * 32 + r) * 64 + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][r];
    if (threadIdx.x < 5) y[0] = x[0];
}`, width)})
	require.NoError(t, err)
	k, err := m.Kernel("transpose")
	require.NoError(t, err)
	x, err := device.Upload(d, "x", make([]float32, 64*64))
	require.NoError(t, err)
	y, err := device.Upload(d, "y", make([]float32, 64*64))
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.Dim{X: 2, Y: 2, Z: 1}, Block: device.Dim{X: 32, Y: 8, Z: 1}}, x, y))
	}
	r, err := d.Report()
	require.NoError(t, err)
	require.Len(t, r.Launches, 1)
	return r.Launches[0]
}

// Of an instruction on shared memory the report has the request with the most passes of the banks:
// all lanes of a column in one bank, or, in rows a word longer, each in its own.
func TestTheWorstRequestOfSharedMemoryIsKept(t *testing.T) {
	for width, passes := range map[int]int{32: 32, 33: 1} {
		s := transposed(t, Options{Checks: AllChecks(), Lines: true}, width).Samples
		require.NotNil(t, s)
		require.Len(t, s.Banks, 2)
		write, read := s.Banks[0], s.Banks[1]
		assert.Equal(t, []any{"write", 4, 1}, []any{write.Op, write.Line, write.Passes})
		assert.Equal(t, []any{"read", 7, passes}, []any{read.Op, read.Line, read.Passes})
		assert.Equal(t, []any{"tile", []int{32, width}, 4, 4}, []any{read.Array, read.Dims, read.Element, read.Bytes})
		assert.Equal(t, []int{0, 0}, []int{read.Block, read.Warp}, "of equally bad ones the first")
		banks := map[int64]bool{}
		for lane, at := range read.Lanes {
			assert.Equal(t, int64(4*width*lane), at)
			banks[at/4%32] = true
		}
		assert.Len(t, banks, 32/passes)
	}
}

func TestAnArraysUseIsKept(t *testing.T) {
	s := transposed(t, Options{Checks: Checks{Traffic: true}, Lines: true, Workers: 3}, 33).Samples
	require.Len(t, s.Arrays, 2)
	x, y := s.Arrays[0], s.Arrays[1]
	assert.Equal(t, []any{"x", 64 * 64 * 4, 4, "y"}, []any{x.Name, x.Bytes, x.Part, y.Name})
	// Two launches read all of x once each, and x[0] for 8 warps of 4 blocks besides.
	assert.Equal(t, []trace.ArrayRun{{Parts: 1, Read: 2 * (1 + 8*4), Readers: 2 * 4}, {Parts: 64*64 - 1, Read: 2, Readers: 2}}, x.Runs)
	assert.Equal(t, trace.ArrayRun{Parts: 64*64 - 1, Written: 2, Writers: 2}, y.Runs[1])
}

func TestOneBlockIsKeptBarrierByBarrier(t *testing.T) {
	line := transposed(t, Options{Checks: AllChecks(), Lines: true}, 33).Samples.Timeline
	require.NotNil(t, line)
	assert.Equal(t, []any{2, 256, "kernels.cu", 0}, []any{line.Block, line.Threads, line.File, line.Left}, "the block in the middle")
	require.Len(t, line.Stretches, 2)
	assert.Equal(t, []int{5, 0}, []int{line.Stretches[0].Line, line.Stretches[1].Line})
	first, second := line.Stretches[0].Warps, line.Stretches[1].Warps
	require.Len(t, first, 8)
	for _, w := range first {
		assert.Equal(t, []uint64{8, 8 * 32}, []uint64{w.Requests, w.Lanes}, "all lanes do alike")
		assert.Zero(t, w.Apart)
		assert.Greater(t, w.Longest, uint64(8), "4 times two accesses")
	}
	for _, w := range second {
		assert.Equal(t, trace.WarpStretch{Longest: w.Longest, Requests: 8 + 2, Lanes: 8*32 + 2*5, Apart: 31, File: "kernels.cu", Line: 8}, w)
	}
}

func TestNothingIsSampledUnlessItIsAskedFor(t *testing.T) {
	assert.Nil(t, transposed(t, Options{Checks: AllChecks()}, 33).Samples)
	plain := transposed(t, Options{Checks: AllChecks()}, 33)
	asked := transposed(t, Options{Checks: AllChecks(), Lines: true}, 33)
	asked.Samples = nil // a line's steps are told with FLOPs, too
	assert.Equal(t, plain, asked, "the counts are the same")
	again := transposed(t, Options{Checks: AllChecks(), Lines: true, Workers: 1}, 33)
	assert.Equal(t, again.Samples, transposed(t, Options{Checks: AllChecks(), Lines: true, Workers: 4}, 33).Samples)
	assert.True(t, slices.IsSortedFunc(again.Samples.Banks, func(a, b trace.BankRequest) int { return a.Line - b.Line }))
}
