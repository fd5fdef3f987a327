// Package attn is the contract between students, the grader and the reference:
// shapes, and what each task's code must offer.
package attn

import (
	"errors"
	"fmt"

	"flashlab/device"
)

// ErrNotImplemented is what a stub returns until a student fills it in.
var ErrNotImplemented = errors.New("not implemented")

// Shape is one attention problem: q [Batch, Heads, SeqQ, Dim] against
// k and v [Batch, KVHeads, SeqK, Dim], all row-major; out has q's shape.
type Shape struct {
	Batch, Heads, KVHeads int
	SeqQ, SeqK, Dim       int
	Causal                bool // query i sees keys 0 … i + SeqK − SeqQ
}

func (s Shape) String() string {
	mask := "full"
	if s.Causal {
		mask = "causal"
	}
	return fmt.Sprintf("q [%d, %d, %d, %d], k and v [%d, %d, %d, %d], %s",
		s.Batch, s.Heads, s.SeqQ, s.Dim, s.Batch, s.KVHeads, s.SeqK, s.Dim, mask)
}

// Kernel is a compiled attention. Run is all that is timed: it works on
// buffers that the caller allocated, and must write every element of out.
type Kernel interface {
	Run(out, q, k, v device.Buffer[float32], s Shape) error
}

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

// Check tells what is wrong with a shape, and with buffers of other sizes.
func (s SoftmaxShape) Check(buffers ...device.Buffer[float32]) error {
	if s.Outer < 1 || s.Len < 1 || s.Inner < 1 {
		return fmt.Errorf("softmax of x [%d, %d, %d]: every dimension must be at least 1", s.Outer, s.Len, s.Inner)
	}
	for _, b := range buffers {
		if b.Len() != s.Elements() {
			return fmt.Errorf("softmax of %v: the buffer %q holds %d elements, want %d", s, b.Name(), b.Len(), s.Elements())
		}
	}
	return nil
}

// Softmaxer is task 2's first step: dst and src may not overlap; every element
// of dst must be written.
type Softmaxer interface {
	Softmax(dst, src device.Buffer[float32], s SoftmaxShape) error
}
