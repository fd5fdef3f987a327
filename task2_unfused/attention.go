package unfused

import (
	"flashlab/attn"
	"flashlab/device"
)

// Attention holds what is prepared once and used by every call. Add fields for
// the kernels you look up in New.
type Attention struct {
	queue device.Queue
}

var _ attn.Softmaxer = (*Attention)(nil)

// New prepares the kernels for one device. All compiling belongs here: New is
// called once, Softmax many times.
//
// From the device package you need Queue.Compile (of Source, with macros in
// Source.Defines if you want any) and Module.Kernel. About 5 lines.
func New(q device.Queue) (*Attention, error) {
	return &Attention{queue: q}, nil
}

// Softmax writes to dst the softmax of src, taken along the dimension Len of
// x [Outer, Len, Inner]; both buffers hold s.Elements() values. It must
//   - write every element of dst, and leave src as it is;
//   - work for Len from 1 to 16384 and for any Inner;
//   - take rows that hold -Inf (masked elements), whose result is exactly 0;
//     no row holds -Inf alone;
//   - answer a shape it cannot handle with an error, never with a panic
//     (s.Check does the greater part).
//
// From the device package you need Queue.Launch. About 25 lines, and about 50
// in kernels.cu.
func (a *Attention) Softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {
	return attn.ErrNotImplemented
}
