package half

import (
	"fmt"

	"flashlab/device"
)

// RMSNorm writes out = x / √(mean of x² + eps) · gain, for each row of x [rows, width]. out may be x.
func (l *Layers) RMSNorm(out, x, gain Halves, rows, width int, eps float32) error {
	if err := l.checkNorm("norm", rows, width, of("out", out, rows*width), of("x", x, rows*width), of("gain", gain, width)); err != nil {
		return err
	}
	return l.launch("rms_norm", device.D1(rows), normThreads(width), 0, x, gain, out, width, eps)
}

// AddNorm adds added to x, and writes the norm of the sum, as RMSNorm does.
func (l *Layers) AddNorm(out, x, added, gain Halves, rows, width int, eps float32) error {
	if err := l.checkNorm("addition and norm", rows, width, of("out", out, rows*width), of("x", x, rows*width),
		of("added", added, rows*width), of("gain", gain, width)); err != nil {
		return err
	}
	return l.launch("add_norm", device.D1(rows), normThreads(width), 0, x, added, gain, out, width, eps)
}

func (l *Layers) checkNorm(name string, rows, width int, sizes ...size) error {
	what := fmt.Sprintf("%s of x [%d, %d]", name, rows, width)
	if most := normBlock * normHeld * 8; width > most {
		return fmt.Errorf("%s: a row has at most %d numbers", what, most)
	}
	return check(what, []int{rows, width}, width, sizes...)
}

// normThreads is a thread for each 16 bytes of a row, in whole warps.
func normThreads(width int) int { return min(normBlock, over(width/8, 32)*32) }

// Embed writes a table's row for each token, out [rows, width] of table [vocabulary, width].
func (l *Layers) Embed(out Halves, tokens Ints, table Halves, rows, width int) error {
	what := fmt.Sprintf("embedding of %d tokens, width %d", rows, width)
	vocabulary := table.Len() / max(width, 1)
	if err := check(what, []int{rows, width, vocabulary}, width, of("tokens", tokens, rows), of("out", out, rows*width), of("table", table, vocabulary*width)); err != nil {
		return err
	}
	return l.each("embed", rows*width/8, out, tokens, table, rows, width/8, vocabulary)
}

// LastRows writes the row of each sequence's last token, out [batch, width] of x [batch, count, width].
func (l *Layers) LastRows(out, x Halves, batch, count, width int) error {
	what := fmt.Sprintf("last rows of x [%d, %d, %d]", batch, count, width)
	if err := check(what, []int{batch, count, width}, width, of("out", out, batch*width), of("x", x, batch*count*width)); err != nil {
		return err
	}
	return l.each("last_rows", batch*width/8, out, x, batch, count, width/8)
}

// SwiGLU writes out [rows, width] = silu(gate) · up, where a row of both [rows, 2 × width] has the gate's
// numbers first.
func (l *Layers) SwiGLU(out, both Halves, rows, width int) error {
	what := fmt.Sprintf("SwiGLU of [%d, 2 × %d]", rows, width)
	if err := check(what, []int{rows, width}, width, of("out", out, rows*width), of("gate and up", both, 2*rows*width)); err != nil {
		return err
	}
	return l.each("swiglu", rows*width/8, out, both, rows, width/8)
}

// Widen writes src [rows, from] to dst [rows, to], with zeros behind each row: for what wants rows of whole groups.
func (l *Layers) Widen(dst, src Halves, rows, from, to int) error {
	what := fmt.Sprintf("widening [%d, %d] to %d", rows, from, to)
	if err := check(what, []int{rows, from, to, to - from + 1}, from, of("dst", dst, rows*to), of("src", src, rows*from)); err != nil {
		return err
	}
	if to%8 != 0 {
		return fmt.Errorf("%s: want a multiple of 8", what)
	}
	return l.each("widen", rows*to/8, dst, src, rows, from/8, to/8)
}

// MergeHeads turns src [batch, heads, count, dim] into rows of tokens, dst [batch, count, heads × dim].
func (l *Layers) MergeHeads(dst, src Halves, batch, count, heads, dim int) error {
	what := fmt.Sprintf("merge heads of src [%d, %d, %d, %d]", batch, heads, count, dim)
	n := batch * count * heads * dim
	if err := check(what, []int{batch, count, heads, dim}, dim, of("dst", dst, n), of("src", src, n)); err != nil {
		return err
	}
	return l.each("swap_middle", n/8, dst, src, batch, heads, count, dim/8)
}
