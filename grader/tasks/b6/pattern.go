package b6

import (
	"math"
	"slices"

	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// mistakes are this task's own; those of any decoding come before them.
func (d decoding) mistakes() []shared.DecodeMistake {
	scaled := func(factor float64) shared.Deviation {
		return shared.Deviation{Scale: func(dim int) float64 { return factor / math.Sqrt(float64(dim)) }}
	}
	own := []shared.DecodeMistake{
		{Change: scaled(math.Ln2), Says: "this is 2^x in place of e^x: scale the scores by log2(e) / √d, so that 2^x is right"},
		{Change: scaled(math.Log2E), Says: "the scores are scaled by log2(e), as 2^x wants it, and then e^x is taken"},
		{Rows: d.heads(func(h int) int { return min(h, d.S.KVHeads-1) }), Says: "query head h reads the wrong KV head: h itself, instead of h / (Heads / KVHeads)"},
	}
	// A warp, or a block, whose part is not merged, or merged by the wrong weights.
	for _, keys := range []int{8, 16, 32, 64, 128} {
		for _, takers := range []int{2, 4, 8} {
			own = append(own, shared.DecodeMistake{Change: shared.Deviation{Part: func(j, _ int) int { return j / keys % takers }},
				Says: "merge without rescale: some of a head's keys have sums relative to a largest score of their own, and these are added as they are"})
		}
	}
	return own
}

// heads are the keys of another head for each query head.
func (d decoding) heads(of func(h int) int) shared.Rows {
	return func(sequence, head int) (at []int) {
		for slot := range d.Lengths[sequence] {
			at = append(at, (sequence*d.S.MaxSeq+slot)*d.S.Slot()+of(head)*d.S.Dim)
		}
		return at
	}
}

// pattern recognises the output of a mistake.
func (d decoding) pattern(t judge.Truth, got []float32, j judge.Judgement) string {
	if d.recorded && d.asWhenRecorded(t, got) {
		return "the lengths are those of when the step was recorded: the kernel must read them, from lengths.Device"
	}
	if why := d.nan(got); why != "" {
		return why
	}
	if other := d.asOther(); t.Same(got, other) {
		return "the bits are read as the other type: float16 and bfloat16 are different numbers of 16 bits (is the macro that chooses between them defined?)"
	}
	if why := d.roundings(t, got, j); why != "" {
		return why
	}
	return d.Pattern(t, got, j, d.mistakes()...)
}

// asWhenRecorded tells whether only the first key is in the results: a step is recorded with lengths of 1.
func (d decoding) asWhenRecorded(t judge.Truth, got []float32) bool {
	var want []float64
	for row := range d.S.Batch * d.S.Heads {
		at := (row/d.S.Heads*d.S.MaxSeq)*d.S.Slot() + row%d.S.Heads/(d.S.Heads/d.S.KVHeads)*d.S.Dim
		for x := range d.S.Dim {
			if d.Lengths[row/d.S.Heads] == 0 {
				want = append(want, float64(got[row*d.S.Dim+x])) // NaN or not: it is not to be judged by
				continue
			}
			want = append(want, float64(d.V[at+x]))
		}
	}
	return slices.Max(d.Lengths) > 1 && t.Same(got, want)
}

// nan looks for sequences that are NaN because something had no key: all of the sequence, or one of
// the warps and blocks that share its keys.
func (d decoding) nan(got []float32) string {
	width := d.S.Heads * d.S.Dim
	empty, longest, shortest, stale := 0, -1, math.MaxInt, false
	for b, n := range d.Lengths {
		if _, nan, _ := judge.Census(got[b*width : (b+1)*width]); nan == 0 {
			shortest = min(shortest, n)
			continue
		}
		longest, stale = max(longest, n), stale || n > 0 && n < d.S.MaxSeq
		if n == 0 {
			empty++
		}
	}
	switch {
	case longest < 0:
		return ""
	case longest == 0:
		return "NaN where a sequence has no key: its length is 0, so its largest score is -Inf (-Inf minus -Inf is NaN) and its sum 0: it gets zeros"
	case !stale && longest < shortest && longest < 256 && !d.overflows():
		return "NaN in short sequences: a warp or a block without a key has a largest score of -Inf (-Inf minus -Inf is NaN), and its part must count for nothing when it is merged"
	}
	return ""
}

// overflows tells whether e^x without subtracting the largest score may be infinite.
func (d decoding) overflows() bool {
	return slices.ContainsFunc(d.Q, func(x float32) bool { return math.Abs(float64(x)) > 16 })
}

// asOther is what a kernel of the other type makes of the inputs' bits, and its output's bits as
// numbers of this one.
func (d decoding) asOther() []float64 {
	theirs := func(x []float32) []float32 { return shared.ReadAsOther(d.ty, x) }
	y, _, _ := shared.Decode64(theirs(d.Q), theirs(d.K), theirs(d.V), d.S, shared.CacheRows(d.S, d.Lengths), shared.Deviation{})
	return shared.WrittenAsOther(d.ty, y)
}

// roundings recognises sums or scores that have too few bits.
func (d decoding) roundings(t judge.Truth, got []float32, j judge.Judgement) string {
	if !(j.Error < 0.1) {
		return ""
	}
	off := shared.Apart(got, t.Plain)
	for _, w := range d.ways() {
		if shared.Apart(got, d.compute(w.Way)) < 0.5*off {
			return w.says
		}
	}
	return ""
}

// rough is a way that keeps too few bits, and what one reads of an output that is nearer to it than to
// the plain way's.
type rough struct {
	shared.Way
	says string
}

func (d decoding) ways() []rough {
	narrow := shared.Rounder(d.ty)
	sums, scores := shared.PlainWay(d.ty), shared.PlainWay(d.ty)
	sums.Sum, scores.Score = narrow, narrow
	return []rough{
		{sums, "nearly right, as if sums were kept in 16 bits: add in float32, and round the output once"},
		{scores, "nearly right, as if scores were rounded to 16 bits before the softmax: keep them in float32"},
	}
}

// compute is the step in one way, query by query.
func (d decoding) compute(w shared.Way) (out []float32) {
	for row := range d.S.Batch * d.S.Heads {
		out = append(out, d.query(row).Compute(w)...)
	}
	return out
}
