package decode

// The optional check: `go test ./bonus/b6_decode -run TestPages`. It has no points, and the grader does
// not run it.

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

// pool is a cache in pages. The sequences share the pages of their common prefix; the others are in no
// order, and one page is nobody's. What no token has is `stale`: NaN, or a number.
type pool[T device.Half] struct {
	halfOf[T]
	attn.DecodeShape
	lengths []int
	q, k, v []float32
	table   []int32 // [Batch, columns]; behind a sequence's pages there is no page's number
	columns int
}

func pooled[T device.Half](a halfOf[T], s attn.DecodeShape, lengths []int, prefix int, stale float32) pool[T] {
	at := rand.New(rand.NewPCG(7, uint64(s.MaxSeq)))
	p := pool[T]{halfOf: a, DecodeShape: s, lengths: lengths, columns: (s.MaxSeq + PageSlots - 1) / PageSlots}
	random := func(n int) (x []float32) {
		for range n {
			x = append(x, a.of(float32(at.NormFloat64())).Float32())
		}
		return x
	}
	all := 1 + s.Batch*p.columns // page 0 is nobody's
	free := at.Perm(all - 1)
	p.table = make([]int32, s.Batch*p.columns)
	p.q, p.k, p.v = random(s.Batch*s.Heads*s.Dim), random(all*PageSlots*s.Slot()), random(all*PageSlots*s.Slot())
	filled := make([]bool, all*PageSlots)
	for b, n := range lengths {
		for i := range p.columns {
			page := &p.table[b*p.columns+i]
			switch {
			case i*PageSlots >= n:
				*page = []int32{-1, math.MaxInt32 / 16, int32(all)}[i%3]
			case b > 0 && (i+1)*PageSlots <= prefix:
				*page = p.table[i] // of the first sequence
			default:
				*page, free = int32(1+free[0]), free[1:]
			}
		}
		for slot := range n {
			filled[p.slot(b, slot)] = true
		}
	}
	for i := range p.k {
		if !filled[i/s.Slot()] {
			p.k[i], p.v[i] = stale, stale
		}
	}
	return p
}

// slot is where a token is, in slots of the whole pool.
func (p pool[T]) slot(sequence, token int) int {
	return int(p.table[sequence*p.columns+token/PageSlots])*PageSlots + token%PageSlots
}

// mistake is a way to read the pool; nil is the right one.
type mistake[T device.Half] struct {
	says string
	at   func(p pool[T], sequence, token, head int) (slot, kvHead int)
	keys func(p pool[T], n int) int
}

// mistakes are what an output is compared with, to say why it is wrong.
func mistakes[T device.Half]() []mistake[T] {
	right := func(p pool[T], b, token, h int) (int, int) { return p.slot(b, token), h / (p.Heads / p.KVHeads) }
	same := func(_ pool[T], n int) int { return n }
	paged := func(p pool[T], n int) int { return min((n+PageSlots-1)/PageSlots*PageSlots, p.MaxSeq) }
	headsFirst := func(p pool[T], b, token, h int) (int, int) {
		row := p.slot(b, token)/PageSlots*PageSlots*p.KVHeads + h/(p.Heads/p.KVHeads)*PageSlots + token%PageSlots
		return row / p.KVHeads, row % p.KVHeads
	}
	moved := func(p pool[T], b, token, h, by int) (int, int) {
		i := min(max(b*p.columns+token/PageSlots+by, 0), len(p.table)-1)
		pages := len(p.k) / PageSlots / p.Slot()
		page := int(p.table[i])
		if page < 0 || page >= pages {
			page = 0
		}
		return page*PageSlots + token%PageSlots, h / (p.Heads / p.KVHeads)
	}
	return []mistake[T]{
		{"", right, same},
		{"the length is rounded up to whole pages: slots behind the last token have weights", right, paged},
		{"the page table is read one place too late: token p is on page table[b, p / 16]", func(p pool[T], b, token, h int) (int, int) { return moved(p, b, token, h, 1) }, same},
		{"the page table is read one place too early: token p is on page table[b, p / 16]", func(p pool[T], b, token, h int) (int, int) { return moved(p, b, token, h, -1) }, same},
		{"every sequence reads the first row of the table: sequence b has row b, of ⌈MaxSeq / 16⌉ numbers", func(p pool[T], b, token, h int) (int, int) {
			return p.slot(0, min(token, p.lengths[0]-1)), h / (p.Heads / p.KVHeads)
		}, same},
		{"key heads are mapped wrongly in the pool: query head h reads key head h / (Heads / KVHeads), not h % KVHeads", func(p pool[T], b, token, h int) (int, int) { return p.slot(b, token), h % p.KVHeads }, same},
		{"key heads are mapped wrongly in the pool: a page is [16, KVHeads, Dim], not [KVHeads, 16, Dim]", headsFirst, same},
	}
}

// attend is one head's output by float64, and how far halves may be off: weights and outputs are rounded.
func (p pool[T]) attend(sequence, head int, m mistake[T]) (out, off []float64) {
	out, off = make([]float64, p.Dim), make([]float64, p.Dim)
	n := m.keys(p, p.lengths[sequence])
	if n == 0 {
		return out, off
	}
	q := p.q[(sequence*p.Heads+head)*p.Dim:][:p.Dim]
	scores, rows, largest, sum := make([]float64, n), make([]int, n), math.Inf(-1), 0.0
	for j := range n {
		slot, kvHead := m.at(p, sequence, j, head)
		rows[j] = slot*p.Slot() + kvHead*p.Dim
		for x := range p.Dim {
			scores[j] += float64(q[x]) * float64(p.k[rows[j]+x]) / math.Sqrt(float64(p.Dim))
		}
		largest = max(largest, scores[j])
	}
	for j := range n {
		scores[j] = math.Exp(scores[j] - largest)
		sum += scores[j]
	}
	for x := range p.Dim {
		for j := range n {
			y := scores[j] / sum * float64(p.v[rows[j]+x])
			out[x], off[x] = out[x]+y, off[x]+y*y
		}
		off[x] = 2 * p.near * (math.Abs(out[x]) + math.Sqrt(off[x]))
	}
	return out, off
}

// differs is where an output first differs from a way to read the pool; "" if nowhere.
func (p pool[T]) differs(got []T, m mistake[T]) string {
	for row := range p.Batch * p.Heads {
		want, off := p.attend(row/p.Heads, row%p.Heads, m)
		for x, w := range want {
			if g := float64(got[row*p.Dim+x].Float32()); !(math.Abs(g-w) <= off[x]) { // true for NaN
				return fmt.Sprintf("sequence %d, head %d, number %d: got %v, want %.5f", row/p.Heads, row%p.Heads, x, g, w)
			}
		}
	}
	return ""
}

// run is what a call makes of the pool.
func (p pool[T]) run(t *testing.T, d device.Device, call pagedStep[T]) []T {
	out := p.on(t, d, "out", make([]float32, len(p.q)))
	require.NoError(t, d.Poison(out.Memory()))
	table, err := device.Upload(d, "table", p.table)
	require.NoError(t, err)
	t.Cleanup(func() { _ = table.Free(d) })
	lengths, err := device.Upload(d, "lengths", narrow(p.lengths))
	require.NoError(t, err)
	t.Cleanup(func() { _ = lengths.Free(d) })
	err = call(out, p.on(t, d, "q", p.q), p.on(t, d, "k", p.k), p.on(t, d, "v", p.v), table, p.DecodeShape, attn.PerSequence{Host: p.lengths, Device: lengths})
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Skip("optional: the methods of Paged in decode.go are still the stub (README.md, 'Optional: pages')")
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		attntest.Fatal(t, d, "%s decoding in pages, %v, lengths %v: %v\n  hint: token p of sequence b is on page table[b, p / 16], and behind its last token's page the table holds no page's number", p.name, p.DecodeShape, p.lengths, err)
	}
	got, err := out.CopyOut(d)
	require.NoError(t, err)
	attntest.Findings(t, d)
	return got
}

type pagedStep[T device.Half] func(out, q, k, v device.Buffer[T], table device.Buffer[int32], s attn.DecodeShape, lengths attn.PerSequence) error

// pages checks twice: slots that no token has hold NaN, then 1. So it can be told what was done with them.
func pages[T device.Half](t *testing.T, d device.Device, a halfOf[T], call pagedStep[T], s attn.DecodeShape, lengths []int, prefix int) {
	t.Helper()
	all := mistakes[T]()
	first := pooled(a, s, lengths, prefix, float32(math.NaN()))
	wrong := first.differs(first.run(t, d, call), all[0])
	second := pooled(a, s, lengths, prefix, 1)
	got := second.run(t, d, call)
	why := "the softmax and the slots of a page are as without pages; so look at what the page's number is multiplied by"
	if also := second.differs(got, all[0]); also == "" && wrong == "" {
		return
	} else if also == "" {
		why = "it is right if slots behind the last token hold numbers: so the last page is read to its end, and 0 · NaN is NaN"
	} else {
		for _, m := range all[1:] {
			if second.differs(got, m) == "" {
				wrong, why = also, m.says
				break
			}
		}
	}
	t.Fatalf("%s in pages, q [%d, %d, %d], %d key heads, lengths %v: %s\n  hint: %s", a.name, s.Batch, s.Heads, s.Dim, s.KVHeads, lengths, wrong, why)
}

func TestPages(t *testing.T) {
	d := attntest.Device(t)
	it, err := NewPaged(device.QueueOf(d))
	require.NoError(t, err, "NewPaged failed")
	for _, c := range []struct {
		name    string
		s       attn.DecodeShape
		lengths []int
		prefix  int // tokens that are the same in all sequences
	}{
		{"one_key", shapeOf(1, 1, 1, 1, 64), []int{1}, 0},
		{"almost_a_page", shapeOf(1, 2, 2, 16, 64), []int{15}, 0},
		{"a_page", shapeOf(1, 2, 1, 16, 128), []int{16}, 0},
		{"one_more", shapeOf(2, 2, 1, 40, 64), []int{17, 0}, 0},
		{"shared", shapeOf(3, 8, 2, 130, 64), []int{113, 49, 33}, 32},
		{"grouped", shapeOf(2, 32, 8, 64, 128), []int{40, 33}, 16},
		{"many_pages", shapeOf(2, 4, 2, 1000, 64), []int{1000, 300}, 256},
	} {
		t.Run(c.name, func(t *testing.T) {
			pages(t, d, inFloat16, it.Float16, c.s, c.lengths, c.prefix)
			pages(t, d, inBFloat16, it.BFloat16, c.s, c.lengths, c.prefix)
		})
	}
}
