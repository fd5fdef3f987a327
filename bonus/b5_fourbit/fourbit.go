package fourbit

import (
	"flashlab/attn"
	"flashlab/device"
)

// Fourbit holds what is prepared once and used by every call.
type Fourbit struct {
	queue device.Queue
}

// New prepares the kernels for one device, of both formats. All compiling belongs here. About 30 lines.
func New(q device.Queue) (*Fourbit, error) { return &Fourbit{queue: q}, nil }

// DequantiseNF4 writes the weights to out as float32: out[i] is NF4Table[code i] times the scale of
// block i / 64, rounded once.
//   - It must write every number of out, and nothing else.
//   - w.Check(out.Len()) returns the error for what cannot be read; return it before anything is
//     launched.
//
// One launch. About 10 lines here, and 40 in kernels.cu.
func (t *Fourbit) DequantiseNF4(out device.Buffer[float32], w NF4) error {
	return attn.ErrNotImplemented
}

// DequantiseMXFP4 is the same for MXFP4 in rows of so many numbers. A scale of 255 makes its block NaN;
// what is too large for float32 becomes infinite. w.Check(out.Len(), row) returns the errors.
func (t *Fourbit) DequantiseMXFP4(out device.Buffer[float32], w MXFP4, row int) error {
	return attn.ErrNotImplemented
}

// ProjectNF4 multiplies x [Batch · Seq, Hidden] by the weights [Outputs, Hidden], which has a row for
// every output, adds bias [Outputs], and writes the sums to q [Batch, Heads, Seq, Dim], k and
// v [Batch, KVHeads, Seq, Dim]: output n is number n % Dim of head n / Dim, where heads count
// through those of q, then of k, then of v.
//   - Sums are float32, and rounded to halves once, at the end.
//   - No weight is written to device memory, in whatever type: there is no room for that.
//   - p.Check and w.Check(p.Outputs() · p.Hidden) return the errors for what cannot be computed;
//     return them before anything is launched.
//
// One launch. About 15 lines here, and 60 in kernels.cu for a plain one that is right.
func (t *Fourbit) ProjectNF4(q, k, v, x Halves, w NF4, bias Halves, p Projection) error {
	return attn.ErrNotImplemented
}

// ProjectMXFP4 is the same for MXFP4, in rows of Hidden.
func (t *Fourbit) ProjectMXFP4(q, k, v, x Halves, w MXFP4, bias Halves, p Projection) error {
	return attn.ErrNotImplemented
}
