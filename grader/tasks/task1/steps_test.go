package task1

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

func TestStepsThatMove(t *testing.T) {
	negInf := float32(math.Inf(-1))
	s := attn.Shape{SeqQ: 3, SeqK: 5, Causal: true}
	for _, x := range []struct {
		e       judgetest.Example
		right   func(x []float32) []float32
		mistake func(x []float32) []float32
		says    string
	}{
		{judgetest.Of(splitHeads, []int{2, 3, 4, 5}, tensor.Normal, false),
			func(x []float32) []float32 { return shared.SplitUp(x, 2, 3, 4, 5) },
			func(x []float32) []float32 { return x }, "a change of shape alone"},
		{judgetest.Of(splitHeads, []int{2, 3, 4, 5}, tensor.Normal, false),
			func(x []float32) []float32 { return shared.SplitUp(x, 2, 3, 4, 5) },
			func(x []float32) []float32 { return shared.Every(x, 2, 3, 4, 5) }, "every heads-th"},
		{judgetest.Of(mergeHeads, []int{2, 4, 3, 5}, tensor.Normal, false),
			func(x []float32) []float32 { return shared.JoinUp(x, 2, 3, 4, 5) },
			func(x []float32) []float32 { return shared.TransposeAll(shared.JoinUp(x, 2, 3, 4, 5), 4, 5) }, "in the wrong order"},
		{judgetest.Of(causalMask, []int{1, 2, 3, 5}, tensor.Normal, false),
			func(x []float32) []float32 { return shared.Hidden(x, s, negInf, s.Sees) },
			func(x []float32) []float32 { return shared.Hidden(x, s, 0, s.Sees) }, "put -Inf there"},
		{judgetest.Of(causalMask, []int{1, 2, 3, 5}, tensor.Normal, false),
			func(x []float32) []float32 { return shared.Hidden(x, s, negInf, s.Sees) },
			func(x []float32) []float32 {
				return shared.Hidden(x, s, negInf, func(i, j int) bool { return j <= i+3 })
			}, "one key too many"},
		{judgetest.Of(causalMask, []int{1, 2, 3, 5}, tensor.Normal, false),
			func(x []float32) []float32 { return shared.Hidden(x, s, negInf, s.Sees) },
			func(x []float32) []float32 { return shared.Hidden(x, s, negInf, func(i, j int) bool { return j <= i }) }, "wrong corner"},
	} {
		c, in := x.e.Inputs(t, 1)
		assert.True(t, x.e.Judge(c, in, x.right(in[0].Data)).Passed, "%v", x.e)
		v := x.e.Judge(c, in, x.mistake(in[0].Data))
		assert.False(t, v.Passed, "%v", x.e)
		assert.Contains(t, v.Reason, x.says, "%v", x.e)
		assert.Contains(t, v.Details[1], "first at", "%v", x.e)
		nudged := x.right(in[0].Data)
		nudged[0] += 1e-6
		assert.False(t, x.e.Judge(c, in, nudged).Passed, "numbers that are only moved must be exact: %v", x.e)
	}
}

func TestSplitAndMergeUndoEachOther(t *testing.T) {
	x := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	y := shared.SplitUp(x, 1, 3, 2, 2)
	assert.Equal(t, []int{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11}, y)
	assert.Equal(t, x, shared.JoinUp(y, 1, 3, 2, 2))
}

// calculated are the steps that round, each with a plain float32 program.
var calculated = []struct {
	e     judgetest.Example
	plain func(e judgetest.Example, in []*tensor.Tensor) []float32
}{
	{judgetest.Of(scores, []int{2, 3, 17, 17, 5}, tensor.Normal, false), plainScores},
	{judgetest.Of(scores, []int{2, 2, 17, 17, 64}, tensor.Large, false), plainScores},
	{judgetest.Of(softmaxRows, []int{1, 7, 31, 31}, tensor.Large, true), plainSoftmax},
	{judgetest.Of(softmaxRows, []int{1, 3, 17, 113}, tensor.Masked, false), plainSoftmax},
	{judgetest.Of(weightedSum, []int{1, 2, 17, 113, 64}, tensor.Normal, false), plainSum},
	{judgetest.Of(weightedSum, []int{1, 7, 31, 31, 17}, tensor.Normal, true), plainSum},
	{judgetest.Of(multihead, []int{2, 3, 17, 17, 5}, tensor.Normal, true), plainHeads},
	{judgetest.Of(multihead, []int{1, 2, 31, 31, 64}, tensor.OneHot, true), plainHeads},
}

func plainScores(e judgetest.Example, in []*tensor.Tensor) []float32 {
	s := e.Shape
	y := shared.Gemm32(in[0].Data, in[1].Data, attn.GemmShape{Batch: s[0] * s[1], M: s[2], N: s[3], K: s[4], TransB: true})
	for i := range y {
		y[i] /= float32(math.Sqrt(float64(s[4])))
	}
	return y
}

func plainSoftmax(e judgetest.Example, in []*tensor.Tensor) []float32 {
	n := e.Shape[3]
	return shared.Softmax32(in[0].Data, judge.Layout{Outer: len(in[0].Data) / n, Len: n, Inner: 1})
}

func plainSum(e judgetest.Example, in []*tensor.Tensor) []float32 {
	s := e.Shape
	return shared.Gemm32(in[0].Data, in[1].Data, attn.GemmShape{Batch: s[0] * s[1], M: s[2], N: s[4], K: s[3]})
}

func plainHeads(e judgetest.Example, in []*tensor.Tensor) []float32 {
	b, h, sq, sk, d := e.Shape[0], e.Shape[1], e.Shape[2], e.Shape[3], e.Shape[4]
	s := attn.Shape{Batch: b, Heads: h, KVHeads: h, SeqQ: sq, SeqK: sk, Dim: d, Causal: e.Causal}
	return shared.JoinUp(shared.Attention32(shared.SplitUp(in[0].Data, b, sq, h, d), shared.SplitUp(in[1].Data, b, sk, h, d), shared.SplitUp(in[2].Data, b, sk, h, d), s), b, sq, h, d)
}

func TestStepsThatCalculate(t *testing.T) {
	for _, x := range calculated {
		for seed := range uint64(20) {
			c, in := x.e.Inputs(t, seed)
			v := x.e.Judge(c, in, x.plain(x.e, in))
			assert.True(t, v.Passed, "%v seed %d: %v", x.e, seed, v.Details)
		}
		c, in := x.e.Inputs(t, 1)
		right := x.plain(x.e, in)
		assert.False(t, x.e.Judge(c, in, judgetest.RoundedAll(right)).Passed, "11 bits, %v", x.e)
		assert.Contains(t, x.e.Judge(c, in, make([]float32, len(right))).Reason, "every element is 0", "%v", x.e)
	}
}

func TestPatternsOfSteps(t *testing.T) {
	says := func(e judgetest.Example, want string, mistake func(in []*tensor.Tensor) []float32) {
		t.Helper()
		c, in := e.Inputs(t, 1)
		v := e.Judge(c, in, mistake(in))
		assert.False(t, v.Passed)
		assert.Contains(t, v.Reason, want)
	}
	e := judgetest.Of(scores, []int{2, 3, 7, 7, 5}, tensor.Normal, false)
	says(e, "not divided", func(in []*tensor.Tensor) []float32 { return multiplied(plainScores(e, in), math.Sqrt(5)) })
	says(e, "instead of its root", func(in []*tensor.Tensor) []float32 { return multiplied(plainScores(e, in), 1/math.Sqrt(5)) })
	says(e, "transposed", func(in []*tensor.Tensor) []float32 { return shared.TransposeAll(plainScores(e, in), 7, 7) })

	e = judgetest.Of(multihead, []int{2, 3, 7, 7, 5}, tensor.Normal, true)
	says(e, "not merged", func(in []*tensor.Tensor) []float32 { return shared.SplitUp(plainHeads(e, in), 2, 7, 3, 5) })
	says(e, "a single head", func(in []*tensor.Tensor) []float32 {
		one := judgetest.Of(multihead, []int{2, 1, 7, 7, 15}, tensor.Normal, true)
		return plainHeads(one, in)
	})
	says(e, "causal mask is not applied", func(in []*tensor.Tensor) []float32 {
		full := e
		full.Causal = false
		return plainHeads(full, in)
	})
}

func multiplied(x []float32, f float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = v * float32(f)
	}
	return y
}
