package backward

import (
	"flashlab/attn"
	"flashlab/device"
)

// Halves holds what is prepared once and used by every call.
type Halves struct {
	queue device.Queue
}

// NewHalves prepares the kernels for one device: of two types and two dimensions. All compiling belongs here. About 30 lines.
func NewHalves(q device.Queue) (*Halves, error) {
	return &Halves{queue: q}, attn.ErrNotImplemented
}

// Float16 writes the gradients of a loss by q, k and v, as Backward.Float32 does, all but lse in float16.
//   - Sums are float32: of scores, of dP, of D, and of the gradients, which are rounded once, at the end. P and dS may be
//     rounded once, as a tensor core takes them.
//   - All else is as for float32: the mask, grouped heads, lengths, no matrix of scores, the same bits twice.
//
// Two launches. About 20 lines here, and 300 in halves.cu.
func (t *Halves) Float16(to Gradients[device.Float16], from Forward[device.Float16], dOut device.Buffer[device.Float16], s attn.Shape) error {
	return attn.ErrNotImplemented
}

// BFloat16 is the same for bfloat16.
func (t *Halves) BFloat16(to Gradients[device.BFloat16], from Forward[device.BFloat16], dOut device.Buffer[device.BFloat16], s attn.Shape) error {
	return attn.ErrNotImplemented
}
