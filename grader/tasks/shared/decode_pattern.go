package shared

import (
	"fmt"
	"math"
	"slices"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
)

// Decoding is a step of decoding with its inputs: one query for each sequence against a cache.
type Decoding struct {
	S       attn.DecodeShape
	Lengths []int
	Q, K, V []float32
	Parts   int // 0 where it is not split
}

func (d Decoding) String() string {
	parts := ""
	if d.Parts > 0 {
		parts = fmt.Sprintf(", in %d parts", d.Parts)
	}
	return fmt.Sprintf("%v, lengths %v%s", d.S, d.Lengths, parts)
}

// step is that of decoding with other rows, which are nil for the right ones, or computed otherwise. Of a query without
// keys nobody knows what it gives.
func (d Decoding) step(rows Rows, c Deviation, says string) judge.Mistake {
	if rows == nil {
		rows = CacheRows(d.S, d.Lengths)
	}
	return judge.Mistake{Says: says, Out: func(yield func([]float64) bool) {
		for row := range d.S.Batch * d.S.Heads {
			y := slices.Repeat([]float64{math.NaN()}, d.S.Dim)
			if at := rows(row/d.S.Heads, row%d.S.Heads); len(at) > 0 {
				y, _ = Attention64(d.Q[row*d.S.Dim:(row+1)*d.S.Dim], gather(d.K, at, d.S.Dim), gather(d.V, at, d.S.Dim), oneQuery(len(at), d.S.Dim), c)
			}
			if !yield(y) {
				return
			}
		}
	}}
}

// Pattern compares with the steps that one computes by mistake, then looks at
// where NaN and wrong values are.
func (d Decoding) Pattern(t judge.Truth, got []float32, j judge.Judgement) string {
	if says := t.Recognise(got, j, d.Mistakes()...); says != "" {
		return says
	}
	return d.where(t, got, j)
}

// where looks at which values are NaN or wrong.
func (d Decoding) where(t judge.Truth, got []float32, j judge.Judgement) string {
	if why := d.nan(got); why != "" {
		return why
	}
	wrong := judge.WrongRows(t, got, j.Bound)
	switch {
	case j.Error < 1e-2, math.IsInf(j.Error, 1):
		return "" // everything is nearly right, or NaN is in it
	case judge.FirstOnly(wrong, d.S.Batch):
		return "the first sequence is right, the others are not: where does sequence b begin in q, out and the cache?"
	case d.S.Batch == 1 && judge.FirstOnly(wrong, d.S.Heads):
		return "the first head is right, the others are not: where does head h begin in q, out and a slot?"
	}
	return d.byLength(wrong)
}

// byLength recognises outputs that are right up to some length, and wrong beyond.
func (d Decoding) byLength(wrong []bool) string {
	right, longer := 0, math.MaxInt
	for b, n := range d.Lengths {
		if slices.Contains(wrong[b*d.S.Heads:(b+1)*d.S.Heads], true) {
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

// otherwise is that of the right rows.
func (d Decoding) otherwise(c Deviation, says string) judge.Mistake { return d.step(nil, c, says) }

// at is where a key of a sequence's cache begins.
func (d Decoding) at(sequence, slot, kvHead int) int {
	return (sequence*d.S.MaxSeq+slot)*d.S.Slot() + kvHead*d.S.Dim
}

// reads are the rows from slot first to before slot end of some sequence and head.
func (d Decoding) reads(f func(b, h int) (sequence, kvHead, first, end int)) Rows {
	return func(b, h int) []int {
		sequence, kvHead, first, end := f(b, h)
		var at []int
		for slot := first; slot < end; slot++ {
			at = append(at, d.at(sequence, slot, kvHead))
		}
		return at
	}
}

// Mistakes are those of any task that decodes.
func (d Decoding) Mistakes() []judge.Mistake {
	share := d.S.Heads / d.S.KVHeads
	n := d.Lengths
	first := func(b int) int { return d.S.First(n[b]) }
	list := append(d.windowed(), []judge.Mistake{
		d.step(d.reads(func(b, h int) (int, int, int, int) { return b, h / share, first(b), n[b] - 1 }), Deviation{},
			"the newest token is missing: length off by one. The keys of sequence b are the slots 0 … lengths[b] − 1"),
		d.step(d.reads(func(b, h int) (int, int, int, int) { return b, h / share, first(b) + 1, n[b] }), Deviation{},
			"the first token is missing: the keys of sequence b are the slots 0 … lengths[b] − 1"),
		d.step(d.reads(func(b, h int) (int, int, int, int) { return 0, h / share, first(b), n[b] }), Deviation{},
			"every sequence reads the first one's cache: where does sequence b's begin?"),
		d.step(d.reads(func(b, h int) (int, int, int, int) { return (b + 1) % d.S.Batch, h / share, first(b), n[b] }), Deviation{},
			"each sequence reads another one's cache: where does sequence b's begin?"),
		d.step(d.reads(func(b, h int) (int, int, int, int) { return b, h / share, first(0), n[0] }), Deviation{},
			"all sequences are taken to be as long as the first: sequence b has its own length"),
		d.step(d.reads(func(b, h int) (int, int, int, int) { return b, h % d.S.KVHeads, first(b), n[b] }), Deviation{},
			"query head h reads the wrong KV head: h % KVHeads instead of h / (Heads / KVHeads)"),
		d.step(d.reads(func(b, h int) (int, int, int, int) { return b, 0, first(b), n[b] }), Deviation{},
			"query head h reads the wrong KV head: all read the first, instead of h / (Heads / KVHeads)"),
		d.step(d.headMajor(), Deviation{}, "a sequence's cache is read as [KVHeads, MaxSeq, Dim]: it is [MaxSeq, KVHeads, Dim]"),
	}...)
	return slices.Concat(list, scales(d.otherwise), d.tiled(), d.merged())
}

func (d Decoding) headMajor() Rows {
	return func(b, h int) []int {
		var at []int
		for slot := d.S.First(d.Lengths[b]); slot < d.Lengths[b]; slot++ {
			at = append(at, d.at(b, 0, 0)+(h/(d.S.Heads/d.S.KVHeads)*d.S.MaxSeq+slot)*d.S.Dim)
		}
		return at
	}
}

// tiled are the mistakes of a loop over tiles of keys.
func (d Decoding) tiled() []judge.Mistake {
	var list []judge.Mistake
	for _, tile := range slices.Backward(judge.Tiles) { // a large one may leave no keys at all, and then anything fits
		list = append(list, d.step(d.reads(func(b, h int) (int, int, int, int) {
			return b, h / (d.S.Heads / d.S.KVHeads), d.S.First(d.Lengths[b]), d.Lengths[b] / tile * tile
		}), Deviation{}, "the last keys of a sequence are missing"+d.dropped(tile)+": is a last, partial tile left out?"))
		list = append(list, rescaled(d.otherwise, tile)...)
		if slices.ContainsFunc(d.Lengths, func(n int) bool { return padsMore(n, tile) }) {
			list = append(list, d.otherwise(Deviation{Pad: tile},
				fmt.Sprintf("keys beyond a sequence's length are counted with score 0, up to a multiple of %d, and each adds e^0 to the sum. Their scores are -Inf", tile)))
		}
	}
	return list
}

// dropped says what is missing from the first sequence that does not end with a tile.
func (d Decoding) dropped(tile int) string {
	for b, n := range d.Lengths {
		if n%tile > 0 {
			return fmt.Sprintf(" (%d of %d in sequence %d)", n%tile, n, b)
		}
	}
	return ""
}
