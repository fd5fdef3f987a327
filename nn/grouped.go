package nn

import (
	"fmt"

	"flashlab/device"
)

// What a Llama has besides: a norm without a mean, and query heads that share keys and values.

// RMSNorm writes out [rows, width] = x / √(mean of x² + eps) · gain, separately for each row; gain is [width]. out may
// be x.
func (l *Layers) RMSNorm(out, x, gain Floats, rows, width int, eps float32) error {
	what := func() string { return fmt.Sprintf("RMS norm of x [%d, %d]", rows, width) }
	if err := check(what, []int{rows, width}, of("out", out, rows*width), of("x", x, rows*width), of("gain", gain, width)); err != nil {
		return err
	}
	return l.launch("rms_norm", rows, normThreads(width), x, gain, out, width, eps)
}

// AddRMSNorm adds to x, [rows, width], and writes the RMS norm of the sum. Neither added nor out may be x.
func (l *Layers) AddRMSNorm(out, x, added, gain Floats, rows, width int, eps float32) error {
	what := func() string { return fmt.Sprintf("addition and RMS norm of x [%d, %d]", rows, width) }
	if err := check(what, []int{rows, width}, of("out", out, rows*width), of("x", x, rows*width), of("added", added, rows*width),
		of("gain", gain, width)); err != nil {
		return err
	}
	return l.launch("add_rms_norm", rows, normThreads(width), x, added, gain, out, width, eps)
}

// Rotation says how RoPE turns queries and keys of different numbers of heads.
type Rotation struct {
	Heads, KVHeads, Dim int
	Turns               device.Buffer[float64] // [Dim / 2]: how far each pair turns from one position to the next, in whole turns
}

// Rotate turns q [batch, count, Heads × Dim] and k [batch, count, KVHeads × Dim] in place: in token i of sequence b, the
// pair of elements j and j + Dim/2 of each head by (before[b] + i) · Turns[j] whole turns.
func (l *Layers) Rotate(q, k Floats, before Ints, batch, count int, r Rotation) error {
	what := func() string {
		return fmt.Sprintf("rotation of q [%d, %d, %d × %d] and k of %d heads", batch, count, r.Heads, r.Dim, r.KVHeads)
	}
	tokens := batch * count
	if err := check(what, []int{batch, count, r.Heads, r.KVHeads, r.Dim}, of("before", before, batch), of("q", q, tokens*r.Heads*r.Dim),
		of("k", k, tokens*r.KVHeads*r.Dim), of("turns", r.Turns, r.Dim/2)); err != nil {
		return err
	}
	if r.Dim%2 != 0 {
		return fmt.Errorf("%s: the head dimension must be even, to fall into pairs", what())
	}
	threads := tokens * tiles(max(r.Heads, r.KVHeads), ropeHeads) * r.Dim / 2
	return l.grid("rope_turns", tiles(threads, block), 2, 1, block, 0, q, k, before, r.Turns, batch, count, r.Heads, r.KVHeads, r.Dim)
}

// RepeatHeads writes src [rows, kvHeads × dim] to dst [rows, heads × dim] so that heads / kvHeads heads that follow each
// other get the same: for kernels that want a key head for each query head.
func (l *Layers) RepeatHeads(dst, src Floats, rows, heads, kvHeads, dim int) error {
	what := func() string {
		return fmt.Sprintf("repetition of src [%d, %d × %d] as %d heads", rows, kvHeads, dim, heads)
	}
	if err := check(what, []int{rows, heads, kvHeads, dim}, of("dst", dst, rows*heads*dim), of("src", src, rows*kvHeads*dim)); err != nil {
		return err
	}
	if heads%kvHeads != 0 {
		return fmt.Errorf("%s: want a multiple", what())
	}
	return l.each("repeat_heads", rows*heads*dim, dst, src, rows, heads, kvHeads, dim)
}
