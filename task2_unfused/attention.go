package unfused

import (
	"flashlab/attn"
	"flashlab/device"
)

// Attention holds what is prepared once and used by every call. Add fields for
// the kernels that you look up in New.
type Attention struct {
	queue device.Queue
}

var _ attn.Unfused = (*Attention)(nil)

// New prepares the kernels for one device. All compiling belongs here: New is
// called once, the other functions many times. The steps are graded one by one,
// so look up a kernel only when you have it.
//
// From the device package you need Queue.Compile (of Source, with macros in
// Source.Defines if you want any) and Module.Kernel. About 15 lines.
func New(q device.Queue) (*Attention, error) {
	return &Attention{queue: q}, nil
}

// Softmax writes to dst the softmax of src, taken along the dimension Len of
// x [Outer, Len, Inner]; both buffers hold s.Elements() values. It must
//   - write every element of dst, and leave src unchanged;
//   - work for Len from 1 to 16384 and for any Inner;
//   - accept rows with -Inf in them (masked elements), whose result is exactly
//     0; no row consists of -Inf alone;
//   - return an error for a shape it cannot handle, and never panic (s.Check
//     does most of this).
//
// From the device package you need Queue.Launch. About 25 lines, and about 50
// in kernels.cu.
func (a *Attention) Softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {
	return attn.ErrNotImplemented
}

// Gemm writes to c [Batch, M, N] the product of x [Batch, M, K] with
// y [Batch, K, N]. If s.TransB is set, y is stored transposed, as
// [Batch, N, K]. It must
//   - write every element of c, and leave x and y unchanged;
//   - work for all sizes from 1 up;
//   - return an error for a shape it cannot handle (s.Check, again).
//
// About 15 lines, and about 60 in kernels.cu for both kinds.
func (a *Attention) Gemm(c, x, y device.Buffer[float32], s attn.GemmShape) error {
	return attn.ErrNotImplemented
}

// Run writes softmax(q·kᵀ/√Dim)·v to out, separately for each head:
// q and out [Batch, Heads, SeqQ, Dim], k and v [Batch, Heads, SeqK, Dim]
// (KVHeads is Heads in this task). With s.Causal, query i sees the keys
// 0 … i + SeqK − SeqQ only; every query sees at least one.
//
// It needs no kernels besides these: it launches yours and the Mask of mask.go
// in order. Their intermediate results go to device memory that you allocate
// (device.Alloc). Run is called often, so keep that memory for the next call, or
// free it.
//
// About 35 lines.
func (a *Attention) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	return attn.ErrNotImplemented
}
