// Package judgetest helps the rooms' tests: cases with their inputs, and kernels that compute in narrow
// arithmetic.
package judgetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Example is a case of any operation, for the tests.
type Example struct {
	Op     judge.Op
	Shape  []int
	Dist   tensor.Dist
	Causal bool
}

// Of makes an example.
func Of(op judge.Op, shape []int, dist tensor.Dist, causal bool) Example {
	return Example{Op: op, Shape: shape, Dist: dist, Causal: causal}
}

func (e Example) String() string {
	return fmt.Sprintf("%s %v %s causal=%v", e.Op.Name, e.Shape, e.Dist, e.Causal)
}

// Inputs makes the case with a seed.
func (e Example) Inputs(t *testing.T, seed uint64) (problem.Problem, []*tensor.Tensor) {
	c, err := e.Op.Case(judge.Spec{Shape: e.Shape, Dist: e.Dist, Causal: e.Causal}, seed, 1)
	require.NoError(t, err, e.String())
	in, err := e.Op.Inputs(c)
	require.NoError(t, err)
	return c, in
}

func (e Example) Judge(c problem.Problem, in []*tensor.Tensor, got []float32) judge.Ruling {
	return e.Op.Judge(c, in, problem.Answer{Tensors: []*tensor.Tensor{{Shape: c.Outputs[0].Shape, Data: got}}})
}

// Rounded keeps 11 bits, as float16 does for probabilities that are not tiny.
func Rounded(v float32) float32 {
	bits := math.Float32bits(v)
	return math.Float32frombits((bits + 0x1000) &^ 0x1fff)
}

func RoundedAll(x []float32) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = Rounded(v)
	}
	return y
}

// Prepared is a case of task 5 with its inputs.
type Prepared struct {
	Op judge.Op
	C  problem.Problem
	In []*tensor.Tensor
}

func Prepare(t *testing.T, op judge.Op, s judge.Spec, seed uint64) Prepared {
	t.Helper()
	c, err := op.Case(s, seed, 1)
	require.NoError(t, err)
	in, err := op.Inputs(c)
	require.NoError(t, err)
	return Prepared{op, c, in}
}

// Judge decides on outputs that hold these numbers.
func (p Prepared) Judge(t *testing.T, outputs ...[]float32) judge.Ruling {
	t.Helper()
	return p.Answer(t, nil, outputs...)
}

func (p Prepared) Answer(t *testing.T, counts map[string]uint64, outputs ...[]float32) judge.Ruling {
	t.Helper()
	out := problem.Answer{Counts: counts}
	for i, data := range outputs {
		x, err := tensor.Of(data, p.C.Outputs[i].Shape...)
		require.NoError(t, err)
		out.Tensors = append(out.Tensors, x)
	}
	return p.Op.Judge(p.C, p.In, out)
}

func (p Prepared) Says(t *testing.T, want string, outputs ...[]float32) {
	t.Helper()
	v := p.Judge(t, outputs...)
	require.False(t, v.Passed, want)
	assert.Contains(t, v.Reason, want)
	assert.NotEmpty(t, v.Details)
}

// Changed adds 1 to some numbers.
func Changed(x []float32, some func(i int) bool) []float32 {
	y := slices.Clone(x)
	for i := range y {
		if some(i) {
			y[i]++
		}
	}
	return y
}

// Shown is an output that shows a mistake. What nobody can foretell is 0.
func Shown(m judge.Mistake) []float32 {
	y := judge.Narrow(m.Whole())
	for i, v := range y {
		if v != v {
			y[i] = 0
		}
	}
	return y
}
