package judge

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

func TestInputsStayAsTheyAre(t *testing.T) {
	nan := float32(math.NaN())
	op := Keeping(Op{
		Name: "twice", Sizes: []string{"n"}, Least: Once,
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			return []problem.Tensor{{Name: "x", Shape: []int{4}}, {Name: "y", Shape: []int{2}}}, []problem.Tensor{{Name: "out", Shape: []int{1}}}
		},
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) Ruling {
			return Ruling{Passed: len(c.Outputs) == 1 && len(out.Tensors) == 1 && out.Tensors[0].Data[0] == 1, Reason: "its own"}
		},
	})
	c, err := op.Case(Spec{Shape: []int{4}, Dist: tensor.Normal}, 1, 0)
	require.NoError(t, err)
	assert.EqualValues(t, 4*(4+2+1), op.Least(c), "inputs count once")
	rule := func(out float32, x, y []float32) Ruling {
		of := func(data ...float32) *tensor.Tensor { return &tensor.Tensor{Shape: []int{len(data)}, Data: data} }
		return op.Judge(c, []*tensor.Tensor{of(1, nan, 3, 0), of(5, 6)}, problem.Answer{Tensors: []*tensor.Tensor{of(out), of(x...), of(y...)}})
	}
	assert.True(t, rule(1, []float32{1, nan, 3, 0}, []float32{5, 6}).Passed)
	assert.Equal(t, Ruling{Reason: "its own"}, rule(2, []float32{1, nan, 3, 0}, []float32{5, 6}))
	changed := rule(1, []float32{1, 2, nan, float32(math.Copysign(0, -1))}, []float32{5, 6})
	assert.False(t, changed.Passed)
	assert.Equal(t, "x was changed: 3 of 4 elements differ from before the call, and inputs must stay as they are", changed.Reason)
	assert.Contains(t, rule(1, []float32{1, nan, 3, 0}, []float32{5, 7}).Reason, "y was changed: 1 of 2")
}
