package task6

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/task6/sizes"
	"flashlab/tensor"
)

var layers = []judgetest.Example{
	judgetest.Of(layer, []int{1, 1, 1, 1, 1, 1}, tensor.Normal, false),
	judgetest.Of(layer, []int{3, 17, 3, 20, 2, 17}, tensor.Normal, false),
	judgetest.Of(layer, []int{1, 113, 2, 8, 1, 4}, tensor.Uniform, false),
	judgetest.Of(ragged, []int{3, 5, 4, 24, 3, 8}, tensor.Normal, false),
	judgetest.Of(prompt, []int{3, 17, 20, 2, 17}, tensor.Normal, false),
}

var models = []judgetest.Example{
	judgetest.Of(model, []int{2, 9, 3, 2, 3, 8, 40, 61}, tensor.Uniform, false),
	judgetest.Of(fresh, []int{2, 8, 1, 3, 1, 2, 8, 24, 17}, tensor.Uniform, false),
}

// calls are those of a layer that does everything it should.
func calls(without ...string) map[string]uint64 {
	n := map[string]uint64{}
	for _, pass := range []string{sizes.PromptPass, sizes.FirstPass, sizes.StepPass} {
		for _, call := range []string{sizes.CallForward, sizes.CallQKV, sizes.CallUpdate, sizes.CallOut} {
			n[sizes.CallName(pass, call)] = 2
		}
	}
	n[sizes.CallName(sizes.PromptPass, sizes.CallPrefill)] = 2
	n[sizes.CallName(sizes.FirstPass, sizes.CallDecode)] = 2
	n[sizes.CallName(sizes.StepPass, sizes.CallDecode)] = 2
	for _, name := range without {
		delete(n, name)
	}
	return n
}

func judgeCalls(e judgetest.Example, c problem.Problem, in []*tensor.Tensor, got []float32, n map[string]uint64) judge.Ruling {
	return e.Op.Judge(c, in, problem.Answer{Tensors: []*tensor.Tensor{{Shape: c.Outputs[0].Shape, Data: got}}, Counts: n})
}

func noSlip(int) Slip { return Slip{} }

// backwards is the same layer with hidden's elements in the other order, so
// that sums run the other way.
func backwards(l layerCase) layerCase {
	turn := func(x []float32) []float32 {
		y := make([]float32, len(x))
		for i := range x {
			row := i / l.Hidden * l.Hidden
			y[row+l.Hidden-1-(i-row)] = x[i]
		}
		return y
	}
	l.x, l.Q, l.K, l.V = turn(l.x), turn(l.Q), turn(l.K), turn(l.V)
	return l
}

func TestFloat32PassesLayers(t *testing.T) {
	for _, e := range layers {
		for seed := range uint64(6) {
			c, in := e.Inputs(t, seed)
			v := judgeCalls(e, c, in, outputs[float32](backwards(exampleLayer(t, c, in)), noSlip), calls())
			assert.True(t, v.Passed, "%v seed %d: %v %v", e, seed, v.Reason, v.Details)
		}
	}
}

func TestFewerBitsFailPasses(t *testing.T) {
	for _, e := range layers[1:] {
		c, in := e.Inputs(t, 1)
		l := exampleLayer(t, c, in)
		assert.False(t, judgeCalls(e, c, in, judgetest.RoundedAll(outputs[float32](l, noSlip)), calls()).Passed, e.String())
		l.V = judgetest.RoundedAll(l.V)
		assert.False(t, judgeCalls(e, c, in, outputs[float32](l, noSlip), calls()).Passed, "weights of 11 bits, %v", e)
	}
	for _, e := range models {
		c, in := e.Inputs(t, 1)
		m := exampleModel(t, c, in)
		right := logits[float32](m, noSlip)
		assert.True(t, judgeCalls(e, c, in, right, calls()).Passed)
		v := judgeCalls(e, c, in, judgetest.RoundedAll(right), calls())
		assert.False(t, v.Passed)
		assert.Contains(t, v.Reason, "nearly right", e.String())
	}
}

func exampleLayer(t *testing.T, c problem.Problem, in []*tensor.Tensor) layerCase {
	l, err := newLayerCase(c, in)
	require.NoError(t, err)
	return l
}

func exampleModel(t *testing.T, c problem.Problem, in []*tensor.Tensor) modelCase {
	m, err := newModelCase(c, in)
	require.NoError(t, err)
	return m
}

// TestEverySlipIsCalledByItsName, in a layer and in a model.
func TestEverySlipIsCalledByItsName(t *testing.T) {
	e := judgetest.Of(layer, []int{2, 7, 4, 24, 3, 8}, tensor.Normal, false)
	c, in := e.Inputs(t, 3)
	l := exampleLayer(t, c, in)
	for _, m := range (Passes{mergesInto: true, Try: func(slip func(int) Slip) []float64 { return outputs[float64](l, slip) }}).slips() {
		v := judgeCalls(e, c, in, judge.Narrow(m.Whole()), calls())
		assert.Equal(t, m.Says, v.Reason)
	}
	e = models[0]
	c, in = e.Inputs(t, 3)
	model := exampleModel(t, c, in)
	for _, m := range (Passes{Try: func(slip func(int) Slip) []float64 { return logits[float64](model, slip) }}).slips() {
		v := judgeCalls(e, c, in, judge.Narrow(m.Whole()), calls())
		assert.Equal(t, m.Says, v.Reason)
	}
}

func TestWhereAnOutputIsWrong(t *testing.T) {
	e := judgetest.Of(layer, []int{2, 5, 4, 6, 1, 6}, tensor.Normal, false)
	c, in := e.Inputs(t, 3)
	right := outputs[float32](exampleLayer(t, c, in), noSlip)
	spoilt := func(rows ...int) []float32 {
		y := append([]float32{}, right...)
		for _, r := range rows {
			y[r*6+2] += 3
		}
		return y
	}
	for _, x := range []struct {
		rows []int
		says string
	}{
		{[]int{0, 1, 2, 3, 4}, "the prompt is wrong already"},
		{[]int{0, 1}, "the prompt's last token is right"},
		{[]int{2, 3}, "the prompt is wrong from its token 2 on"},
		{[]int{5, 6, 14}, "the prompt is right, the first decoded token is not"},
		{[]int{6, 7}, "off from the second decoded step"},
		{[]int{8}, "the prompt and 3 steps are right, step 3 is not"},
		{[]int{15, 16}, "off from the second decoded step: does each step's token go into its own slot of the cache, s.Before?; only sequences from 1 on are wrong"},
	} {
		v := judgeCalls(e, c, in, spoilt(x.rows...), calls())
		assert.Contains(t, v.Reason, x.says, "%v", x.rows)
	}
	assert.Equal(t, "every element is 0", judgeCalls(e, c, in, make([]float32, len(right)), calls()).Reason)

	e = models[1]
	c, in = e.Inputs(t, 3)
	y := logits[float32](exampleModel(t, c, in), noSlip)
	y[4*17] += 2 // the second sequence's first logits
	assert.Contains(t, judgeCalls(e, c, in, y, calls()).Reason, "another sequence's cache")
}

func TestWhatLayersCall(t *testing.T) {
	e := judgetest.Of(rightKernels, []int{2, 5, 4, 6, 1, 6}, tensor.Normal, false)
	c, in := e.Inputs(t, 3)
	right := outputs[float32](exampleLayer(t, c, in), noSlip)
	assert.True(t, judgeCalls(e, c, in, right, calls()).Passed)

	prefillInSteps := calls()
	prefillInSteps[sizes.CallName(sizes.StepPass, sizes.CallPrefill)] = 1
	v := judgeCalls(e, c, in, right, prefillInSteps)
	assert.False(t, v.Passed)
	assert.Contains(t, v.Reason, "the values are right, but the prefill kernel is used for decoding, once")

	decodeInPrompts := calls()
	decodeInPrompts[sizes.CallName(sizes.PromptPass, sizes.CallDecode)] = 5
	assert.Contains(t, judgeCalls(e, c, in, right, decodeInPrompts).Reason, "the decoding kernel is used for a prompt, 5 times")

	c.Op = layer.Name
	assert.True(t, judgeCalls(e, c, in, right, prefillInSteps).Passed, "only one check minds")

	wrong := make([]float32, len(right))
	copy(wrong, right)
	wrong[len(wrong)-1] += 1
	for call, says := range map[string]string{
		sizes.LateUpdate: "Decode came before Update", sizes.WrongSlots: "other slots than s.Before", sizes.WrongKeys: "other lengths than s.After",
		sizes.OtherCache: "another layer's", sizes.WrongCount: "another count than s.Count",
	} {
		n := calls()
		n[sizes.CallName(sizes.StepPass, call)] = 1
		assert.Contains(t, judgeCalls(e, c, in, wrong, n).Reason, says)
		assert.True(t, judgeCalls(e, c, in, right, n).Passed, "values decide: %s", call)
	}
	for _, pass := range []string{sizes.PromptPass, sizes.FirstPass, sizes.StepPass} {
		own := calls(sizes.CallName(pass, sizes.CallPrefill), sizes.CallName(pass, sizes.CallDecode))
		assert.Contains(t, judgeCalls(e, c, in, wrong, own).Reason, "not by the kernels that New is given")
	}
	for _, call := range []string{sizes.CallQKV, sizes.CallUpdate, sizes.CallOut} {
		v := judgeCalls(e, c, in, wrong, calls(sizes.CallName(sizes.StepPass, call)))
		assert.Contains(t, v.Reason, "in a decoding step:", call)
	}
}

// TestAttentionFromElsewhereIsWrong: the values of a layer that does not follow the case's factors, whatever it calls.
func TestAttentionFromElsewhereIsWrong(t *testing.T) {
	for _, e := range layers {
		c, in := e.Inputs(t, 2)
		l := exampleLayer(t, c, in)
		assert.True(t, judgeCalls(e, c, in, outputs[float32](l, noSlip), calls()).Passed, e.String())
		l.Tint = nil
		assert.False(t, judgeCalls(e, c, in, outputs[float32](l, noSlip), calls()).Passed, e.String())
	}
	for _, e := range models {
		c, in := e.Inputs(t, 2)
		m := exampleModel(t, c, in)
		for i := range m.oracle.blocks {
			m.oracle.blocks[i].attention.Tint = nil
		}
		assert.False(t, judgeCalls(e, c, in, logits[float32](m, noSlip), calls()).Passed, e.String())
	}
}
