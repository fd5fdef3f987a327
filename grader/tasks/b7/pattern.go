package b7

import (
	"strings"

	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// pattern recognises the output of a mistake: first of reading the cache, then of decoding as such.
func (d decoding) pattern(right shared.MixedDecoding, t judge.Truth, got []float32, j judge.Judgement) string {
	if why := d.nan(right, got); why != "" {
		return why
	}
	own := d.misreadings(right)
	if d.bits == 4 {
		own = append(own, d.closedAlone(right))
	}
	return right.Pattern(t, got, j, own...)
}

// closedAlone is that no token of an open group is read. To any task this would be a last tile that is missing.
func (d decoding) closedAlone(right shared.MixedDecoding) judge.Mistake {
	right.Lengths = nil
	for _, n := range d.lengths {
		right.Lengths = append(right.Lengths, n/group*group)
	}
	return right.Otherwise(shared.Deviation{}, "the open group is left out: its tokens count like all others")
}

// misreading is one of K, of V, or of both. right is the step with what the cache says.
func (d decoding) misreading(right shared.MixedDecoding, r reading, says string) []judge.Mistake {
	other, k, v := d.read(r), right, right
	k.K, v.V = other.K, other.V
	return []judge.Mistake{other.Otherwise(shared.Deviation{}, says),
		k.Otherwise(shared.Deviation{}, says+" (K)"), v.Otherwise(shared.Deviation{}, says+" (V)")}
}

// misreadings are caches that are read otherwise.
func (d decoding) misreadings(right shared.MixedDecoding) (all []judge.Mistake) {
	next := func(i, _ int) int { return i + 1 }
	zero := func(int, int) int { return 0 }
	for _, m := range []struct {
		reading
		says string
		only int // this many bits; 0 for both
	}{
		{reading{scale: next}, "each token is multiplied by the scale of the next one", 0},
		{reading{scale: func(i, _ int) int { return i - 1 }}, "each token is multiplied by the scale of the one before", 0},
		{reading{scale: zero}, "every token is multiplied by the scale of the first", 0},
		{reading{scale: func(i, _ int) int { return i / group * group }}, "every token is multiplied by the scale of its group's first", 0},
		{reading{sign: true}, "codes are taken for 0 … 255: they are from −127 to 127", 8},
		{reading{swapped: true}, "nibbles are swapped: the first of two codes is in the byte's low half", 4},
		{reading{noLow: true}, "the low is dropped: a number is code · scale + low", 4},
		{reading{sign: true}, "codes are taken for −8 … 7: they are from 0 to 15", 4},
		{reading{coded: true}, "the tail is read as INT4: the tokens of the open group are halves until it is full", 4},
		{reading{group: zero}, "every group of K is read with the scales of the first", 4},
		{reading{group: next}, "each group of K is read with the scales of the next one", 4},
		{reading{group: func(n, _ int) int { return n - 1 }}, "each group of K is read with the scales of the one before", 4},
		{reading{channel: func(x, _ int) int { return x &^ 1 }}, "two channels of K are read with the scale of the first: each has its own", 4},
		{reading{channel: zero}, "all channels of K are read with the scale of the first: each has its own", 4},
		{reading{open: func(int) int { return 0 }}, "all tokens of the open group are read from its first row", 4},
	} {
		if m.only == 0 || m.only == d.bits {
			all = append(all, d.misreading(right, m.reading, m.says)...)
		}
	}
	return all
}

// nan tells why sequences may be NaN, by which they are.
func (d decoding) nan(right shared.MixedDecoding, got []float32) string {
	longest, shortest := right.NaN(got)
	width, open := right.S.Heads*right.S.Dim, d.bits == 4
	for b, n := range d.lengths {
		_, nan, _ := judge.Census(got[b*width : (b+1)*width])
		open = open && (nan > 0) == (n%group != 0)
	}
	var says []string
	switch {
	case longest == 0:
		says = append(says, shared.NoKey)
	case longest > 0 && longest < shortest && longest < 512:
		says = append(says, "NaN in short sequences: either the merge of an empty part (a warp or a block without a key has a largest score of -Inf, and -Inf minus -Inf is NaN), or what lies behind the last token")
	}
	if longest > 0 && open {
		says = append(says, "NaN where a group is open: the tail is read as INT4, but its tokens are halves until the group is full, and have no scales before")
	}
	return strings.Join(says, "; or ")
}
