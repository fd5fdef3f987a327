package attn

import (
	"fmt"

	"flashlab/device"
)

// SoftmaxShape is one batched softmax: x [Outer, Len, Inner], row-major,
// normalised along Len. Inner is 1 for a softmax over the last dimension.
type SoftmaxShape struct {
	Outer, Len, Inner int
}

// Elements is the number of values in x.
func (s SoftmaxShape) Elements() int { return s.Outer * s.Len * s.Inner }

// Rows is the number of independent softmaxes.
func (s SoftmaxShape) Rows() int { return s.Outer * s.Inner }

func (s SoftmaxShape) String() string {
	if s.Inner == 1 {
		return fmt.Sprintf("x [%d, %d], over the last dimension", s.Outer, s.Len)
	}
	return fmt.Sprintf("x [%d, %d, %d], over the second-last dimension", s.Outer, s.Len, s.Inner)
}

// Check tells what is wrong with a shape, or with the sizes of the buffers.
func (s SoftmaxShape) Check(buffers ...device.Buffer[float32]) error {
	if s.Outer < 1 || s.Len < 1 || s.Inner < 1 {
		return fmt.Errorf("softmax of x [%d, %d, %d]: every dimension must be at least 1", s.Outer, s.Len, s.Inner)
	}
	for _, b := range buffers {
		if err := holds(b, s.Elements()); err != nil {
			return fmt.Errorf("softmax of %v: %w", s, err)
		}
	}
	return nil
}

// Softmaxer is task 2's first step. dst and src may not overlap, and every element
// of dst must be written.
type Softmaxer interface {
	Softmax(dst, src device.Buffer[float32], s SoftmaxShape) error
}
