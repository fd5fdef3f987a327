package half

import (
	"fmt"
	"math"

	"flashlab/device"
)

// What prompt.cu has: queries and threads of a block, and keys of a tile.
const (
	promptCount   = 16 // with fewer queries a block would have little to do
	promptRows    = 128
	promptThreads = 128
	promptKeys    = 64
)

// What rotate.cu has: threads of a block, and the heads that a thread turns by the same angles.
const (
	rotateThreads = 128
	rotateShare   = 4
)

// Heads are those of an attention layer: a token's queries, and its keys and values, which
// Heads / KVHeads queries share.
type Heads struct{ Heads, KVHeads, Dim int }

// Width is that of a token's queries.
func (h Heads) Width() int { return h.Heads * h.Dim }

// Slot is the width of a token's keys, and of its values.
func (h Heads) Slot() int { return h.KVHeads * h.Dim }

// All is the width of queries, keys and values together.
func (h Heads) All() int { return h.Width() + 2*h.Slot() }

func (h Heads) String() string { return fmt.Sprintf("%d/%d heads × %d", h.Heads, h.KVHeads, h.Dim) }

// Check tells what is wrong with heads.
func (h Heads) Check() error {
	switch {
	case min(h.Heads, h.KVHeads, h.Dim) < 1:
		return fmt.Errorf("%v: there must be at least one of each", h)
	case h.Heads%h.KVHeads != 0:
		return fmt.Errorf("%v: %d query heads cannot share %d key heads evenly", h, h.Heads, h.KVHeads)
	case h.Dim%16 != 0 || h.Dim > maxDim:
		return fmt.Errorf("%v: the head dimension is a multiple of 16, up to %d", h, maxDim)
	}
	return nil
}

// Positions are those of the new tokens of a pass: Count of each of Batch sequences. Token i of
// sequence b has the position Before[b] + i. Turns [Dim / 2] are how far each pair of numbers of a head turns from one position to the next, in whole
// turns.
type Positions struct {
	Batch, Count int
	Before       Ints
	Turns        device.Buffer[float64]
}

// Rotate takes a projection qkv [batch, count, (Heads + 2 KVHeads) × Dim] apart: q [batch, Heads, count, Dim],
// k and v [batch, KVHeads, count, Dim], with q and k rotated by their positions.
func (l *Layers) Rotate(q, k, v, qkv Halves, p Positions, h Heads) error {
	return l.rotate(q, k, v, qkv, p, h, 0)
}

// RotateInto is Rotate whose keys and values go to their slots of caches [batch, slots, KVHeads, Dim].
func (l *Layers) RotateInto(q, cacheK, cacheV, qkv Halves, p Positions, h Heads, slots int) error {
	if slots < 1 {
		return fmt.Errorf("rotate %v into a cache of %d slots: want at least 1", h, slots)
	}
	return l.rotate(q, cacheK, cacheV, qkv, p, h, slots)
}

// rotate writes k and v by heads, or, of slots, by positions.
func (l *Layers) rotate(q, k, v, qkv Halves, p Positions, h Heads, slots int) error {
	if err := h.Check(); err != nil {
		return err
	}
	what := fmt.Sprintf("rotation of [%d, %d], %v", p.Batch, p.Count, h)
	rows, tokens := p.Batch*p.Count, p.Count
	if slots > 0 {
		tokens = slots
	}
	kept := p.Batch * tokens * h.Slot()
	if err := check(what, []int{p.Batch, p.Count}, h.Dim, of("q", q, rows*h.Width()), of("k", k, kept), of("v", v, kept), of("qkv", qkv, rows*h.All())); err != nil {
		return err
	}
	if p.Before.Len() != p.Batch || p.Turns.Len() != h.Dim/2 {
		return fmt.Errorf("%s: there are %d positions and %d turns, want %d and %d", what, p.Before.Len(), p.Turns.Len(), p.Batch, h.Dim/2)
	}
	head, token := p.Count*h.Dim, h.Dim
	if slots > 0 {
		head, token = h.Dim, h.Slot()
	}
	grid := device.D2(rows, over(over(h.All()/h.Dim, rotateShare)*h.Dim/4, rotateThreads))
	return l.launch("rotate", grid, rotateThreads, 0, qkv, q, k, v, p.Before, p.Turns, p.Count, h.Heads, h.KVHeads, h.Dim,
		tokens*h.Slot(), head, token, slots > 0, slots)
}

// Attend writes the attention of new tokens to caches [batch, slots, KVHeads, Dim], which hold their own keys
// and values by then: query i of sequence b sees the slots 0 … Before[b] + i. q is [batch, Heads, count, Dim],
// out [batch, count, Heads × Dim]. A prompt's queries share what they read, if heads have 64 or 128 numbers; those
// of a step go the plain way, which is correct, and slow.
func (l *Layers) Attend(out, q, k, v Halves, p Positions, h Heads, slots int) error {
	if err := h.Check(); err != nil {
		return err
	}
	what := fmt.Sprintf("attention of [%d, %d] to %d slots, %v", p.Batch, p.Count, slots, h)
	n, kept := p.Batch*p.Count*h.Width(), p.Batch*slots*h.Slot()
	if err := check(what, []int{p.Batch, p.Count, slots}, h.Dim, of("out", out, n), of("q", q, n), of("k", k, kept), of("v", v, kept)); err != nil {
		return err
	}
	if p.Before.Len() != p.Batch {
		return fmt.Errorf("%s: there are %d positions, want one for each sequence", what, p.Before.Len())
	}
	if p.Count >= promptCount && (h.Dim == 64 || h.Dim == 128) {
		grid := device.D2(p.Batch*h.Heads, over(p.Count, promptRows))
		shared := 2 * h.Dim * (promptRows + 2*promptKeys)
		return l.launch(fmt.Sprintf("attend_%d", h.Dim), grid, promptThreads, shared, q, k, v, out, p.Before, p.Count, h.Heads, h.KVHeads, slots,
			float32(math.Log2E/math.Sqrt(float64(h.Dim))))
	}
	return l.launch("attend", device.D1(p.Batch*p.Count*h.Heads), 128, 0, q, k, v, out, p.Before, p.Count, h.Heads, h.KVHeads, slots, h.Dim,
		float32(1/math.Sqrt(float64(h.Dim))))
}

// Kivi are the buffers of a cache of 4 bits: those of bonus task b7's Int4.
type Kivi struct {
	K, V                       device.Buffer[uint8]
	KScales, VScales           Halves
	KLows, VLows, KOpen, VOpen Halves
}

// kiviGroup is how many tokens are quantised together.
const kiviGroup = 32

// KeepKivi writes keys and values of a prompt, [batch, KVHeads, count, Dim], to a cache of 4 bits: what it would
// hold if the tokens had been appended one by one.
func (l *Layers) KeepKivi(to Kivi, k, v Halves, batch, count, slots int, h Heads) error {
	what := fmt.Sprintf("keeping [%d, %d] in %d slots of 4 bits, %v", batch, count, slots, h)
	if count > slots || slots%kiviGroup != 0 || h.Dim%32 != 0 {
		return fmt.Errorf("%s: there must be room for all tokens, in a multiple of %d slots, of a head whose dimension is a multiple of 32", what, kiviGroup)
	}
	n, all := batch*count*h.Slot(), batch*slots*h.KVHeads
	if err := check(what, []int{batch, count, h.KVHeads, h.Dim}, h.Dim, of("k", k, n), of("v", v, n),
		of("K", to.K, all*h.Dim/2), of("V", to.V, all*h.Dim/2), of("KScales", to.KScales, all/kiviGroup*h.Dim), of("VScales", to.VScales, all),
		of("KLows", to.KLows, all/kiviGroup*h.Dim), of("VLows", to.VLows, all),
		of("KOpen", to.KOpen, batch*kiviGroup*h.Slot()), of("VOpen", to.VOpen, batch*kiviGroup*h.Slot())); err != nil {
		return err
	}
	at := device.Launch{Grid: device.D3(over(count, kiviGroup), h.KVHeads, batch), Block: device.D1(h.Dim)}
	return l.queue.Launch(l.kernels["keep_kivi"], at, k, v, to.K, to.V, to.KScales, to.VScales, to.KLows, to.VLows, to.KOpen, to.VOpen, count, slots)
}
