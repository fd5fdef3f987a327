package b6

import (
	"math"
	"slices"

	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// pattern recognises the output of a mistake: of this task's own first.
func (d decoding) pattern(t judge.Truth, got []float32, j judge.Judgement) string {
	var own []judge.Mistake
	if d.recorded && slices.Max(d.Lengths) > 1 {
		own = append(own, judge.Wrong(d.whenRecorded, "the lengths are those of when the step was recorded: the kernel must read them, from lengths.Device"))
	}
	own = append(own, shared.AsOtherType(d.Type, d.Q, d.K, d.V, d.withInputs))
	if why := t.Recognise(got, j, own...); why != "" {
		return why
	}
	if why := d.nan(got); why != "" {
		return why
	}
	return d.Pattern(t, got, j)
}

// withInputs is the step with other numbers, in float64.
func (d decoding) withInputs(q, k, v []float32) []float64 {
	y, _, _ := shared.Decode64(q, k, v, d.S, shared.CacheRows(d.S, d.Lengths), shared.Deviation{})
	return y
}

// whenRecorded has only the first key in the results: a step is recorded with lengths of 1.
func (d decoding) whenRecorded() (want []float64) {
	rows := shared.CacheRows(d.S, d.Lengths)
	for row := range d.S.Batch * d.S.Heads {
		value := slices.Repeat([]float32{float32(math.NaN())}, d.S.Dim) // of a sequence without keys: it is not to be judged by
		if at := rows(row/d.S.Heads, row%d.S.Heads); len(at) > 0 {
			value = d.V[at[0] : at[0]+d.S.Dim]
		}
		want = append(want, judge.Wide(value)...)
	}
	return want
}

// nan looks for sequences that are NaN because something had no key: all of the sequence, or one of
// the warps and blocks that share its keys.
func (d decoding) nan(got []float32) string {
	longest, shortest := d.NaN(got)
	large := slices.ContainsFunc(d.Q, func(x float32) bool { return math.Abs(float64(x)) > 16 }) // e^x may be infinite
	switch {
	case longest == 0:
		return shared.NoKey
	case longest > 0 && !d.stale(got) && longest < shortest && longest < 256 && !large:
		return "NaN in short sequences: a warp or a block without a key has a largest score of -Inf (-Inf minus -Inf is NaN), and its part must count for nothing when it is merged"
	}
	return ""
}

// stale tells whether a sequence is NaN that has keys, and slots behind them.
func (d decoding) stale(got []float32) bool {
	width := d.S.Heads * d.S.Dim
	for b, n := range d.Lengths {
		if _, nan, _ := judge.Census(got[b*width : (b+1)*width]); nan > 0 && n > 0 && n < d.S.MaxSeq {
			return true
		}
	}
	return false
}
