package ops

import (
	"fmt"

	"flashlab/grader/oracle"
	"flashlab/grader/wire"
	"flashlab/nn/llama"
	"flashlab/tensor"
)

var modelSizes = []string{"layers", "heads", "dim", "mlp", "vocabulary"}

// model is a Llama-like model with the student's layers: the logits after a
// prompt and after each of several steps, with tokens that the seed gives.
var model = Op{
	Name:    "model",
	Sizes:   append([]string{"batch", "prompt", "steps"}, modelSizes...),
	Rules:   modelRules,
	Tensors: modelTensors,
	Judge:   judgeModel,
	Least:   once,
	Copies:  3,
	Timed: &Timed{
		Piece: func(c wire.Case) int { return c.Sizes["vocabulary"] },
		// Two for each weight of a layer and token, and half of the products of a prompt's
		// attention: the mask leaves out the rest. Single tokens add next to nothing.
		FLOPS: func(c wire.Case) float64 {
			m, rows, hidden := c.Llama(), float64(c.Sizes["batch"]*c.Sizes["prompt"]), float64(c.Llama().Hidden)
			return float64(m.Layers) * 2 * rows * (4*hidden*hidden + 3*hidden*float64(m.MLP) + float64(m.Prompt)*hidden)
		},
		Held: func(c wire.Case) int64 { return 2 * c.Llama().Total() }, // the baseline is a model, too
	},
}

// fresh is two sequences, one after the other, in the same cache.
var fresh = Op{
	Name:    "fresh",
	Sizes:   append([]string{"batch", "prompt", "second", "steps"}, modelSizes...),
	Rules:   modelRules,
	Tensors: modelTensors,
	Judge:   judgeModel,
	Least:   once,
	Copies:  3,
}

// prompts are the lengths of the prompts that a model is given.
func prompts(c wire.Case) []int {
	if second := c.Sizes["second"]; second > 0 {
		return []int{c.Sizes["prompt"], second}
	}
	return []int{c.Sizes["prompt"]}
}

func modelRules(c wire.Case) error { return c.Llama().Check() }

func modelTensors(c wire.Case) (in, out []wire.Tensor) {
	s := c.Sizes
	tokens := 0
	for _, p := range prompts(c) {
		tokens += p + s["steps"]
	}
	return []wire.Tensor{{Name: "tokens", Shape: []int{s["batch"], tokens}, Dist: tensor.Uniform}},
		[]wire.Tensor{{Name: "logits", Shape: []int{s["batch"], len(prompts(c)) * (1 + s["steps"]), s["vocabulary"]}}}
}

// modelCase is a case with its weights.
type modelCase struct {
	wire.Case
	llama.Config
	oracle *oracle.Llama
	tokens []float32
}

func newModelCase(c wire.Case, in []*tensor.Tensor) (m modelCase, err error) {
	m = modelCase{Case: c, Config: c.Llama(), tokens: in[0].Data}
	var values [][]float32
	for _, w := range m.Weights() {
		v, err := w.Values(c.Seed)
		if err != nil {
			return m, err
		}
		values = append(values, v)
	}
	m.oracle = oracle.NewLlama(oracle.LlamaShape{Hidden: m.Hidden, Heads: m.Heads, Layers: m.Layers, MLP: m.MLP,
		Rotary: llama.Base, Epsilon: llama.Epsilon}, values)
	return m, nil
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
func logits[T oracle.Real](m modelCase, slip func(prompt int) oracle.Slip) []T {
	var all []T
	per := len(m.tokens) / m.Batch
	for b := range m.Batch {
		rest := m.tokens[b*per : (b+1)*per]
		for _, prompt := range prompts(m.Case) {
			var sequence []int
			for _, x := range rest[:prompt+m.Sizes["steps"]] {
				sequence = append(sequence, wire.Token(x, m.Vocabulary))
			}
			rest = rest[len(sequence):]
			all = append(all, oracle.Logits[T](m.oracle, sequence, prompt-1, slip(prompt))...)
		}
	}
	return all
}

func judgeModel(c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
	m, err := newModelCase(c, in)
	if err != nil {
		return Verdict{Reason: err.Error()}
	}
	right := func(int) oracle.Slip { return oracle.Slip{} }
	t := oracle.Truth{Layout: oracle.Layout{Outer: len(out.Tensors[0].Data) / m.Vocabulary, Len: m.Vocabulary, Inner: 1},
		Want: logits[float64](m, right), Plain: logits[float32](m, right)}
	p := passes{Case: c, problem: m, truth: t, got: out.Tensors[0].Data, calls: out.Counts}
	for range prompts(c) {
		p.parts = append(p.parts, part{rows: 1, prompt: true}, part{rows: c.Sizes["steps"]})
	}
	p.try = func(slip func(prompt int) oracle.Slip) []float64 { return logits[float64](m, slip) }
	return p.judge()
}
