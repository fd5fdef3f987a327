package shared

import (
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// Mistake is an output that one gets by mistake, and what one reads then.
type Mistake struct {
	Out  func() []float64
	Says string
}

// Mistakes that one makes with exponents of 2 and with grouped heads; those of any attention come after
// them.
func (a Mixed) Mistakes() []Mistake {
	scaled := func(factor float64) func() []float64 {
		return func() []float64 {
			return a.As(Deviation{Scale: func(dim int) float64 { return factor / math.Sqrt(float64(dim)) }})
		}
	}
	all := []Mistake{
		{scaled(math.Ln2), "this is 2^x in place of e^x: scale the scores by log2(e) / √d, so that 2^x is right"},
		{scaled(math.Log2E), "the scores are scaled by log2(e), as 2^x wants it, and then e^x is taken"},
	}
	if s := a.S; s.KVHeads > 1 && s.KVHeads < s.Heads {
		all = append(all,
			Mistake{a.heads(func(h int) int { return h % s.KVHeads }), "query head h takes key head h % KVHeads: neighbours share one, so it is h / (Heads / KVHeads)"},
			Mistake{a.heads(func(h int) int { return min(h, s.KVHeads-1) }), "query head h takes key head h: Heads / KVHeads query heads in a row share one"})
	}
	if a.S.KVHeads < a.S.Heads {
		all = append(all, Mistake{a.heads(func(int) int { return 0 }), "every query head takes key head 0: it is h / (Heads / KVHeads)"})
	}
	return all
}

// As is the attention with one thing done otherwise, in float64.
func (a Mixed) As(w Deviation) []float64 {
	out, _ := Attention64(a.Q, a.K, a.V, a.S, w)
	return out
}

// heads is the attention with another key head for each query head.
func (a Mixed) heads(of func(h int) int) func() []float64 {
	return func() []float64 {
		s := a.S
		each := s.SeqK * s.Dim
		var k, v []float32
		for b := range s.Batch {
			for h := range s.Heads {
				from := (b*s.KVHeads + of(h)) * each
				k, v = append(k, a.K[from:from+each]...), append(v, a.V[from:from+each]...)
			}
		}
		s.KVHeads = s.Heads
		out, _ := Attention64(a.Q, k, v, s, Deviation{})
		return out
	}
}

// Rounding is a way that keeps too few bits, and what one reads of an output that is nearer to its
// than to the plain way's.
type Rounding struct {
	Way
	Says string
}

// Roundings are those that kernels are seen to have.
func (a Mixed) Roundings() []Rounding {
	plain, narrow := PlainWay(a.Type), Rounder(a.Type)
	sums, scores := plain, plain
	sums.Sum, scores.Score = narrow, narrow
	all := []Rounding{
		{sums, "nearly right, as if the sums of a product were kept in 16 bits: the tensor cores add in float32, so leave them there"},
		{scores, "nearly right, as if scores were rounded to 16 bits before the softmax: keep them in float32"},
	}
	if a.Type == tensor.Float16 {
		bits := plain
		bits.P = Rounder(tensor.BFloat16)
		all = append(all, Rounding{bits, "nearly right, as if probabilities had bfloat16's 8 bits: round them to float16, once"})
	}
	return all
}

// Pattern recognises the output of a mistake: of a task's own first.
func (a Mixed) Pattern(t judge.Truth, got []float32, j judge.Judgement, own ...Mistake) string {
	for _, m := range append(own, a.Mistakes()...) {
		if want := m.Out(); t.Same(got, want) && !t.Same(t.Plain, want) {
			return m.Says
		}
	}
	if j.Error < 0.1 {
		off := Apart(got, t.Plain)
		for _, r := range a.Roundings() {
			if Apart(got, a.Compute(r.Way)) < 0.5*off {
				return r.Says
			}
		}
	}
	return AttentionOn(a.S, a.Q, a.K, a.V).Pattern(t, got, j)
}
