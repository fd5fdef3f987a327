package task7

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/task6"
	layers "flashlab/grader/tasks/task6/sizes"
	"flashlab/grader/tasks/task7/sizes"
	"flashlab/nn/gpt2"
	"flashlab/tensor"
)

// gpt2Answers are logits of a case in float32, with a mistake or without.
func gpt2Answers(t *testing.T, p judgetest.Prepared) func(s task6.Slip) []float32 {
	w, err := gpt2.Random(sizes.GPT2(p.C), p.C.Seed)
	require.NoError(t, err)
	plain, err := gpt2Oracle(w)
	require.NoError(t, err)
	m, err := plain.tinted(p.C)
	require.NoError(t, err)
	tokens := problem.Tokens(p.In[0].Data, w.Config().Vocabulary)
	return func(s task6.Slip) []float32 {
		return GPT2Logits[float32](m, tokens, p.C.Sizes["prompt"]-1, s)
	}
}

func TestGPT2InFloat32IsRight(t *testing.T) {
	for seed := range uint64(10) {
		p := judgetest.Prepare(t, gpt2Logits, judge.Spec{Shape: []int{2, 2, 8, 33, 5, 3}, Dist: tensor.Normal}, seed)
		answer := gpt2Answers(t, p)
		right := answer(task6.Slip{})
		v := p.Answer(t, used, right)
		assert.True(t, v.Passed, v.Reason)
		off := append([]float32{}, right...)
		off[40] *= 1.001
		assert.False(t, p.Answer(t, used, off).Passed)
		assert.Contains(t, p.Judge(t, off).Reason, "not by the kernels")
	}
}

// used are the calls of a layer that takes the right kernels.
var used = map[string]uint64{
	layers.CallName(layers.PromptPass, layers.CallForward): 1, layers.CallName(layers.PromptPass, layers.CallPrefill): 1,
	layers.CallName(layers.StepPass, layers.CallForward): 1, layers.CallName(layers.StepPass, layers.CallDecode): 1,
	layers.CallName(layers.PromptPass, layers.CallQKV): 1, layers.CallName(layers.PromptPass, layers.CallUpdate): 1, layers.CallName(layers.PromptPass, layers.CallOut): 1,
	layers.CallName(layers.StepPass, layers.CallQKV): 1, layers.CallName(layers.StepPass, layers.CallUpdate): 1, layers.CallName(layers.StepPass, layers.CallOut): 1,
}

// TestGPT2NamesTheTask: of the three ways to run the model, the first that is
// right tells whose mistake it is.
func TestGPT2NamesTheTask(t *testing.T) {
	p := judgetest.Prepare(t, gpt2Closer, judge.Spec{Shape: []int{2, 2, 8, 33, 5, 3}, Dist: tensor.Normal}, 1)
	answer := gpt2Answers(t, p)
	right := answer(task6.Slip{})
	wrong := answer(task6.Slip{Sees: func(i, j int) bool { return j <= i && (i < 5 || j < i) }})
	unmasked := answer(task6.Slip{Sees: func(i, j int) bool { return j <= i || i < 5 && j < 5 }})
	for _, c := range []struct {
		outputs [3][]float32
		want    []string
	}{
		{[3][]float32{wrong, wrong, wrong}, []string{"task 6's layer", "does not see itself"}},
		{[3][]float32{unmasked, right, unmasked}, []string{"task 4's kernel", "the mask is missing"}},
		{[3][]float32{wrong, right, right}, []string{"task 5's kernels", "does not see itself"}},
		{[3][]float32{make([]float32, len(right)), right, right}, []string{"task 5's kernels", "every element is 0"}},
	} {
		v := p.Answer(t, used, c.outputs[0], c.outputs[1], c.outputs[2])
		assert.False(t, v.Passed)
		for _, want := range c.want {
			assert.Contains(t, v.Reason, want)
		}
	}
}

func TestGPT2TextIsTheLikeliest(t *testing.T) {
	p := judgetest.Prepare(t, gpt2Text, judge.Spec{Shape: []int{4, 5}, Dist: tensor.Normal}, 3)
	b, err := bundled()
	require.NoError(t, err)
	oracle, err := b.oracle.tinted(p.C)
	require.NoError(t, err)
	text := whole(p.In[0].Data)
	for range 5 {
		logits := GPT2Logits[float64](oracle, text, len(text)-1, task6.Slip{})
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
	v := p.Judge(t, right)
	assert.True(t, v.Passed, v.Reason)

	other := func(i int, token float32) []float32 {
		x := append([]float32{}, right...)
		x[i] = token
		return x
	}
	next := func(i int) float32 { return float32((int(right[i]) + 1) % b.Vocabulary) }
	assert.Contains(t, p.Judge(t, other(0, next(0))).Reason, "from token 0 on: the prompt's pass is wrong")
	assert.Contains(t, p.Judge(t, other(3, next(3))).Reason, "from token 3 on")
	assert.Contains(t, p.Judge(t, other(2, -1)).Reason, "token 2 is -1")
	assert.Contains(t, p.Judge(t, other(2, 1e9)).Reason, "token 2 is 1e+09")
}

func TestGPT2TextFitsTheModel(t *testing.T) {
	_, err := gpt2Text.Case(judge.Spec{Shape: []int{400, 500}, Dist: tensor.Normal}, 1, 1)
	assert.ErrorContains(t, err, "positions")
}
