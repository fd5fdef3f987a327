package fourbit

import (
	"flashlab/attn"
	"flashlab/device"
)

// TwoLevel is optional, and has no points: NVFP4, whose blocks' scales have a scale themselves.
type TwoLevel struct {
	queue device.Queue
}

// NewTwoLevel prepares the kernels of nvfp4.cu for one device, as New does.
func NewTwoLevel(q device.Queue) (*TwoLevel, error) { return &TwoLevel{queue: q}, nil }

// DequantiseNVFP4 writes the weights, in rows of so many numbers, to out as float32: number times block's scale, which
// is exact, then times the tensor's scale, which rounds once.
//   - A block whose scale is 127 is NaN.
//   - w.Check(out.Len(), row) returns the errors.
//
// One launch. About 10 lines here, and 30 in nvfp4.cu.
func (t *TwoLevel) DequantiseNVFP4(out device.Buffer[float32], w NVFP4, row int) error {
	return attn.ErrNotImplemented
}

// ProjectNVFP4 is what ProjectMXFP4 is, with these weights. The tensor's scale is on the device: the host cannot
// read it without waiting.
//
// One launch. About 15 lines here, and 60 in nvfp4.cu for a plain one that is right.
func (t *TwoLevel) ProjectNVFP4(q, k, v, x Halves, w NVFP4, bias Halves, p Projection) error {
	return attn.ErrNotImplemented
}
