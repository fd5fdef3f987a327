package ops

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/attn"
	"flashlab/grader/oracle"
	"flashlab/tensor"
)

func TestStepsThatMove(t *testing.T) {
	negInf := float32(math.Inf(-1))
	s := attn.Shape{SeqQ: 3, SeqK: 5, Causal: true}
	for _, x := range []struct {
		e       example
		right   func(x []float32) []float32
		mistake func(x []float32) []float32
		says    string
	}{
		{example{splitHeads, []int{2, 3, 4, 5}, tensor.Normal, false},
			func(x []float32) []float32 { return splitUp(x, 2, 3, 4, 5) },
			func(x []float32) []float32 { return x }, "a change of shape alone"},
		{example{splitHeads, []int{2, 3, 4, 5}, tensor.Normal, false},
			func(x []float32) []float32 { return splitUp(x, 2, 3, 4, 5) },
			func(x []float32) []float32 { return every(x, 2, 3, 4, 5) }, "every heads-th"},
		{example{mergeHeads, []int{2, 4, 3, 5}, tensor.Normal, false},
			func(x []float32) []float32 { return joinUp(x, 2, 3, 4, 5) },
			func(x []float32) []float32 { return transposeAll(joinUp(x, 2, 3, 4, 5), 4, 5) }, "in the wrong order"},
		{example{causalMask, []int{1, 2, 3, 5}, tensor.Normal, false},
			func(x []float32) []float32 { return hidden(x, s, negInf, s.Sees) },
			func(x []float32) []float32 { return hidden(x, s, 0, s.Sees) }, "put -Inf there"},
		{example{causalMask, []int{1, 2, 3, 5}, tensor.Normal, false},
			func(x []float32) []float32 { return hidden(x, s, negInf, s.Sees) },
			func(x []float32) []float32 { return hidden(x, s, negInf, func(i, j int) bool { return j <= i+3 }) }, "one key too many"},
		{example{causalMask, []int{1, 2, 3, 5}, tensor.Normal, false},
			func(x []float32) []float32 { return hidden(x, s, negInf, s.Sees) },
			func(x []float32) []float32 { return hidden(x, s, negInf, func(i, j int) bool { return j <= i }) }, "wrong corner"},
	} {
		c, in := x.e.inputs(t, 1)
		assert.True(t, x.e.judge(c, in, x.right(in[0].Data)).Passed, "%v", x.e)
		v := x.e.judge(c, in, x.mistake(in[0].Data))
		assert.False(t, v.Passed, "%v", x.e)
		assert.Contains(t, v.Reason, x.says, "%v", x.e)
		assert.Contains(t, v.Details[1], "first at", "%v", x.e)
		nudged := x.right(in[0].Data)
		nudged[0] += 1e-6
		assert.False(t, x.e.judge(c, in, nudged).Passed, "numbers that are only moved must be exact: %v", x.e)
	}
}

func TestSplitAndMergeUndoEachOther(t *testing.T) {
	x := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	y := splitUp(x, 1, 3, 2, 2)
	assert.Equal(t, []int{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11}, y)
	assert.Equal(t, x, joinUp(y, 1, 3, 2, 2))
}

// calculated are the steps that round, each with a plain float32 program.
var calculated = []struct {
	e     example
	plain func(e example, in []*tensor.Tensor) []float32
}{
	{example{scores, []int{2, 3, 17, 17, 5}, tensor.Normal, false}, plainScores},
	{example{scores, []int{2, 2, 17, 17, 64}, tensor.Large, false}, plainScores},
	{example{softmaxRows, []int{1, 7, 31, 31}, tensor.Large, true}, plainSoftmax},
	{example{softmaxRows, []int{1, 3, 17, 113}, tensor.Masked, false}, plainSoftmax},
	{example{weightedSum, []int{1, 2, 17, 113, 64}, tensor.Normal, false}, plainSum},
	{example{weightedSum, []int{1, 7, 31, 31, 17}, tensor.Normal, true}, plainSum},
	{example{multihead, []int{2, 3, 17, 17, 5}, tensor.Normal, true}, plainHeads},
	{example{multihead, []int{1, 2, 31, 31, 64}, tensor.OneHot, true}, plainHeads},
}

func plainScores(e example, in []*tensor.Tensor) []float32 {
	s := e.shape
	y := oracle.Gemm32(in[0].Data, in[1].Data, attn.GemmShape{Batch: s[0] * s[1], M: s[2], N: s[3], K: s[4], TransB: true})
	for i := range y {
		y[i] /= float32(math.Sqrt(float64(s[4])))
	}
	return y
}

func plainSoftmax(e example, in []*tensor.Tensor) []float32 {
	n := e.shape[3]
	return oracle.Softmax32(in[0].Data, oracle.Layout{Outer: len(in[0].Data) / n, Len: n, Inner: 1})
}

func plainSum(e example, in []*tensor.Tensor) []float32 {
	s := e.shape
	return oracle.Gemm32(in[0].Data, in[1].Data, attn.GemmShape{Batch: s[0] * s[1], M: s[2], N: s[4], K: s[3]})
}

func plainHeads(e example, in []*tensor.Tensor) []float32 {
	b, h, sq, sk, d := e.shape[0], e.shape[1], e.shape[2], e.shape[3], e.shape[4]
	s := attn.Shape{Batch: b, Heads: h, KVHeads: h, SeqQ: sq, SeqK: sk, Dim: d, Causal: e.causal}
	return joinUp(oracle.Attention32(splitUp(in[0].Data, b, sq, h, d), splitUp(in[1].Data, b, sk, h, d), splitUp(in[2].Data, b, sk, h, d), s), b, sq, h, d)
}

func TestStepsThatCalculate(t *testing.T) {
	for _, x := range calculated {
		for seed := range uint64(20) {
			c, in := x.e.inputs(t, seed)
			v := x.e.judge(c, in, x.plain(x.e, in))
			assert.True(t, v.Passed, "%v seed %d: %v", x.e, seed, v.Details)
		}
		c, in := x.e.inputs(t, 1)
		right := x.plain(x.e, in)
		assert.False(t, x.e.judge(c, in, roundedAll(right)).Passed, "11 bits, %v", x.e)
		assert.Contains(t, x.e.judge(c, in, make([]float32, len(right))).Reason, "every element is 0", "%v", x.e)
	}
}

func TestPatternsOfSteps(t *testing.T) {
	says := func(e example, want string, mistake func(in []*tensor.Tensor) []float32) {
		t.Helper()
		c, in := e.inputs(t, 1)
		v := e.judge(c, in, mistake(in))
		assert.False(t, v.Passed)
		assert.Contains(t, v.Reason, want)
	}
	e := example{scores, []int{2, 3, 7, 7, 5}, tensor.Normal, false}
	says(e, "not divided", func(in []*tensor.Tensor) []float32 { return multiplied(plainScores(e, in), math.Sqrt(5)) })
	says(e, "instead of its root", func(in []*tensor.Tensor) []float32 { return multiplied(plainScores(e, in), 1/math.Sqrt(5)) })
	says(e, "transposed", func(in []*tensor.Tensor) []float32 { return transposeAll(plainScores(e, in), 7, 7) })

	e = example{multihead, []int{2, 3, 7, 7, 5}, tensor.Normal, true}
	says(e, "not merged", func(in []*tensor.Tensor) []float32 { return splitUp(plainHeads(e, in), 2, 7, 3, 5) })
	says(e, "a single head", func(in []*tensor.Tensor) []float32 {
		one := example{multihead, []int{2, 1, 7, 7, 15}, tensor.Normal, true}
		return plainHeads(one, in)
	})
	says(e, "causal mask is not applied", func(in []*tensor.Tensor) []float32 {
		full := e
		full.causal = false
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
