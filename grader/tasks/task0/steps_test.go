package task0

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/tensor"
)

// stepped are the steps' right rows in plain float32, as a kernel makes them.
var stepped = []struct {
	op    judge.Op
	right func(x []float32) []float64
}{
	{walk, judge.Wide},
	{parts, func(x []float32) []float64 { return partsOf(x, asFloat32) }},
	{total, func(x []float32) []float64 { return judge.Wide(halved(judge.Narrow(partsOf(x, asFloat32)), block)) }},
	{centre, func(x []float32) []float64 {
		mean := halved(judge.Narrow(partsOf(x, asFloat32)), block)[0] / float32(len(x))
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = float64(v - mean)
		}
		return y
	}},
}

func TestSteps(t *testing.T) {
	for _, c := range stepped {
		for seed := range uint64(20) {
			for _, shape := range [][]int{{1, 1}, {1, 113}, {3, 256}, {17, 700}} {
				e := judgetest.Of(c.op, shape, tensor.Normal, false)
				p, in := e.Inputs(t, seed)
				right := judge.Narrow(rows{in[0].Data, shape[1]}.each(c.right))
				assert.True(t, e.Judge(p, in, right).Passed, "%s %v, seed %d", c.op.Name, shape, seed)
				if shape[0] < 17 { // a few sums may be round by luck
					continue
				}
				assert.False(t, e.Judge(p, in, judgetest.RoundedAll(right)).Passed, "11 bits, %s %v, seed %d", c.op.Name, shape, seed)
				right[len(right)-1] = float32(math.NaN())
				assert.False(t, e.Judge(p, in, right).Passed, c.op.Name)
			}
		}
	}
}

// Each mistake's output is called by its own name, in rows that are longer than a block.
func TestMistakesInSteps(t *testing.T) {
	for _, c := range []struct {
		op    judge.Op
		known func(r rows) []judge.Mistake
	}{{walk, walkMistakes}, {parts, partsMistakes}, {total, totalMistakes}, {centre, centreMistakes}} {
		e := judgetest.Of(c.op, []int{3, 1000}, tensor.Normal, false)
		p, in := e.Inputs(t, 1)
		known := c.known(rows{in[0].Data, 1000})
		assert.NotEmpty(t, known)
		for _, m := range known {
			assert.Equal(t, m.Says, e.Judge(p, in, judge.Narrow(m.Whole())).Reason, c.op.Name)
		}
	}
}

func TestOneRoundOfAWalk(t *testing.T) {
	poison := math.Float32frombits(judge.Poison)
	for _, op := range []judge.Op{walk, centre} {
		for _, n := range []int{256, 257, 1000} {
			e := judgetest.Of(op, []int{2, n}, tensor.Normal, false)
			p, in := e.Inputs(t, 1)
			y := make([]float32, 2*n)
			for i := range y {
				if y[i] = in[0].Data[i]; i%n >= 256 {
					y[i] = poison
				}
			}
			if n > 256 {
				assert.Contains(t, e.Judge(p, in, y).Reason, "a loop takes a thread on", "%s %d", op.Name, n)
			}
			y[3] = poison
			assert.Contains(t, e.Judge(p, in, y).Reason, "never written", "%s %d", op.Name, n)
		}
	}
}
