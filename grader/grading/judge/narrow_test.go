package judge

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// TestNarrowOutputsAreJudged: an output that rounds once passes, one that rounds more often
// does not, and what nobody wrote is recognised.
func TestNarrowOutputsAreJudged(t *testing.T) {
	for _, ty := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
		const n = 512
		plain := make([]float32, n)
		require.NoError(t, tensor.Fill(plain, tensor.Normal, 5, 1, 0))
		want := make([]float64, n)
		for i, x := range plain {
			want[i] = float64(x)
		}
		ty.Round(plain)
		truth := Truth{Layout: Layout{n / 64, 64, 1}, Want: want, Plain: plain, Type: ty}
		assert.True(t, truth.Judge(plain).Passed)
		rough := slices.Clone(plain)
		for i := range rough { // four steps of the type off
			rough[i] *= 1 + 4*float32(math.Ldexp(1, map[tensor.Type]int{tensor.Float16: -11, tensor.BFloat16: -8}[ty]))
		}
		ty.Round(rough)
		j := truth.Judge(rough)
		assert.False(t, j.Passed)
		assert.Contains(t, General(truth, rough, j), ty.String())
		assert.Contains(t, j.Times, "2 × the plain mixed way")
		bits, _ := ty.Unwritten()
		rough[70] = math.Float32frombits(bits)
		assert.Contains(t, emptiness(truth, rough), "1 elements were never written")
	}
}

func TestBytesOfNarrowTensors(t *testing.T) {
	for _, ty := range tensor.Types {
		assert.EqualValues(t, 6*8*ty.Bits()/8, Bytes([]problem.Tensor{{Shape: []int{6, 8}, Type: ty}}))
	}
	op := Op{Name: "x", Sizes: []string{"n"}, Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		return []problem.Tensor{{Name: "w", Shape: []int{2, c.Sizes["n"]}, Type: tensor.Int4}}, nil
	}}
	_, err := op.Case(Spec{Shape: []int{3}, Dist: tensor.Normal}, 1, 1)
	assert.ErrorContains(t, err, "whole bytes")
	_, err = op.Case(Spec{Shape: []int{4}, Dist: tensor.Normal}, 1, 1)
	assert.NoError(t, err)
}
