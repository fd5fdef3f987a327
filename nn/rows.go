package nn

import (
	"fmt"
	"math"

	"flashlab/attn"
)

// norm.cu, argmax.cu and rope.cu get these as macros (defines.go), and argmax expects them.
const (
	normBlock   = 1024 // threads at most, of which each keeps normHeld numbers
	normHeld    = 4
	argmaxBlock = 256
	argmaxParts = 32 // blocks for a row at most: a warp picks from their results
	ropeHeads   = 4  // that a thread turns
)

var _ attn.Rearranger = (*Layers)(nil)

// LayerNorm writes out [rows, width] = (x − mean) / √(variance + eps) · gain + bias,
// separately for each row; gain and bias are [width]. out may be x.
func (l *Layers) LayerNorm(out, x, gain, bias Floats, rows, width int, eps float32) error {
	what := func() string { return fmt.Sprintf("layer norm of x [%d, %d]", rows, width) }
	if err := check(what, []int{rows, width}, of("out", out, rows*width), of("x", x, rows*width),
		of("gain", gain, width), of("bias", bias, width)); err != nil {
		return err
	}
	return l.launch("layer_norm", rows, normThreads(width), x, gain, bias, out, width, eps)
}

// AddNorm adds to x, [rows, width], and writes the layer norm of the sum: two steps
// that always follow each other. Neither added nor out may be x.
func (l *Layers) AddNorm(out, x, added, gain, bias Floats, rows, width int, eps float32) error {
	what := func() string { return fmt.Sprintf("addition and layer norm of x [%d, %d]", rows, width) }
	if err := check(what, []int{rows, width}, of("out", out, rows*width), of("x", x, rows*width), of("added", added, rows*width),
		of("gain", gain, width), of("bias", bias, width)); err != nil {
		return err
	}
	return l.launch("add_norm", rows, normThreads(width), x, added, gain, bias, out, width, eps)
}

// normThreads is the number of threads that have work, in whole warps.
func normThreads(width int) int { return min(normBlock, tiles(width, 32*normHeld)*32) }

// RoPE turns x [batch, count, heads × dim] in place: in token i of sequence b, the
// pair of elements j and j + dim/2 of each head by (before[b] + i) · base^(−2j/dim).
// That is the convention of Llama's published weights and GPT-NeoX.
func (l *Layers) RoPE(x Floats, before Ints, batch, count, heads, dim int, base float32) error {
	return l.rope([]Floats{x}, before, batch, count, heads, dim, base)
}

// RoPEs does it to queries and keys together.
func (l *Layers) RoPEs(q, k Floats, before Ints, batch, count, heads, dim int, base float32) error {
	return l.rope([]Floats{q, k}, before, batch, count, heads, dim, base)
}

func (l *Layers) rope(x []Floats, before Ints, batch, count, heads, dim int, base float32) error {
	what := func() string { return fmt.Sprintf("RoPE of x [%d, %d, %d × %d]", batch, count, heads, dim) }
	sizes := []size{of("before", before, batch)}
	for _, x := range x {
		sizes = append(sizes, of("x", x, batch*count*heads*dim))
	}
	if err := check(what, []int{batch, count, heads, dim}, sizes...); err != nil {
		return err
	}
	if dim%2 != 0 {
		return fmt.Errorf("%s: the head dimension must be even, to fall into pairs", what())
	}
	if !(base > 0) {
		return fmt.Errorf("%s: the base is %v, want more than 0", what(), base)
	}
	threads := batch * count * tiles(heads, ropeHeads) * dim / 2
	return l.grid("rope", tiles(threads, block), len(x), 1, block, 0, x[0], x[len(x)-1], before, batch, count, heads, dim, math.Log2(float64(base)))
}

// LastRows writes the row of each sequence's last token, out [batch, width] of
// x [batch, count, width].
func (l *Layers) LastRows(out, x Floats, batch, count, width int) error {
	what := func() string { return fmt.Sprintf("last rows of x [%d, %d, %d]", batch, count, width) }
	if err := check(what, []int{batch, count, width}, of("out", out, batch*width), of("x", x, batch*count*width)); err != nil {
		return err
	}
	return l.each("last_rows", batch*width, out, x, batch, count, width)
}

// Argmax writes the column of the largest element of each row of x [rows, width]:
// the lowest such column if there is a tie, and −1 if the row has a NaN.
func (l *Layers) Argmax(out Ints, x Floats, rows, width int) error {
	what := func() string { return fmt.Sprintf("argmax of x [%d, %d]", rows, width) }
	if err := check(what, []int{rows, width}, of("out", out, rows), of("x", x, rows*width)); err != nil {
		return err
	}
	parts := min(argmaxParts, tiles(width, 4*argmaxBlock))
	s, room := l.scratch, argmaxParts*max(rows, 64) // nearly always enough: graphs keep its address
	if err := atLeast(l.queue, &s.best, "best values", room); err != nil {
		return err
	}
	if err := atLeast(l.queue, &s.bestAt, "their columns", room); err != nil {
		return err
	}
	if err := l.grid("argmax_parts", rows, parts, 1, argmaxBlock, 0, s.best, s.bestAt, x, width); err != nil {
		return err
	}
	return l.launch("argmax", rows, 32, out, s.best, s.bestAt, parts)
}

// SplitHeads turns rows of tokens, src [batch, count, heads × dim], into a piece for
// each head, dst [batch, heads, count, dim].
func (l *Layers) SplitHeads(dst, src Floats, batch, count, heads, dim int) error {
	return l.swapMiddle("split heads", dst, src, batch, count, heads, dim)
}

// MergeHeads turns src [batch, heads, count, dim] back into rows of tokens, dst
// [batch, count, heads × dim].
func (l *Layers) MergeHeads(dst, src Floats, batch, count, heads, dim int) error {
	return l.swapMiddle("merge heads", dst, src, batch, heads, count, dim)
}

// swapMiddle writes dst [batch, inner, outer, dim] from src [batch, outer, inner, dim].
func (l *Layers) swapMiddle(name string, dst, src Floats, batch, outer, inner, dim int) error {
	what := func() string { return fmt.Sprintf("%s of src [%d, %d, %d, %d]", name, batch, outer, inner, dim) }
	n := batch * outer * inner * dim
	if err := check(what, []int{batch, outer, inner, dim}, of("dst", dst, n), of("src", src, n)); err != nil {
		return err
	}
	pieces, fours := inner*dim, wide(dim, dst, src)
	if fours {
		pieces /= 4
	}
	return l.launch("swap_middle", batch*outer*tiles(pieces, block), block, dst, src, outer, inner, dim, fours)
}
