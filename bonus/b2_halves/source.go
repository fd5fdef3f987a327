// Package halves is bonus task b2: attention in float16 and bfloat16, on tensor cores.
//
// README.md is the handout. You edit halves.go and kernels.cu, and hopper.cu and softmax.cuh if you like.
package halves

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// The kernels, as Queue.Compile takes them. This file is provided: the
// grader never takes a student's copy of it.
var (
	Source       = device.Source{Folder: "bonus/b2_halves", Name: "kernels.cu"}
	HopperSource = device.Source{Folder: "bonus/b2_halves", Name: "hopper.cu"}
)

// Attention is what both methods of Halves are: one for each type.
type Attention[T device.Half] func(t *Halves, out, q, k, v device.Buffer[T], s attn.Shape) error

// Check tells what is wrong with a call: with its shape, or the sizes of its buffers.
func Check[T device.Half](out, q, k, v device.Buffer[T], s attn.Shape) error {
	if err := attn.CheckOf(s, out, q, k, v); err != nil {
		return err
	}
	if s.Dim != 64 && s.Dim != 128 {
		return fmt.Errorf("attention of %v: the head dimension is 64 or 128 here", s)
	}
	return nil
}
