package task6

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/grader/tasks/task6/sizes"
	"flashlab/grader/tasks/task6/tint"
	"flashlab/nn/llama"
	"flashlab/tensor"
)

var modelSizes = []string{"layers", "heads", "dim", "mlp", "vocabulary"}

// model is a Llama-like model with the student's layers: the logits after a
// prompt and after each of several steps, with tokens that the seed gives.
var model = judge.Op{
	Name:    "model",
	Sizes:   append([]string{"batch", "prompt", "steps"}, modelSizes...),
	Rules:   modelRules,
	Tensors: modelTensors,
	Judge:   judgeModel,
	Least:   judge.Once,
	Copies:  3,
	Timed: &judge.Timed{
		Baseline: "the model on the course's plain kernels",
		Small:    []int{2, 9, 4, 2, 3, 8, 40, 61},
		SelfTest: shared.TimedAttention.SelfTest,
		Piece:    func(c problem.Problem) int { return c.Sizes["vocabulary"] },
		// Two for each weight of a layer and token, and half of the products of a prompt's
		// attention: the mask leaves out the rest. Single tokens add next to nothing.
		FLOPS: func(c problem.Problem) float64 {
			m, rows, hidden := sizes.Llama(c), float64(c.Sizes["batch"]*c.Sizes["prompt"]), float64(sizes.Llama(c).Hidden)
			return float64(m.Layers) * 2 * rows * (4*hidden*hidden + 3*hidden*float64(m.MLP) + float64(m.Prompt)*hidden)
		},
		Held: func(c problem.Problem) int64 { return 2 * sizes.Llama(c).Total() }, // the baseline is a model, too
	},
}

// fresh is two sequences, one after the other, in the same cache.
var fresh = judge.Op{
	Name:    "fresh",
	Sizes:   append([]string{"batch", "prompt", "second", "steps"}, modelSizes...),
	Rules:   modelRules,
	Tensors: modelTensors,
	Judge:   judgeModel,
	Least:   judge.Once,
	Copies:  3,
}

// prompts are the lengths of the prompts that a model is given.
func prompts(c problem.Problem) []int {
	if second := c.Sizes["second"]; second > 0 {
		return []int{c.Sizes["prompt"], second}
	}
	return []int{c.Sizes["prompt"]}
}

func modelRules(c problem.Problem) error { return sizes.Llama(c).Check() }

func modelTensors(c problem.Problem) (in, out []problem.Tensor) {
	s := c.Sizes
	tokens := 0
	for _, p := range prompts(c) {
		tokens += p + s["steps"]
	}
	return []problem.Tensor{{Name: "tokens", Shape: []int{s["batch"], tokens}, Dist: tensor.Uniform, Host: true}},
		[]problem.Tensor{{Name: "logits", Shape: []int{s["batch"], len(prompts(c)) * (1 + s["steps"]), s["vocabulary"]}}}
}

// modelCase is a case with its weights.
type modelCase struct {
	problem.Problem
	llama.Config
	oracle *Llama
	tokens []float32
}

func newModelCase(c problem.Problem, in []*tensor.Tensor) (m modelCase, err error) {
	m = modelCase{Problem: c, Config: sizes.Llama(c), tokens: in[0].Data}
	var values [][]float32
	for _, w := range m.Weights() {
		v, err := w.Values(c.Seed)
		if err != nil {
			return m, err
		}
		values = append(values, v)
	}
	factors, err := tint.Factors(m.Dim()).Values(c.Seed)
	m.oracle = NewLlama(LlamaShape{Hidden: m.Hidden, Heads: m.Heads, Layers: m.Layers, MLP: m.MLP,
		Rotary: llama.Base, Epsilon: llama.Epsilon, Tint: factors}, values)
	return m, err
}

func (m modelCase) String() string {
	text := fmt.Sprintf("a model of hidden %d, heads %d × %d, layers %d, MLP %d, vocabulary %d, batch %d, a prompt of %d",
		m.Hidden, m.Heads, m.Dim(), m.Layers, m.MLP, m.Vocabulary, m.Batch, m.Sizes["prompt"])
	if second := m.Sizes["second"]; second > 0 {
		text += fmt.Sprintf(" and, after Reset, one of %d", second)
	}
	return text + ", then " + inSteps(m.Sizes["steps"])
}

// logits computes all sequences from the start.
func logits[T Real](m modelCase, slip func(prompt int) Slip) []T {
	var all []T
	per := len(m.tokens) / m.Batch
	for b := range m.Batch {
		rest := m.tokens[b*per : (b+1)*per]
		for _, prompt := range prompts(m.Problem) {
			var sequence []int
			for _, x := range rest[:prompt+m.Sizes["steps"]] {
				sequence = append(sequence, problem.Token(x, m.Vocabulary))
			}
			rest = rest[len(sequence):]
			all = append(all, Logits[T](m.oracle, sequence, prompt-1, slip(prompt))...)
		}
	}
	return all
}

func judgeModel(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	m, err := newModelCase(c, in)
	if err != nil {
		return judge.Ruling{Reason: err.Error()}
	}
	right := func(int) Slip { return Slip{} }
	t := judge.Truth{Layout: judge.Layout{Outer: len(out.Tensors[0].Data) / m.Vocabulary, Len: m.Vocabulary, Inner: 1},
		Want: logits[float64](m, right), Plain: logits[float32](m, right)}
	p := Passes{Problem: c, About: m, Truth: t, Got: out.Tensors[0].Data, Calls: out.Counts}
	for range prompts(c) {
		p.Parts = append(p.Parts, Part{Rows: 1, Prompt: true}, Part{Rows: c.Sizes["steps"]})
	}
	p.Try = func(slip func(prompt int) Slip) []float64 { return logits[float64](m, slip) }
	return p.Judge()
}
