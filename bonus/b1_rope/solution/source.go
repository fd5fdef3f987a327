// Package rope is bonus task b1: attention whose queries and keys are rotated as
// they are loaded.
//
// README.md is the handout. You edit rope.go and kernels.cu.
package rope

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// Source is kernels.cu, as Queue.Compile takes it. This file is provided: the
// grader never takes a student's copy of it.
var Source = device.Source{Folder: "bonus/b1_rope", Name: "kernels.cu"}

// Rotation says how queries and keys are rotated: at position p, pair j of a row
// is turned by the angle p · Base^(−2j/Dim).
type Rotation struct {
	Base       float64 // 10000 in most models
	Neighbours bool    // pair j is x[2j], x[2j+1]; otherwise it is x[j], x[j + Dim/2]
}

// MostPositions is how many positions there are: a float32 holds each of them exactly.
const MostPositions = 1 << 24

// Check tells what is wrong with a call: with its shape, the sizes of its
// buffers, or the positions at which sequences start.
func (r Rotation) Check(out, q, k, v device.Buffer[float32], start attn.PerSequence, s attn.Shape) error {
	if err := s.Check(out, q, k, v); err != nil {
		return err
	}
	switch {
	case s.KVHeads != s.Heads:
		return fmt.Errorf("attention of %v: this one needs as many key heads as query heads", s)
	case s.Dim > 128 || s.Dim%8 != 0:
		return fmt.Errorf("attention of %v: the head dimension must be a multiple of 8, at most 128", s)
	case !(r.Base > 1):
		return fmt.Errorf("a rotation of base %v: want more than 1", r.Base)
	case len(start.Host) != s.Batch || start.Device.Len() != s.Batch:
		return fmt.Errorf("attention of %v: %d positions to start at (on the device %d), want one for each sequence", s, len(start.Host), start.Device.Len())
	}
	for b, p := range start.Host {
		if p < 0 || p > MostPositions-max(s.SeqQ, s.SeqK) {
			return fmt.Errorf("attention of %v: sequence %d starts at position %d, want 0 to %d", s, b, p, MostPositions-max(s.SeqQ, s.SeqK))
		}
	}
	return nil
}
