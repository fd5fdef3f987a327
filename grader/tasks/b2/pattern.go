package b2

import (
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// mistake is an output that one gets by mistake, and what one reads then.
type mistake struct {
	out  func() []float64
	says string
}

// mistakes that are this task's own; those of any attention come after them.
func (a mixed) mistakes() []mistake {
	scaled := func(factor float64) func() []float64 {
		return func() []float64 {
			return a.as(a.s, a.q, a.k, a.v, shared.Variant{Scale: func(dim int) float64 { return factor / math.Sqrt(float64(dim)) }})
		}
	}
	all := []mistake{
		{scaled(math.Ln2), "this is 2^x in place of e^x: scale the scores by log2(e) / √d, so that 2^x is right"},
		{scaled(math.Log2E), "the scores are scaled by log2(e), as 2^x wants it, and then e^x is taken"},
		{a.asOther, "the bits are read as the other type: float16 and bfloat16 are different numbers of 16 bits (is the macro that chooses between them defined?)"},
	}
	if s := a.s; s.KVHeads > 1 && s.KVHeads < s.Heads {
		all = append(all,
			mistake{a.heads(func(h int) int { return h % s.KVHeads }), "query head h takes key head h % KVHeads: neighbours share one, so it is h / (Heads / KVHeads)"},
			mistake{a.heads(func(h int) int { return min(h, s.KVHeads-1) }), "query head h takes key head h: Heads / KVHeads query heads in a row share one"})
	}
	if a.s.KVHeads < a.s.Heads {
		all = append(all, mistake{a.heads(func(int) int { return 0 }), "every query head takes key head 0: it is h / (Heads / KVHeads)"})
	}
	return all
}

func (mixed) as(s attn.Shape, q, k, v []float32, w shared.Variant) []float64 {
	out, _ := shared.Attention64(q, k, v, s, w)
	return out
}

// asOther is what a kernel of the other type makes of the inputs' bits, and its output's bits as
// numbers of this one.
func (a mixed) asOther() []float64 {
	other := tensor.BFloat16
	if a.ty == tensor.BFloat16 {
		other = tensor.Float16
	}
	theirs := func(x []float32) []float32 { return other.Decode(a.ty.Encode(x)) }
	y := a.as(a.s, theirs(a.q), theirs(a.k), theirs(a.v), shared.Variant{})
	bits := make([]float32, len(y))
	for i, v := range y {
		bits[i] = float32(v)
	}
	out := make([]float64, len(y))
	for i, v := range a.ty.Decode(other.Encode(bits)) {
		out[i] = float64(v)
	}
	return out
}

// heads is the attention with another key head for each query head.
func (a mixed) heads(of func(h int) int) func() []float64 {
	return func() []float64 {
		s := a.s
		each := s.SeqK * s.Dim
		var k, v []float32
		for b := range s.Batch {
			for h := range s.Heads {
				from := (b*s.KVHeads + of(h)) * each
				k, v = append(k, a.k[from:from+each]...), append(v, a.v[from:from+each]...)
			}
		}
		s.KVHeads = s.Heads
		return a.as(s, a.q, k, v, shared.Variant{})
	}
}

// roundings are ways that keep too few bits, and what one reads of an output that is nearer to
// theirs than to the plain way's.
func (a mixed) roundings() []struct {
	way
	says string
} {
	plain, narrow := plainWay(a.ty), rounder(a.ty)
	sums, scores := plain, plain
	sums.sum, scores.score = narrow, narrow
	all := []struct {
		way
		says string
	}{
		{sums, "nearly right, as if the sums of a product were kept in 16 bits: the tensor cores add in float32, so leave them there"},
		{scores, "nearly right, as if scores were rounded to 16 bits before the softmax: keep them in float32"},
	}
	if a.ty == tensor.Float16 {
		bits := plain
		bits.p = rounder(tensor.BFloat16)
		all = append(all, struct {
			way
			says string
		}{bits, "nearly right, as if probabilities had bfloat16's 8 bits: round them to float16, once"})
	}
	return all
}

// pattern recognises the output of a mistake.
func (a mixed) pattern(t judge.Truth, got []float32, j judge.Judgement) string {
	for _, m := range a.mistakes() {
		if want := m.out(); t.Same(got, want) && !t.Same(t.Plain, want) {
			return m.says
		}
	}
	if j.Error < 0.1 {
		off := apart(got, t.Plain)
		for _, r := range a.roundings() {
			if apart(got, a.compute(r.way)) < 0.5*off {
				return r.says
			}
		}
	}
	return shared.AttentionOn(a.s, a.q, a.k, a.v).Pattern(t, got, j)
}

// apart is the root of the mean square between two outputs; not a number if one holds none.
func apart(got, want []float32) float64 {
	var sum float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(want)))
}
