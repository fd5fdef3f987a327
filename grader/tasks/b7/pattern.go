package b7

import (
	"math"
	"strings"

	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// pattern recognises the output of a mistake: first of reading the cache, then of decoding as such.
func (d decoding) pattern(right shared.Decoding, t judge.Truth, got []float32, j judge.Judgement) string {
	if why := d.nan(got); why != "" {
		return why
	}
	for _, m := range d.misreadings() {
		other := d.read(m.reading)
		for _, x := range []struct {
			k, v  []float32
			which string
		}{{other.K, other.V, ""}, {other.K, right.V, " (K)"}, {right.K, other.V, " (V)"}} {
			want, _, _ := shared.Decode64(right.Q, x.k, x.v, right.S, shared.CacheRows(right.S, right.Lengths), shared.Deviation{})
			if t.Same(got, want) && !t.Same(t.Plain, want) {
				return m.says + x.which
			}
		}
	}
	if d.closedAlone(right, t, got) {
		return "the open group is left out: its tokens count like all others"
	}
	if why := d.roundings(right, t, got, j); why != "" {
		return why
	}
	return right.Pattern(t, got, j, mistakes(right)...)
}

// closedAlone tells that no token of an open group was read. To any task this would be a last tile that is missing.
func (d decoding) closedAlone(right shared.Decoding, t judge.Truth, got []float32) bool {
	if d.bits == 8 {
		return false
	}
	var closed []int
	for _, n := range d.lengths {
		closed = append(closed, n/group*group)
	}
	want, _, _ := shared.Decode64(right.Q, right.K, right.V, right.S, shared.CacheRows(right.S, closed), shared.Deviation{})
	return t.Same(got, want) && !t.Same(t.Plain, want)
}

// misreading is a cache that is read otherwise, and what one says of it.
type misreading struct {
	reading
	says string
}

func (d decoding) misreadings() []misreading {
	next := func(i, _ int) int { return i + 1 }
	zero := func(int, int) int { return 0 }
	all := []misreading{
		{reading{scale: next}, "each token is multiplied by the scale of the next one"},
		{reading{scale: func(i, _ int) int { return i - 1 }}, "each token is multiplied by the scale of the one before"},
		{reading{scale: zero}, "every token is multiplied by the scale of the first"},
		{reading{scale: func(i, _ int) int { return i / group * group }}, "every token is multiplied by the scale of its group's first"},
	}
	if d.bits == 8 {
		return append(all, misreading{reading{sign: true}, "codes are taken for 0 … 255: they are from −127 to 127"})
	}
	return append(all, []misreading{
		{reading{swapped: true}, "nibbles are swapped: the first of two codes is in the byte's low half"},
		{reading{noLow: true}, "the low is dropped: a number is code · scale + low"},
		{reading{sign: true}, "codes are taken for −8 … 7: they are from 0 to 15"},
		{reading{coded: true}, "the tail is read as INT4: the tokens of the open group are halves until it is full"},
		{reading{group: zero}, "every group of K is read with the scales of the first"},
		{reading{group: next}, "each group of K is read with the scales of the next one"},
		{reading{group: func(n, _ int) int { return n - 1 }}, "each group of K is read with the scales of the one before"},
		{reading{channel: func(x, _ int) int { return x &^ 1 }}, "two channels of K are read with the scale of the first: each has its own"},
		{reading{channel: zero}, "all channels of K are read with the scale of the first: each has its own"},
		{reading{open: func(int) int { return 0 }}, "all tokens of the open group are read from its first row"},
	}...)
}

// nan tells why sequences may be NaN, by which they are.
func (d decoding) nan(got []float32) string {
	s := d.Decode()
	width, longest, shortest, open := s.Heads*s.Dim, -1, math.MaxInt, d.bits == 4
	for b, n := range d.lengths {
		if _, nan, _ := judge.Census(got[b*width : (b+1)*width]); nan == 0 {
			shortest = min(shortest, n)
			open = open && n%group == 0
			continue
		}
		longest = max(longest, n)
		open = open && n%group != 0
	}
	var says []string
	switch {
	case longest == 0:
		says = append(says, "NaN where a sequence has no key: its length is 0, so its largest score is -Inf (-Inf minus -Inf is NaN) and its sum 0: it gets zeros")
	case longest > 0 && longest < shortest && longest < 512:
		says = append(says, "NaN in short sequences: either the merge of an empty part (a warp or a block without a key has a largest score of -Inf, and -Inf minus -Inf is NaN), or what lies behind the last token")
	}
	if longest > 0 && open {
		says = append(says, "NaN where a group is open: the tail is read as INT4, but its tokens are halves until the group is full, and have no scales before")
	}
	return strings.Join(says, "; or ")
}

// mistakes are those of decoding that any task's list does not have.
func mistakes(d shared.Decoding) []shared.DecodeMistake {
	scaled := func(factor float64) shared.Deviation {
		return shared.Deviation{Scale: func(dim int) float64 { return factor / math.Sqrt(float64(dim)) }}
	}
	own := []shared.DecodeMistake{
		{Change: scaled(math.Ln2), Says: "this is 2^x in place of e^x: scale the scores by log2(e) / √d, so that 2^x is right"},
		{Change: scaled(math.Log2E), Says: "the scores are scaled by log2(e), as 2^x wants it, and then e^x is taken"},
		{Rows: func(sequence, head int) (at []int) {
			for slot := range d.Lengths[sequence] {
				at = append(at, (sequence*d.S.MaxSeq+slot)*d.S.Slot()+min(head, d.S.KVHeads-1)*d.S.Dim)
			}
			return at
		}, Says: "query head h reads the wrong KV head: h itself, instead of h / (Heads / KVHeads)"},
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

// roundings recognises sums or scores that have too few bits.
func (d decoding) roundings(right shared.Decoding, t judge.Truth, got []float32, j judge.Judgement) string {
	if !(j.Error < 0.1) {
		return ""
	}
	off, narrow := shared.Apart(got, t.Plain), shared.Rounder(tensor.Float16)
	sums, scores := shared.PlainWay(tensor.Float16), shared.PlainWay(tensor.Float16)
	sums.Sum, scores.Score = narrow, narrow
	for _, w := range []struct {
		shared.Way
		says string
	}{
		{sums, "nearly right, as if sums were kept in 16 bits: add in float32, and round the output once"},
		{scores, "nearly right, as if scores were rounded to 16 bits before the softmax: keep them in float32"},
	} {
		var other []float32
		for _, q := range queries(right) {
			other = append(other, q.Compute(w.Way)...)
		}
		if shared.Apart(got, other) < 0.5*off {
			return w.says
		}
	}
	return ""
}
