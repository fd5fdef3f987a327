package task5

import (
	"fmt"
	"slices"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/grader/tasks/task5/sizes"
	"flashlab/tensor"
)

// generate is a prompt, written to an empty cache in one piece, and then steps of
// decoding, each with a new token. The second half of them comes from a graph that
// was recorded once.
var generate = judge.Op{
	Name:  "generate",
	Sizes: []string{"batch", "heads", "kvheads", "dim", "prompt", "steps"},
	Rules: shared.GroupedRules,
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		s, steps := sizes.Generate(c), c.Sizes["steps"]
		prompt, token := []int{s.Batch, c.Sizes["prompt"], s.Slot()}, []int{steps, s.Batch, s.Slot()}
		q := []int{steps, s.Batch, s.Heads * s.Dim}
		return []problem.Tensor{
			{Name: "prompt's k", Shape: prompt, Dist: tensor.Normal}, {Name: "prompt's v", Shape: prompt, Dist: tensor.Normal},
			{Name: "q", Shape: q}, {Name: "k", Shape: token, Dist: tensor.Normal}, {Name: "v", Shape: token, Dist: tensor.Normal},
		}, []problem.Tensor{{Name: "out", Shape: q}}
	},
	Judge:  judgeGenerate,
	Copies: 2,
	// What slots hold before, and each step's result to its place.
	Puts: func(c problem.Problem) uint64 {
		s, steps := sizes.Generate(c), c.Sizes["steps"]
		return 4 * uint64(2*s.Elements()+2*s.Batch*(s.Slot()+s.Heads*s.Dim)+steps*s.Batch*s.Heads*s.Dim)
	},
	Least: func(c problem.Problem) uint64 {
		s, steps := sizes.Generate(c), c.Sizes["steps"]
		slots := steps*c.Sizes["prompt"] + steps*(steps+1)/2 // that all steps read
		qs := 2 * steps * s.Batch * s.Heads * s.Dim
		return 4 * uint64(2*2*s.Elements()+2*slots*s.Batch*s.Slot()+qs)
	},
}

// generation is a case with its inputs: a cache as it is after the last step.
type generation struct {
	c    problem.Problem
	s    attn.DecodeShape
	k, v []float32
	q    []float32
	size int // of one step's q and out
}

func newGeneration(c problem.Problem, in []*tensor.Tensor) generation {
	s := sizes.Generate(c)
	return generation{c, s, wholeCache(c, in[0].Data, in[3].Data), wholeCache(c, in[1].Data, in[4].Data), in[2].Data, s.Batch * s.Heads * s.Dim}
}

// wholeCache puts a prompt [batch, prompt, slot] and tokens [steps, batch, slot]
// together to [batch, prompt + steps, slot].
func wholeCache(c problem.Problem, prompt, tokens []float32) []float32 {
	s, head := sizes.Generate(c), c.Sizes["prompt"]*sizes.Generate(c).Slot()
	var all []float32
	for b := range s.Batch {
		all = append(all, prompt[b*head:(b+1)*head]...)
		for t := range c.Sizes["steps"] {
			at := (t*s.Batch + b) * s.Slot()
			all = append(all, tokens[at:at+s.Slot()]...)
		}
	}
	return all
}

// step is one step of it.
func (g generation) step(t int) decoding {
	lengths := slices.Repeat([]int{g.c.Sizes["prompt"] + t + 1}, g.s.Batch)
	return decoding{S: g.s, Lengths: lengths, Q: g.q[t*g.size : (t+1)*g.size], K: g.k, V: g.v}
}

func (g generation) String() string {
	return fmt.Sprintf("a prompt of %d tokens and %d steps, %v", g.c.Sizes["prompt"], g.c.Sizes["steps"], g.s)
}

func judgeGenerate(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	g := newGeneration(c, in)
	var truths []judge.Truth
	for t := range c.Sizes["steps"] {
		d := g.step(t)
		truths = append(truths, shared.DecodeTruth(d.Q, d.K, d.V, d.S, d.Lengths))
	}
	all, got := judge.Concat(truths), out.Tensors[0].Data
	return judge.Rule(c, g, all, got, func(j judge.Judgement) string { return g.pattern(truths, got, j) })
}

// pattern looks for the first wrong step, and for what is wrong with it.
func (g generation) pattern(truths []judge.Truth, got []float32, j judge.Judgement) string {
	first, wrong := -1, 0
	for t, truth := range truths {
		if slices.Contains(judge.WrongRows(truth, g.of(got, t), j.Bound), true) {
			if wrong++; first < 0 {
				first = t
			}
		}
	}
	if first < 0 {
		return ""
	}
	where := fmt.Sprintf("step %d is right, and those from step %d on go wrong", first-1, first)
	switch {
	case first == 0 && wrong == 1:
		where = "only the first step after the prompt is wrong"
	case first == 0:
		where = fmt.Sprintf("%d of %d steps are wrong, the first one too", wrong, len(truths))
	case first == sizes.Replayed(g.c)+1:
		return "the launched steps are right, and a recorded one is right the first time only: a graph that is launched again does not look at Host, so its kernels must read positions and lengths on the device, from at.Device and lengths.Device"
	case first == sizes.Replayed(g.c):
		where = fmt.Sprintf("the first %d steps are right, and the one that was recorded in a graph is not", first)
	}
	d := g.step(first)
	if why := d.Pattern(truths[first], g.of(got, first), j); why != "" {
		return where + ": " + why
	}
	return where
}

// of is one step's part of an output.
func (g generation) of(got []float32, t int) []float32 { return got[t*g.size : (t+1)*g.size] }
