package task7

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/task6"
	"flashlab/grader/tasks/task6/tint"
	"flashlab/grader/tasks/task7/sizes"
	"flashlab/nn/gpt2"
	"flashlab/tensor"
)

// gpt2Logits is a small random GPT-2 on the student's layer and kernels: the
// logits after a prompt and after each of several steps, with tokens that the
// seed gives. Where they are wrong, gpt2Closer tells which task is at fault.
var gpt2Logits, gpt2Closer = gpt2Op("gpt2", "gpt2_closer", "logits"),
	gpt2Op("gpt2_closer", "", "logits", "logits with the course's kernels", "logits with the course's decoding")

func gpt2Op(name, closer string, outputs ...string) judge.Op {
	return judge.Op{
		Name:   name,
		Closer: closer,
		Sizes:  []string{"layers", "heads", "dim", "vocabulary", "prompt", "steps"},
		Rules:  func(c problem.Problem) error { return sizes.GPT2(c).Check() },
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			s := c.Sizes
			for _, name := range outputs {
				out = append(out, problem.Tensor{Name: name, Shape: []int{1 + s["steps"], s["vocabulary"]}})
			}
			return []problem.Tensor{{Name: "tokens", Shape: []int{s["prompt"] + s["steps"]}, Dist: tensor.Uniform, Host: true}}, out
		},
		Judge:  judgeGPT2,
		Copies: 3,
		Least: func(c problem.Problem) uint64 {
			return 4 * uint64(sizes.GPT2(c).Parameters()) * uint64(1+c.Sizes["steps"])
		},
	}
}

// gpt2Case is a case with its model's shape.
type gpt2Case struct {
	gpt2.Config
	problem.Problem
}

func (g gpt2Case) String() string {
	return fmt.Sprintf("a GPT-2 of %v; a prompt of %d, then %d steps", g.Config, g.Sizes["prompt"], g.Sizes["steps"])
}

// gpt2Oracle is a model as the oracle takes it.
func gpt2Oracle(w gpt2.Weights) (*GPT2, error) {
	c := w.Config()
	m := &GPT2{Width: c.Width, Heads: c.Heads, Layers: c.Layers, Inner: c.Inner, Epsilon: c.Epsilon, Weights: map[string][]float32{}}
	for _, t := range c.Tensors() {
		values, err := w.Read(t)
		if err != nil {
			return nil, err
		}
		m.Weights[t.Name] = values
	}
	return m, nil
}

// tinted is the same model with the case's factors.
func (m GPT2) tinted(c problem.Problem) (*GPT2, error) {
	var err error
	m.Tint, err = tint.Factors(m.Width / m.Heads).Values(c.Seed)
	return &m, err
}

func judgeGPT2(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	random, err := gpt2.Random(sizes.GPT2(c), c.Seed)
	if err != nil {
		return judge.Ruling{Reason: err.Error()}
	}
	weights, err := gpt2Oracle(random)
	if err == nil {
		weights, err = weights.tinted(c)
	}
	if err != nil {
		return judge.Ruling{Reason: err.Error()}
	}
	g := gpt2Case{random.Config(), c}
	tokens := problem.Tokens(in[0].Data, g.Vocabulary)
	prompt := c.Sizes["prompt"]
	p := task6.Passes{Problem: c, About: g, Calls: out.Counts,
		Truth: judge.Truth{Layout: judge.Layout{Outer: 1 + c.Sizes["steps"], Len: g.Vocabulary, Inner: 1},
			Want:  GPT2Logits[float64](weights, tokens, prompt-1, task6.Slip{}),
			Plain: GPT2Logits[float32](weights, tokens, prompt-1, task6.Slip{})},
		Parts: []task6.Part{{Rows: 1, Prompt: true}, {Rows: c.Sizes["steps"]}},
		Try: func(slip func(prompt int) task6.Slip) []float64 {
			return GPT2Logits[float64](weights, tokens, prompt-1, slip(prompt))
		}}
	verdict := func(output int) judge.Ruling {
		p.Got = out.Tensors[output].Data
		return p.Judge()
	}
	v := verdict(0)
	if v.Passed || len(out.Tensors) == 1 {
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
