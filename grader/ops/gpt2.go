package ops

import (
	"fmt"

	"flashlab/grader/oracle"
	"flashlab/grader/wire"
	"flashlab/nn/gpt2"
	"flashlab/tensor"
)

// gpt2Logits is a small random GPT-2 on the student's layer and kernels: the
// logits after a prompt and after each of several steps, with tokens that the
// seed gives. Two more outputs are for telling which task is at fault.
var gpt2Logits = Op{
	Name:  "gpt2",
	Sizes: []string{"layers", "heads", "dim", "vocabulary", "prompt", "steps"},
	Rules: func(c wire.Case) error { return c.GPT2().Check() },
	Tensors: func(c wire.Case) (in, out []wire.Tensor) {
		s := c.Sizes
		shape := []int{1 + s["steps"], s["vocabulary"]}
		return []wire.Tensor{{Name: "tokens", Shape: []int{s["prompt"] + s["steps"]}, Dist: tensor.Uniform}},
			[]wire.Tensor{{Name: "logits", Shape: shape}, {Name: "logits with the course's kernels", Shape: shape},
				{Name: "logits with the course's decoding", Shape: shape}}
	},
	Judge:  judgeGPT2,
	Copies: 3,
	Least:  func(c wire.Case) uint64 { return 4 * uint64(c.GPT2().Parameters()) * uint64(1+c.Sizes["steps"]) },
}

// gpt2Case is a case with its model's shape.
type gpt2Case struct {
	gpt2.Config
	wire.Case
}

func (g gpt2Case) String() string {
	return fmt.Sprintf("a GPT-2 of %v; a prompt of %d, then %d steps", g.Config, g.Sizes["prompt"], g.Sizes["steps"])
}

// gpt2Oracle is a model as the oracle takes it.
func gpt2Oracle(w gpt2.Weights) (*oracle.GPT2, error) {
	c := w.Config()
	m := &oracle.GPT2{Width: c.Width, Heads: c.Heads, Layers: c.Layers, Inner: c.Inner, Epsilon: c.Epsilon, Weights: map[string][]float32{}}
	for _, t := range c.Tensors() {
		values, err := w.Read(t)
		if err != nil {
			return nil, err
		}
		m.Weights[t.Name] = values
	}
	return m, nil
}

func judgeGPT2(c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
	random, err := gpt2.Random(c.GPT2(), c.Seed)
	if err != nil {
		return Verdict{Reason: err.Error()}
	}
	weights, err := gpt2Oracle(random)
	if err != nil {
		return Verdict{Reason: err.Error()}
	}
	g := gpt2Case{random.Config(), c}
	tokens := wire.Tokens(in[0].Data, g.Vocabulary)
	prompt := c.Sizes["prompt"]
	p := passes{Case: c, problem: g, calls: out.Counts,
		truth: oracle.Truth{Layout: oracle.Layout{Outer: 1 + c.Sizes["steps"], Len: g.Vocabulary, Inner: 1},
			Want:  oracle.GPT2Logits[float64](weights, tokens, prompt-1, oracle.Slip{}),
			Plain: oracle.GPT2Logits[float32](weights, tokens, prompt-1, oracle.Slip{})},
		parts: []part{{rows: 1, prompt: true}, {rows: c.Sizes["steps"]}},
		try: func(slip func(prompt int) oracle.Slip) []float64 {
			return oracle.GPT2Logits[float64](weights, tokens, prompt-1, slip(prompt))
		}}
	verdict := func(output int) Verdict {
		p.got = out.Tensors[output].Data
		return p.judge()
	}
	v := verdict(0)
	if v.Passed {
		return v
	}
	if layer := verdict(1); !layer.Passed {
		layer.Reason = "task 6's layer is wrong, with the course's own kernels too (make grade TASK=6): " + layer.Reason
		return layer
	}
	if prefill := verdict(2); !prefill.Passed {
		prefill.Reason = "task 4's kernel is wrong here (make grade TASK=4): " + prefill.Reason
		return prefill
	}
	v.Reason = "task 5's kernels are wrong here (make grade TASK=5): " + v.Reason
	return v
}
