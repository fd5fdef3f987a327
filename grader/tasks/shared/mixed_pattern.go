package shared

import (
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// The words for exponents of 2 that are taken for those of e.
const (
	twoForE = "this is 2^x in place of e^x: scale the scores by log2(e) / √d, so that 2^x is right"
	eForTwo = "the scores are scaled by log2(e), as 2^x wants it, and then e^x is taken"
)

// scaled is an attention whose scores are so many times as large.
func scaled(factor float64) Deviation {
	return Deviation{Scale: func(dim int) float64 { return factor / math.Sqrt(float64(dim)) }}
}

// Mistakes that one makes with exponents of 2 and with grouped heads; those of any attention come after
// them.
func (a Mixed) Mistakes() []judge.Mistake {
	all := []judge.Mistake{a.Mistake(scaled(math.Ln2), twoForE), a.Mistake(scaled(math.Log2E), eForTwo)}
	if s := a.S; s.KVHeads > 1 && s.KVHeads < s.Heads {
		all = append(all,
			a.heads(func(h int) int { return h % s.KVHeads }, "query head h takes key head h % KVHeads: neighbours share one, so it is h / (Heads / KVHeads)"),
			a.heads(func(h int) int { return min(h, s.KVHeads-1) }, "query head h takes key head h: Heads / KVHeads query heads in a row share one"))
	}
	if a.S.KVHeads < a.S.Heads {
		all = append(all, a.heads(func(int) int { return 0 }, "every query head takes key head 0: it is h / (Heads / KVHeads)"))
	}
	return all
}

// Mistake is that of computing the attention otherwise.
func (a Mixed) Mistake(c Deviation, says string) judge.Mistake {
	return AttentionOn(a.S, a.Q, a.K, a.V).mistake(c, says)
}

// As is the attention with one thing done otherwise, in float64.
func (a Mixed) As(c Deviation) []float64 { return a.Mistake(c, "").Whole() }

// heads is the mistake of taking another key head for each query head.
func (a Mixed) heads(of func(h int) int, says string) judge.Mistake {
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
	return AttentionOn(s, a.Q, k, v).mistake(Deviation{}, says)
}

// Roundings are the mistakes of keeping too few bits that kernels are seen to make.
func (a Mixed) Roundings() []judge.Mistake {
	all := roundings(a.Type, a.Compute,
		"nearly right, as if the sums of a product were kept in 16 bits: the tensor cores add in float32, so leave them there")
	if a.Type == tensor.Float16 {
		bits := PlainWay(a.Type)
		bits.P = Rounder(tensor.BFloat16)
		all = append(all, judge.Rounded(func() []float32 { return a.Compute(bits) }, "nearly right, as if probabilities had bfloat16's 8 bits: round them to float16, once"))
	}
	return all
}

// roundings are those of sums, of which says tells, and of scores.
func roundings(ty tensor.Type, compute func(Way) []float32, says string) []judge.Mistake {
	sums, scores := PlainWay(ty), PlainWay(ty)
	sums.Sum, scores.Score = Rounder(ty), Rounder(ty)
	return []judge.Mistake{
		judge.Rounded(func() []float32 { return compute(sums) }, says),
		judge.Rounded(func() []float32 { return compute(scores) }, "nearly right, as if scores were rounded to 16 bits before the softmax: keep them in float32"),
	}
}

// Pattern recognises the output of a mistake: of a task's own first.
func (a Mixed) Pattern(t judge.Truth, got []float32, j judge.Judgement, own ...judge.Mistake) string {
	if says := t.Recognise(got, j, append(append(own, a.Mistakes()...), a.Roundings()...)...); says != "" {
		return says
	}
	return AttentionOn(a.S, a.Q, a.K, a.V).Pattern(t, got, j)
}

// AsOtherType is what a kernel of the other type makes of the inputs' bits, and its output's bits as numbers of this one;
// compute is in float64.
func AsOtherType(ty tensor.Type, q, k, v []float32, compute func(q, k, v []float32) []float64) judge.Mistake {
	return judge.Wrong(func() []float64 {
		return WrittenAsOther(ty, compute(ReadAsOther(ty, q), ReadAsOther(ty, k), ReadAsOther(ty, v)))
	}, "the bits are read as the other type: float16 and bfloat16 are different numbers of 16 bits (is the macro that chooses between them defined?)")
}
