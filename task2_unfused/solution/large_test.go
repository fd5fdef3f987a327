package unfused

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// TestLarge: small products never go to the tensor cores, so it is asked for.
func TestLarge(t *testing.T) {
	d := attntest.Device(t)
	a, err := New(device.QueueOf(d))
	require.NoError(t, err)
	a.large = 0
	for _, s := range []attn.GemmShape{
		{Batch: 1, M: 1, N: 1, K: 1}, {Batch: 1, M: 2, N: 2, K: 2}, {Batch: 2, M: 17, N: 113, K: 5},
		{Batch: 1, M: 1, N: 300, K: 3}, {Batch: 1, M: 5, N: 3, K: 300}, {Batch: 1, M: 130, N: 33, K: 100},
	} {
		for _, s.TransB = range []bool{false, true} {
			x, y := random(t, tensor.Normal, 0, s.Batch*s.M*s.K), random(t, tensor.Normal, 1, s.Batch*s.N*s.K)
			decide(t, fmt.Sprint(s), multiply(t, d, a, x, y, s), shared.GemmTruth(x, y, s))
		}
	}
}

// TestLargeOfAllSizes: rows and columns of any size are as exact as others.
func TestLargeOfAllSizes(t *testing.T) {
	d := attntest.Device(t)
	a, err := New(device.QueueOf(d))
	require.NoError(t, err)
	a.large = 0
	s := attn.GemmShape{Batch: 1, M: 20, N: 1, K: 70}
	for _, size := range []int{-60, 0, 60} {
		x, y := random(t, tensor.Normal, 2, s.M*s.K), random(t, tensor.Normal, 3, s.N*s.K)
		for i := range x {
			x[i] = float32(math.Ldexp(float64(x[i]), 6*(i/s.K-s.M/2)))
		}
		for i := range y {
			y[i] = float32(math.Ldexp(float64(y[i]), size))
		}
		decide(t, fmt.Sprint("size ", size), multiply(t, d, a, x, y, s), shared.GemmTruth(x, y, s))
	}
	// What is infinite or no number stays so, in its own row.
	s.N = 3
	for _, bad := range []float32{float32(math.Inf(1)), float32(math.NaN())} {
		x, y := random(t, tensor.Normal, 4, s.M*s.K), random(t, tensor.Normal, 5, s.N*s.K)
		x[7*s.K+69] = bad
		for i, v := range multiply(t, d, a, x, y, s) {
			require.Equal(t, i/s.N == 7, v-v != 0, "row %d", i/s.N)
		}
	}
}

func random(t *testing.T, dist tensor.Dist, stream uint32, n int) []float32 {
	t.Helper()
	x, err := tensor.Random(dist, 11, stream, n)
	require.NoError(t, err)
	return x.Data
}

func multiply(t *testing.T, d device.Device, a *Attention, x, y []float32, s attn.GemmShape) []float32 {
	t.Helper()
	c := attntest.Output(t, d, "c", s.Batch*s.M*s.N)
	require.NoError(t, a.Gemm(c, attntest.Input(t, d, "x", x), attntest.Input(t, d, "y", y), s))
	require.NoError(t, d.Sync())
	got, err := c.CopyOut(d)
	require.NoError(t, err)
	attntest.Findings(t, d)
	return got
}

func decide(t *testing.T, what string, got []float32, truth judge.Truth) {
	t.Helper()
	j := truth.Judge(got)
	require.True(t, j.Passed, "%s: element %d is %.8g, want %.8g; the row's error is %.2g, at most %.2g is allowed",
		what, j.Worst, j.Got, j.Want, j.Error, j.Bound)
}
