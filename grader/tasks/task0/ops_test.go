package task0

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// exact has, for each puzzle that has an exact result, a wrong output and what is said of it.
var exact = []struct {
	op    judge.Op
	shape []int
	right func(p problem.Problem, x, more []float32) func(i int) float32
	wrong func(p problem.Problem, x, more []float32) func(i int) float32
	says  string
}{
	{Ops[0], []int{113}, plusTen, func(_ problem.Problem, x, _ []float32) func(int) float32 {
		return func(int) float32 { return x[0] + 10 }
	}, "threadIdx.x"},
	{Ops[1], []int{1000}, plusTen, func(_ problem.Problem, x, _ []float32) func(int) float32 {
		return func(i int) float32 { return x[i%256] + 10 }
	}, "blockIdx.x * blockDim.x"},
	{addBias, []int{33, 70}, func(p problem.Problem, x, bias []float32) func(int) float32 {
		return func(i int) float32 { return x[i] + bias[i%70] }
	}, func(p problem.Problem, x, bias []float32) func(int) float32 {
		return func(i int) float32 { return x[i] + bias[i/70] }
	}, "bias[col], not bias[row]"},
	{shift, []int{3}, func(_ problem.Problem, x, _ []float32) func(int) float32 {
		return func(i int) float32 {
			if i%256 == 255 {
				return x[i-255]
			}
			return x[i+1]
		}
	}, func(_ problem.Problem, x, _ []float32) func(int) float32 {
		return func(i int) float32 { return x[(i+1)%len(x)] }
	}, "its own block's first"},
	{transpose, []int{17, 33}, func(_ problem.Problem, x, _ []float32) func(int) float32 {
		return func(i int) float32 { return x[i%17*33+i/17] }
	}, func(_ problem.Problem, x, _ []float32) func(int) float32 {
		return func(i int) float32 { return x[i] }
	}, "nothing is transposed"},
	{largest, []int{3}, func(_ problem.Problem, x, _ []float32) func(int) float32 {
		return func(i int) float32 {
			at := func(by int) float32 { return x[i/256*256+(i+by)%256] }
			return max(at(0), at(1), at(2), at(3), at(4))
		}
	}, func(_ problem.Problem, x, _ []float32) func(int) float32 {
		return func(i int) float32 { return max(x[i], x[i/256*256+(i+1)%256]) }
	}, "there are four rounds"},
}

func plusTen(_ problem.Problem, x, _ []float32) func(int) float32 {
	return func(i int) float32 { return x[i] + 10 }
}

func TestExactPuzzles(t *testing.T) {
	for _, c := range exact {
		for seed := range uint64(5) {
			e := judgetest.Of(c.op, c.shape, tensor.Normal, false)
			p, in := e.Inputs(t, seed)
			x, more := in[0].Data, in[len(in)-1].Data
			right := each(len(x), c.right(p, x, more))
			assert.True(t, e.Judge(p, in, right).Passed, c.op.Name)
			assert.Contains(t, e.Judge(p, in, each(len(x), c.wrong(p, x, more))).Reason, c.says, c.op.Name)
			nudged := append([]float32(nil), right...)
			nudged[len(x)-1] += 1e-3
			assert.False(t, e.Judge(p, in, nudged).Passed, c.op.Name)
			nudged[len(x)-1] = math.Float32frombits(judge.Poison)
			assert.Contains(t, e.Judge(p, in, nudged).Reason, "1 of", c.op.Name)
			assert.Contains(t, e.Judge(p, in, nudged).Reason, "never written", c.op.Name)
			nudged[len(x)-1] = float32(math.NaN())
			assert.False(t, e.Judge(p, in, nudged).Passed, "NaN, "+c.op.Name)
		}
	}
}

func TestSums(t *testing.T) {
	for _, c := range []struct {
		op    judge.Op
		shape []int
		n     int
	}{{Ops[4], []int{17}, block}, {Ops[6], []int{7}, side}} {
		for seed := range uint64(20) {
			e := judgetest.Of(c.op, c.shape, tensor.Normal, false)
			p, in := e.Inputs(t, seed)
			right := halved(in[0].Data, c.n)
			assert.True(t, e.Judge(p, in, right).Passed, "%s, seed %d", c.op.Name, seed)
			assert.False(t, e.Judge(p, in, judgetest.RoundedAll(right)).Passed, "11 bits, %s, seed %d", c.op.Name, seed)
		}
	}
	e := judgetest.Of(Ops[4], []int{3}, tensor.Normal, false)
	p, in := e.Inputs(t, 1)
	for _, m := range sumMistakes(in[0].Data) {
		assert.Equal(t, m.Says, e.Judge(p, in, judge.Narrow(m.Whole())).Reason)
	}
}

// halved adds rows up as the puzzle's picture does.
func halved(x []float32, n int) (y []float32) {
	part := append([]float32(nil), x...)
	for row := 0; row < len(x); row += n {
		for half := n / 2; half > 0; half /= 2 {
			for i := row; i < row+half; i++ {
				part[i] += part[i+half]
			}
		}
		y = append(y, part[row])
	}
	return y
}

func TestTheFirstPuzzleHasOneBlock(t *testing.T) {
	_, err := Ops[0].Case(judge.Spec{Shape: []int{257}, Dist: tensor.Normal}, 1, 0)
	assert.ErrorContains(t, err, "at most 256")
	_, err = Ops[1].Case(judge.Spec{Shape: []int{257}, Dist: tensor.Normal}, 1, 0)
	assert.NoError(t, err)
}
