package w4a16

import (
	"flashlab/attn"
	"flashlab/device"
)

// W4A16 holds what is prepared once and used by every call.
type W4A16 struct {
	queue device.Queue
}

// New prepares the kernels for one device. All compiling belongs here, and all memory that calls need
// besides their arguments. About 30 lines.
func New(q device.Queue) (*W4A16, error) { return &W4A16{queue: q}, nil }

// Lay writes the weights to to in the order of fragments, which README.md draws.
//   - Every byte of to is written: outputs behind the last one have codes, scales and zeros of 0.
//   - s.CheckLay(to, w) returns the error for what cannot be laid; return it before anything is launched.
//
// One launch. About 5 lines here, and 30 in kernels.cu.
func (t *W4A16) Lay(to Laid, w Weights, s Shape) error {
	return attn.ErrNotImplemented
}

// Row multiplies one row: y[o] is the sum over i of x[i] · (code − zero) · scale, of number i of output o.
//   - Sums are float32, and rounded to halves once, at the end.
//   - w.Check(y, x, s) returns the error for what cannot be computed; return it before anything is
//     launched.
//
// One launch, but for the first rung. About 10 lines here, and 50 in kernels.cu for a plain one that is right.
func (t *W4A16) Row(y, x Halves, w Weights, s Shape) error {
	return attn.ErrNotImplemented
}

// Rows does the same for up to 64 rows of x, with laid weights.
func (t *W4A16) Rows(y, x Halves, w Laid, s Shape) error {
	return attn.ErrNotImplemented
}
