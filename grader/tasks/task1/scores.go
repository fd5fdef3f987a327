package task1

import (
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// The steps of task 1 that calculate. Where a step takes another's result, it
// is given the grader's own: a mistake costs its points once.

// scores is q · kᵀ / √dim, head by head.
var scores = judge.Op{
	Name:  "scores",
	Sizes: []string{"batch", "heads", "seqq", "seqk", "dim"},
	Rules: shared.AttentionRules,
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		q := []int{c.Sizes["batch"], c.Sizes["heads"], c.Sizes["seqq"], c.Sizes["dim"]}
		k := []int{c.Sizes["batch"], c.Sizes["heads"], c.Sizes["seqk"], c.Sizes["dim"]}
		return []problem.Tensor{{Name: "q", Shape: q}, {Name: "k", Shape: k}}, []problem.Tensor{{Name: "scores", Shape: shared.ScoresShape(c)}}
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		heads := c.Sizes["batch"] * c.Sizes["heads"]
		dim := c.Sizes["dim"]
		p := attn.GemmShape{Batch: heads, M: c.Sizes["seqq"], N: c.Sizes["seqk"], K: dim, TransB: true}
		scale := 1 / math.Sqrt(float64(dim))
		t := scaled(shared.GemmTruth(in[0].Data, in[1].Data, p), scale)
		got := out.Tensors[0].Data
		return judge.Rule(c, judge.Shapes{Problem: c}, t, got, func(j judge.Judgement) string {
			times := func(f float64, says string) judge.Mistake {
				return judge.Wrong(func() []float64 { return multiples(t.Want, f) }, says)
			}
			known := []judge.Mistake{
				times(1/scale, "the scores are off by a factor √dim: they are not divided by it"),
				times(scale, "the scores are off by a factor √dim: they are divided by dim instead of its root"),
				judge.Wrong(func() []float64 {
					return multiples(shared.Product64(in[0].Data, shared.Repeated(in[1].Data, heads), p), scale)
				}, "every query meets the keys of the first head: each head of each sequence has its own"),
			}
			if p.M == p.N {
				known = append(known, judge.Wrong(func() []float64 { return shared.Transposed(t.Want, p) },
					"scores are transposed: row i belongs to query i, column j to key j"))
			}
			if says := t.Recognise(got, j, known...); says != "" {
				return says
			}
			return judge.Edge(shared.AnyBatch(judge.WrongRows(t, got, j.Bound), p.M), "row")
		})
	},
	Least: judge.Once,
}

// scaled is a truth times a factor, which float32 rounds once more.
func scaled(t judge.Truth, f float64) judge.Truth {
	t.Want, t.Scale = multiples(t.Want, f), multiples(t.Scale, f)
	plain := make([]float32, len(t.Plain))
	for i, v := range t.Plain {
		plain[i] = v * float32(f)
	}
	t.Plain = plain
	return t
}

func multiples(x []float64, f float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v * f
	}
	return y
}

// softmaxRows is task 1's softmax: of scores that are masked where the case is
// causal.
var softmaxRows = judge.Op{
	Name:   "softmax_rows",
	Sizes:  []string{"batch", "heads", "seqq", "seqk"},
	Causal: true,
	Rules: func(c problem.Problem) error {
		if c.Causal {
			return shared.KeysForAll(c)
		}
		return shared.Softmax.Rules(asSoftmax(c))
	},
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		shape := shared.ScoresShape(c)
		return []problem.Tensor{{Name: "scores", Shape: shape, Given: c.Causal}}, []problem.Tensor{{Name: "weights", Shape: shape}}
	},
	Prepare: func(c problem.Problem, in []*tensor.Tensor) error {
		if !c.Causal {
			return nil
		}
		x, err := tensor.Random(c.Dist, c.Seed, c.Inputs[0].Stream, c.Inputs[0].Shape...)
		if err != nil {
			return err
		}
		s := attn.Shape{SeqQ: c.Sizes["seqq"], SeqK: c.Sizes["seqk"], Causal: true}
		copy(in[0].Data, shared.Hidden(x.Data, s, float32(math.Inf(-1)), s.Sees))
		return nil
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		return shared.Softmax.Judge(asSoftmax(c), in, out)
	},
	Least: judge.Once,
}

// asSoftmax is the case as the operation softmax knows it.
func asSoftmax(c problem.Problem) problem.Problem {
	rows := c.Sizes["batch"] * c.Sizes["heads"] * c.Sizes["seqq"]
	c.Sizes = map[string]int{"outer": rows, "len": c.Sizes["seqk"], "inner": 1}
	return c
}

// weightedSum is weights · v, head by head. The weights are a softmax of random
// scores.
var weightedSum = judge.Op{
	Name:   "weighted_sum",
	Sizes:  []string{"batch", "heads", "seqq", "seqk", "dim"},
	Causal: true,
	Rules: func(c problem.Problem) error {
		if c.Causal {
			if err := shared.KeysForAll(c); err != nil {
				return err
			}
		}
		return shared.AttentionRules(c)
	},
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		v := []int{c.Sizes["batch"], c.Sizes["heads"], c.Sizes["seqk"], c.Sizes["dim"]}
		result := []int{c.Sizes["batch"], c.Sizes["heads"], c.Sizes["seqq"], c.Sizes["dim"]}
		return []problem.Tensor{{Name: "weights", Shape: shared.ScoresShape(c), Given: true}, {Name: "v", Shape: v}},
			[]problem.Tensor{{Name: "result", Shape: result}}
	},
	Prepare: func(c problem.Problem, in []*tensor.Tensor) error {
		x, err := tensor.Random(tensor.Normal, c.Seed, c.Inputs[0].Stream, c.Inputs[0].Shape...)
		if err != nil {
			return err
		}
		s := attn.Shape{SeqQ: c.Sizes["seqq"], SeqK: c.Sizes["seqk"], Causal: c.Causal}
		x.Data = shared.Hidden(x.Data, s, float32(math.Inf(-1)), s.Sees)
		copy(in[0].Data, shared.Softmax32(x.Data, judge.Layout{Outer: len(x.Data) / s.SeqK, Len: s.SeqK, Inner: 1}))
		return nil
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		heads := c.Sizes["batch"] * c.Sizes["heads"]
		p := attn.GemmShape{Batch: heads, M: c.Sizes["seqq"], N: c.Sizes["dim"], K: c.Sizes["seqk"]}
		t := shared.GemmTruth(in[0].Data, in[1].Data, p)
		got := out.Tensors[0].Data
		return judge.Rule(c, judge.Shapes{Problem: c}, t, got, func(j judge.Judgement) string {
			product := func(weights func() []float32, values []float32, says string) judge.Mistake {
				return judge.Wrong(func() []float64 { return shared.Product64(weights(), values, p) }, says)
			}
			known := []judge.Mistake{product(func() []float32 { return in[0].Data }, shared.Repeated(in[1].Data, heads),
				"every head takes the values of the first one: each head of each sequence has its own")}
			if p.M == p.K {
				known = append(known, product(func() []float32 { return shared.TransposeAll(in[0].Data, p.M, p.K) }, in[1].Data,
					"the weights are transposed: row i of a head holds the weights of query i"))
			}
			if says := t.Recognise(got, j, known...); says != "" {
				return says
			}
			return judge.Edge(shared.AnyBatch(judge.WrongRows(t, got, j.Bound), p.M), "row")
		})
	},
	Least: judge.Once,
}
