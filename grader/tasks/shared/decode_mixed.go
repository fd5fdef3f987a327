package shared

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// MixedDecoding is a step of decoding whose probabilities and output are of 16 bits, and whose sums are not.
type MixedDecoding struct {
	Decoding
	Type tensor.Type
}

func (d MixedDecoding) String() string { return fmt.Sprintf("%v, %v", d.Decoding, d.Type) }

// queries are the attention of each query head of each sequence to its keys.
func (d MixedDecoding) queries() (all []Mixed) {
	s, rows := d.S, CacheRows(d.S, d.Lengths)
	for row := range s.Batch * s.Heads {
		at := rows(row/s.Heads, row%s.Heads)
		all = append(all, OneMixed(d.Type, d.Q[row*s.Dim:(row+1)*s.Dim], gather(d.K, at, s.Dim), gather(d.V, at, s.Dim)))
	}
	return all
}

// Truth is what a step is judged by, query by query. Without keys it is zeros.
func (d MixedDecoding) Truth() judge.Truth {
	var all []judge.Truth
	for _, q := range d.queries() {
		all = append(all, q.Truth())
	}
	return judge.Concat(all)
}

// Compute is the step in one way.
func (d MixedDecoding) Compute(w Way) (out []float32) {
	for _, q := range d.queries() {
		out = append(out, q.Compute(w)...)
	}
	return out
}

// Otherwise is the mistake of computing the step otherwise.
func (d MixedDecoding) Otherwise(c Deviation, says string) judge.Mistake { return d.otherwise(c, says) }

// Roundings are the mistakes of keeping too few bits.
func (d MixedDecoding) Roundings() []judge.Mistake {
	return roundings(d.Type, d.Compute, "nearly right, as if sums were kept in 16 bits: add in float32, and round the output once")
}

// Mistakes are those of any decoding, and those that one makes with exponents of 2, grouped heads and merging.
func (d MixedDecoding) Mistakes() []judge.Mistake {
	list := append(d.Decoding.Mistakes(), d.otherwise(scaled(math.Ln2), twoForE), d.otherwise(scaled(math.Log2E), eForTwo),
		d.step(d.reads(func(b, h int) (int, int, int, int) { return b, min(h, d.S.KVHeads-1), 0, d.Lengths[b] }), Deviation{},
			"query head h reads the wrong KV head: h itself, instead of h / (Heads / KVHeads)"))
	// A warp, or a block, whose part is not merged, or merged by the wrong weights.
	for _, keys := range []int{8, 16, 32, 64, 128} {
		for _, takers := range []int{2, 4, 8} {
			list = append(list, d.otherwise(Deviation{Part: func(j, _ int) int { return j / keys % takers }},
				"merge without rescale: some of a head's keys have sums relative to a largest score of their own, and these are added as they are"))
		}
	}
	return list
}

// Pattern recognises the output of a mistake, a task's own first, then looks at where it is wrong.
func (d MixedDecoding) Pattern(t judge.Truth, got []float32, j judge.Judgement, own ...judge.Mistake) string {
	if says := t.Recognise(got, j, append(append(own, d.Roundings()...), d.Mistakes()...)...); says != "" {
		return says
	}
	return d.where(t, got, j)
}

// NaN tells how long the sequences are that hold NaN, and those that do not: -1 is none, and math.MaxInt.
func (d Decoding) NaN(got []float32) (longest, shortest int) {
	longest, shortest = -1, math.MaxInt
	width := d.S.Heads * d.S.Dim
	for b, n := range d.Lengths {
		if _, nan, _ := judge.Census(got[b*width : (b+1)*width]); nan == 0 {
			shortest = min(shortest, n)
		} else {
			longest = max(longest, n)
		}
	}
	return longest, shortest
}

// NoKey is said where only sequences without a key are NaN.
const NoKey = "NaN where a sequence has no key: its length is 0, so its largest score is -Inf (-Inf minus -Inf is NaN) and its sum 0: it gets zeros"
