package ops

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/oracle"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

var layers = []example{
	{layer, []int{1, 1, 1, 1, 1, 1}, tensor.Normal, false},
	{layer, []int{3, 17, 3, 20, 2, 17}, tensor.Normal, false},
	{layer, []int{1, 113, 2, 8, 1, 4}, tensor.Uniform, false},
	{ragged, []int{3, 5, 4, 24, 3, 8}, tensor.Normal, false},
	{prompt, []int{3, 17, 20, 2, 17}, tensor.Normal, false},
}

var models = []example{
	{model, []int{2, 9, 3, 2, 3, 8, 40, 61}, tensor.Uniform, false},
	{fresh, []int{2, 8, 1, 3, 1, 2, 8, 24, 17}, tensor.Uniform, false},
}

// calls are those of a layer that does all it should.
func calls(without ...string) map[string]uint64 {
	n := map[string]uint64{}
	for _, pass := range []string{wire.PromptPass, wire.FirstPass, wire.StepPass} {
		for _, call := range []string{wire.CallForward, wire.CallQKV, wire.CallUpdate, wire.CallOut} {
			n[wire.CallName(pass, call)] = 2
		}
	}
	n[wire.CallName(wire.PromptPass, wire.CallPrefill)] = 2
	n[wire.CallName(wire.StepPass, wire.CallDecode)] = 2
	for _, name := range without {
		delete(n, name)
	}
	return n
}

func (e example) judgeCalls(c wire.Case, in []*tensor.Tensor, got []float32, n map[string]uint64) Verdict {
	return e.op.Judge(c, in, wire.Output{Tensors: []*tensor.Tensor{{Shape: c.Outputs[0].Shape, Data: got}}, Counts: n})
}

func noSlip(int) oracle.Slip { return oracle.Slip{} }

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
			c, in := e.inputs(t, seed)
			v := e.judgeCalls(c, in, outputs[float32](backwards(newLayerCase(c, in)), noSlip), calls())
			assert.True(t, v.Passed, "%v seed %d: %v %v", e, seed, v.Reason, v.Details)
		}
	}
}

func TestFewerBitsFailPasses(t *testing.T) {
	for _, e := range layers[1:] {
		c, in := e.inputs(t, 1)
		l := newLayerCase(c, in)
		assert.False(t, e.judgeCalls(c, in, roundedAll(outputs[float32](l, noSlip)), calls()).Passed, e.String())
		l.V = roundedAll(l.V)
		assert.False(t, e.judgeCalls(c, in, outputs[float32](l, noSlip), calls()).Passed, "weights of 11 bits, %v", e)
	}
	for _, e := range models {
		c, in := e.inputs(t, 1)
		m := exampleModel(t, c, in)
		right := logits[float32](m, noSlip)
		assert.True(t, e.judgeCalls(c, in, right, calls()).Passed)
		v := e.judgeCalls(c, in, roundedAll(right), calls())
		assert.False(t, v.Passed)
		assert.Contains(t, v.Reason, "nearly right", e.String())
	}
}

func exampleModel(t *testing.T, c wire.Case, in []*tensor.Tensor) modelCase {
	m, err := newModelCase(c, in)
	require.NoError(t, err)
	return m
}

// TestEverySlipIsCalledByItsName, in a layer and in a model.
func TestEverySlipIsCalledByItsName(t *testing.T) {
	e := example{layer, []int{2, 7, 4, 24, 3, 8}, tensor.Normal, false}
	c, in := e.inputs(t, 3)
	l := newLayerCase(c, in)
	for _, m := range (passes{mergesInto: true}).slips() {
		v := e.judgeCalls(c, in, narrowed(outputs[float64](l, m.slip)), calls())
		assert.Equal(t, m.says, v.Reason)
	}
	e = models[0]
	c, in = e.inputs(t, 3)
	for _, m := range (passes{}).slips() {
		v := e.judgeCalls(c, in, narrowed(logits[float64](exampleModel(t, c, in), m.slip)), calls())
		assert.Equal(t, m.says, v.Reason)
	}
}

func TestWhereAnOutputIsWrong(t *testing.T) {
	e := example{layer, []int{2, 5, 4, 6, 1, 6}, tensor.Normal, false}
	c, in := e.inputs(t, 3)
	right := outputs[float32](newLayerCase(c, in), noSlip)
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
		v := e.judgeCalls(c, in, spoilt(x.rows...), calls())
		assert.Contains(t, v.Reason, x.says, "%v", x.rows)
	}
	assert.Equal(t, "every element is 0", e.judgeCalls(c, in, make([]float32, len(right)), calls()).Reason)

	e = models[1]
	c, in = e.inputs(t, 3)
	y := logits[float32](exampleModel(t, c, in), noSlip)
	y[4*17] += 2 // the second sequence's first logits
	assert.Contains(t, e.judgeCalls(c, in, y, calls()).Reason, "another sequence's cache")
}

func TestWhatLayersCall(t *testing.T) {
	e := example{rightKernels, []int{2, 5, 4, 6, 1, 6}, tensor.Normal, false}
	c, in := e.inputs(t, 3)
	right := outputs[float32](newLayerCase(c, in), noSlip)
	assert.True(t, e.judgeCalls(c, in, right, calls()).Passed)

	prefillInSteps := calls()
	prefillInSteps[wire.CallName(wire.StepPass, wire.CallPrefill)] = 1
	v := e.judgeCalls(c, in, right, prefillInSteps)
	assert.False(t, v.Passed)
	assert.Contains(t, v.Reason, "the values are right, but the prefill kernel is used for decoding, once")

	decodeInPrompts := calls()
	decodeInPrompts[wire.CallName(wire.PromptPass, wire.CallDecode)] = 5
	assert.Contains(t, e.judgeCalls(c, in, right, decodeInPrompts).Reason, "the decoding kernel is used for a prompt, 5 times")
	assert.Contains(t, e.judgeCalls(c, in, right, nil).Reason, "not by the kernels that New is given", "a worker that counts nothing")

	c.Op = layer.Name
	assert.True(t, e.judgeCalls(c, in, right, prefillInSteps).Passed, "only one check minds")
	for _, pass := range []string{wire.PromptPass, wire.StepPass} {
		own := calls(wire.CallName(pass, wire.CallPrefill), wire.CallName(pass, wire.CallDecode))
		assert.Contains(t, e.judgeCalls(c, in, right, own).Reason, "not by the kernels that New is given")
	}

	wrong := make([]float32, len(right))
	copy(wrong, right)
	wrong[len(wrong)-1] += 1
	for call, says := range map[string]string{
		wire.LateUpdate: "Decode came before Update", wire.WrongSlots: "other slots than s.Before", wire.WrongKeys: "other lengths than s.After",
		wire.OtherCache: "another layer's", wire.WrongCount: "another count than s.Count",
	} {
		n := calls()
		n[wire.CallName(wire.StepPass, call)] = 1
		assert.Contains(t, e.judgeCalls(c, in, wrong, n).Reason, says)
		assert.True(t, e.judgeCalls(c, in, right, n).Passed, "values decide: %s", call)
	}
	for _, call := range []string{wire.CallQKV, wire.CallUpdate, wire.CallOut} {
		v := e.judgeCalls(c, in, wrong, calls(wire.CallName(wire.StepPass, call)))
		assert.Contains(t, v.Reason, "in a decoding step:", call)
	}
}
