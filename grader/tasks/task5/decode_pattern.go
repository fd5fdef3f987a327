package task5

import (
	"fmt"
	"math"
	"slices"

	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// mistake is a step of decoding that reads other rows, or computes otherwise.
type mistake struct {
	rows   Rows // nil for the right ones
	change shared.Variant
	says   string
}

// pattern compares with the steps that one computes by mistake, then looks at
// where NaN and wrong values are.
func (d decoding) pattern(t judge.Truth, got []float32, j judge.Judgement) string {
	for _, m := range d.mistakes() {
		if d.made(m, t, got) {
			return m.says
		}
	}
	if why := d.nan(got); why != "" {
		return why
	}
	wrong := judge.WrongRows(t, got, j.Bound)
	switch {
	case j.Error < 1e-2, math.IsInf(j.Error, 1):
		return "" // everything is nearly right, or NaN is in it
	case judge.FirstOnly(wrong, d.s.Batch):
		return "the first sequence is right, the others are not: where does sequence b begin in q, out and the cache?"
	case d.s.Batch == 1 && judge.FirstOnly(wrong, d.s.Heads):
		return "the first head is right, the others are not: where does head h begin in q, out and a slot?"
	}
	return d.byLength(wrong)
}

// byLength recognises outputs that are right up to some length, and wrong beyond.
func (d decoding) byLength(wrong []bool) string {
	right, longer := 0, math.MaxInt
	for b, n := range d.lengths {
		if slices.Contains(wrong[b*d.s.Heads:(b+1)*d.s.Heads], true) {
			longer = min(longer, n)
		} else {
			right = max(right, n)
		}
	}
	if right == 0 || right >= longer {
		return ""
	}
	return fmt.Sprintf("lengths up to %d are right here, from %d on they are wrong: what happens when a later tile of keys raises the maximum? l and acc must be rescaled", right, longer)
}

// made tells whether a mistake explains an output. Queries that it leaves without
// keys, or with such that were never written, may hold anything but what is right.
func (d decoding) made(m mistake, t judge.Truth, got []float32) bool {
	rows := m.rows
	if rows == nil {
		rows = CacheRows(d.s, d.lengths)
	}
	other, _, has := Decode64(d.q, d.k, d.v, d.s, rows, m.change)
	var off, size, differs float64
	for i, w := range other {
		if row := i / d.s.Dim; !has[row] || math.IsNaN(w) {
			if t.RowError(got, row) < 1e-3 {
				return false
			}
			continue
		}
		g := float64(got[i])
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return false
		}
		off += (g - w) * (g - w)
		differs += (t.Want[i] - w) * (t.Want[i] - w)
		size += w * w
	}
	return math.Sqrt(off) <= 1e-3*math.Sqrt(size) && math.Sqrt(differs) > 1e-2*math.Sqrt(size)
}

// at is where a key of a sequence's cache begins.
func (d decoding) at(sequence, slot, kvHead int) int {
	return (sequence*d.s.MaxSeq+slot)*d.s.Slot() + kvHead*d.s.Dim
}

// reads are the rows from slot first to before slot end of some sequence and head.
func (d decoding) reads(f func(b, h int) (sequence, kvHead, first, end int)) Rows {
	return func(b, h int) []int {
		sequence, kvHead, first, end := f(b, h)
		var at []int
		for slot := first; slot < end; slot++ {
			at = append(at, d.at(sequence, slot, kvHead))
		}
		return at
	}
}

func (d decoding) mistakes() []mistake {
	share := d.s.Heads / d.s.KVHeads
	n := d.lengths
	list := []mistake{
		{d.reads(func(b, h int) (int, int, int, int) { return b, h / share, 0, n[b] - 1 }), shared.Variant{},
			"the newest token is missing: length off by one. The keys of sequence b are the slots 0 … lengths[b] − 1"},
		{d.reads(func(b, h int) (int, int, int, int) { return b, h / share, 1, n[b] }), shared.Variant{},
			"the first token is missing: the keys of sequence b are the slots 0 … lengths[b] − 1"},
		{d.reads(func(b, h int) (int, int, int, int) { return 0, h / share, 0, n[b] }), shared.Variant{},
			"every sequence reads the first one's cache: where does sequence b's begin?"},
		{d.reads(func(b, h int) (int, int, int, int) { return (b + 1) % d.s.Batch, h / share, 0, n[b] }), shared.Variant{},
			"each sequence reads another one's cache: where does sequence b's begin?"},
		{d.reads(func(b, h int) (int, int, int, int) { return b, h / share, 0, n[0] }), shared.Variant{},
			"all sequences are taken to be as long as the first: sequence b has its own length"},
		{d.reads(func(b, h int) (int, int, int, int) { return b, h % d.s.KVHeads, 0, n[b] }), shared.Variant{},
			"query head h reads the wrong KV head: h % KVHeads instead of h / (Heads / KVHeads)"},
		{d.reads(func(b, h int) (int, int, int, int) { return b, 0, 0, n[b] }), shared.Variant{},
			"query head h reads the wrong KV head: all read the first, instead of h / (Heads / KVHeads)"},
		{d.headMajor(), shared.Variant{}, "a sequence's cache is read as [KVHeads, MaxSeq, Dim]: it is [MaxSeq, KVHeads, Dim]"},
		{nil, shared.Variant{Scale: func(int) float64 { return 1 }}, "the scores are off by a factor √d: they are not divided by it"},
		{nil, shared.Variant{Scale: func(dim int) float64 { return 1 / float64(dim) }}, "the scores are off by a factor √d: they are divided by d instead of its root"},
		{nil, shared.Variant{Scale: func(dim int) float64 { return math.Sqrt(float64(dim)) }}, "the scores are off by a factor d: they are multiplied by √d instead of divided"},
	}
	list = append(list, d.tiled()...)
	return append(list, d.merged()...)
}

func (d decoding) headMajor() Rows {
	return func(b, h int) []int {
		var at []int
		for slot := range d.lengths[b] {
			at = append(at, d.at(b, 0, 0)+(h/(d.s.Heads/d.s.KVHeads)*d.s.MaxSeq+slot)*d.s.Dim)
		}
		return at
	}
}

// tiled are the mistakes of a loop over tiles of keys.
func (d decoding) tiled() []mistake {
	var list []mistake
	for _, tile := range slices.Backward(judge.Tiles) { // a large one may leave no keys at all, and then anything fits
		list = append(list, mistake{d.reads(func(b, h int) (int, int, int, int) {
			return b, h / (d.s.Heads / d.s.KVHeads), 0, d.lengths[b] / tile * tile
		}), shared.Variant{}, "the last keys of a sequence are missing" + d.dropped(tile) + ": is a last, partial tile left out?"},
			mistake{nil, shared.Variant{Forget: tile},
				fmt.Sprintf("this is what an online softmax over tiles of %d keys gives that forgets to rescale the accumulator when the maximum grows", tile)},
			mistake{nil, shared.Variant{ForgetSum: tile},
				fmt.Sprintf("this is what an online softmax over tiles of %d keys gives that forgets to rescale the sum when the maximum grows", tile)})
	}
	return list
}

// dropped says what is missing from the first sequence that does not end with a tile.
func (d decoding) dropped(tile int) string {
	for b, n := range d.lengths {
		if n%tile > 0 {
			return fmt.Sprintf(" (%d of %d in sequence %d)", n%tile, n, b)
		}
	}
	return ""
}
