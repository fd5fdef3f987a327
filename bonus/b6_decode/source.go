// Package decode is bonus task b6: decoding against a cache in float16 and bfloat16.
//
// README.md is the handout. You edit decode.go and kernels.cu.
package decode

import (
	_ "embed"
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

//go:embed kernels.cu
var kernels string

// Source is kernels.cu, as Queue.Compile takes it. This file is provided: the
// grader never takes a student's copy of it.
var Source = device.Source{Name: "kernels.cu", Text: kernels}

// Step is what both methods of Decode are: one for each type.
type Step[T device.Half] func(d *Decode, out, q, k, v device.Buffer[T], s attn.DecodeShape, lengths attn.PerSequence) error

// Check tells what is wrong with a call: with its shape, the sizes of its buffers, or the lengths.
func Check[T device.Half](out, q, k, v device.Buffer[T], s attn.DecodeShape, lengths attn.PerSequence) error {
	switch {
	case min(s.Batch, s.MaxSeq, s.KVHeads, s.Heads, s.Dim) < 1:
		return fmt.Errorf("decoding of %v: every dimension must be at least 1", s)
	case s.Heads%s.KVHeads != 0:
		return fmt.Errorf("decoding of %v: %d query heads cannot share %d key heads evenly", s, s.Heads, s.KVHeads)
	case s.Dim != 64 && s.Dim != 128:
		return fmt.Errorf("decoding of %v: the head dimension is 64 or 128 here", s)
	}
	for _, b := range []struct {
		device.Buffer[T]
		want int
	}{{out, s.Batch * s.Heads * s.Dim}, {q, s.Batch * s.Heads * s.Dim}, {k, s.Elements()}, {v, s.Elements()}} {
		if b.Len() != b.want {
			return fmt.Errorf("decoding of %v: the buffer %q holds %d elements, want %d", s, b.Name(), b.Len(), b.want)
		}
	}
	if err := s.CheckPerSequence("lengths", lengths); err != nil {
		return err
	}
	for b, n := range lengths.Host {
		if n < 0 || n > s.MaxSeq {
			return fmt.Errorf("decoding of %v: sequence %d has a length of %d: want 0 to %d", s, b, n, s.MaxSeq)
		}
	}
	return nil
}
