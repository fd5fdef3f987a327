package ops

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/oracle"
	"flashlab/grader/wire"
	"flashlab/nn/gpt2"
	"flashlab/tensor"
)

// gpt2Answers are logits of a case in float32, with a mistake or without.
func gpt2Answers(t *testing.T, p prepared) func(s oracle.Slip) []float32 {
	w, err := gpt2.Random(p.c.GPT2(), p.c.Seed)
	require.NoError(t, err)
	m, err := gpt2Oracle(w)
	require.NoError(t, err)
	tokens := wire.Tokens(p.in[0].Data, w.Config().Vocabulary)
	return func(s oracle.Slip) []float32 {
		return oracle.GPT2Logits[float32](m, tokens, p.c.Sizes["prompt"]-1, s)
	}
}

func TestGPT2InFloat32IsRight(t *testing.T) {
	for seed := range uint64(10) {
		p := prepare(t, gpt2Logits, Spec{Shape: []int{2, 2, 8, 33, 5, 3}, Dist: tensor.Normal}, seed)
		answer := gpt2Answers(t, p)
		right := answer(oracle.Slip{})
		v := p.answer(t, used, right, right, right)
		assert.True(t, v.Passed, v.Reason)
		off := append([]float32{}, right...)
		off[40] *= 1.001
		assert.False(t, p.answer(t, used, off, right, right).Passed)
		assert.Contains(t, p.judge(t, right, right, right).Reason, "not by the kernels")
	}
}

// used are the calls of a layer that takes the right kernels.
var used = map[string]uint64{
	wire.CallName(wire.PromptPass, wire.CallForward): 1, wire.CallName(wire.PromptPass, wire.CallPrefill): 1,
	wire.CallName(wire.StepPass, wire.CallForward): 1, wire.CallName(wire.StepPass, wire.CallDecode): 1,
	wire.CallName(wire.PromptPass, wire.CallQKV): 1, wire.CallName(wire.PromptPass, wire.CallUpdate): 1, wire.CallName(wire.PromptPass, wire.CallOut): 1,
	wire.CallName(wire.StepPass, wire.CallQKV): 1, wire.CallName(wire.StepPass, wire.CallUpdate): 1, wire.CallName(wire.StepPass, wire.CallOut): 1,
}

// TestGPT2NamesTheTask: of the three ways to run the model, the first that is
// right tells whose mistake it is.
func TestGPT2NamesTheTask(t *testing.T) {
	p := prepare(t, gpt2Logits, Spec{Shape: []int{2, 2, 8, 33, 5, 3}, Dist: tensor.Normal}, 1)
	answer := gpt2Answers(t, p)
	right := answer(oracle.Slip{})
	wrong := answer(oracle.Slip{Sees: func(i, j int) bool { return j <= i && (i < 5 || j < i) }})
	unmasked := answer(oracle.Slip{Sees: func(i, j int) bool { return j <= i || i < 5 && j < 5 }})
	for _, c := range []struct {
		outputs [3][]float32
		want    []string
	}{
		{[3][]float32{wrong, wrong, wrong}, []string{"task 6's layer", "does not see itself"}},
		{[3][]float32{unmasked, right, unmasked}, []string{"task 4's kernel", "the mask is missing"}},
		{[3][]float32{wrong, right, right}, []string{"task 5's kernels", "does not see itself"}},
		{[3][]float32{make([]float32, len(right)), right, right}, []string{"task 5's kernels", "every element is 0"}},
	} {
		v := p.answer(t, used, c.outputs[0], c.outputs[1], c.outputs[2])
		assert.False(t, v.Passed)
		for _, want := range c.want {
			assert.Contains(t, v.Reason, want)
		}
	}
}

func TestGPT2TextIsTheLikeliest(t *testing.T) {
	p := prepare(t, gpt2Text, Spec{Shape: []int{4, 5}, Dist: tensor.Normal}, 3)
	b, err := bundled()
	require.NoError(t, err)
	text := whole(p.in[0].Data)
	for range 5 {
		logits := oracle.GPT2Logits[float64](b.oracle, text, len(text)-1, oracle.Slip{})
		best := 0
		for i, v := range logits {
			if v > logits[best] {
				best = i
			}
		}
		text = append(text, best)
	}
	var right []float32
	for _, token := range text[4:] {
		right = append(right, float32(token))
	}
	v := p.judge(t, right)
	assert.True(t, v.Passed, v.Reason)

	other := func(i int, token float32) []float32 {
		x := append([]float32{}, right...)
		x[i] = token
		return x
	}
	next := func(i int) float32 { return float32((int(right[i]) + 1) % b.Vocabulary) }
	assert.Contains(t, p.judge(t, other(0, next(0))).Reason, "from token 0 on: the prompt's pass is wrong")
	assert.Contains(t, p.judge(t, other(3, next(3))).Reason, "from token 3 on")
	assert.Contains(t, p.judge(t, other(2, -1)).Reason, "token 2 is -1")
	assert.Contains(t, p.judge(t, other(2, 1e9)).Reason, "token 2 is 1e+09")
}

func TestGPT2TextFitsTheModel(t *testing.T) {
	_, err := gpt2Text.Case(Spec{Shape: []int{400, 500}, Dist: tensor.Normal}, 1, 1)
	assert.ErrorContains(t, err, "positions")
}
