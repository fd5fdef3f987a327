// Package backward is bonus task b10: the gradients of attention.
//
// README.md is the handout. You edit backward.go and kernels.cu for float32, halves.go and halves.cu for 16 bits.
package backward

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// The kernels, as Queue.Compile takes them. This file is provided: the
// grader never takes a student's copy of it.
var (
	Source       = device.Source{Folder: "bonus/b10_backward", Name: "kernels.cu"}
	HalvesSource = device.Source{Folder: "bonus/b10_backward", Name: "halves.cu"}
)

// Number is what tensors hold.
type Number interface {
	float32 | device.Float16 | device.BFloat16
}

// Gradients are what a call writes: DQ has q's shape, [Batch, Heads, SeqQ, Dim]; DK and DV have
// k's, [Batch, KVHeads, SeqK, Dim].
type Gradients[T Number] struct{ DQ, DK, DV device.Buffer[T] }

// Forward is what the forward pass had and left: its inputs Q, K and V, its output Out, and the
// logarithm of each row's sum, LSE [Batch, Heads, SeqQ]: ln Σ exp(q·k/√Dim) over the keys that the
// query sees. Of a query that sees none it is −Inf, and its row of Out is 0. LSE is float32 always.
type Forward[T Number] struct {
	Q, K, V, Out device.Buffer[T]
	LSE          device.Buffer[float32]
}

// Check tells what is wrong with a call: with its shape, or the sizes of its buffers.
func Check[T Number](to Gradients[T], from Forward[T], dOut device.Buffer[T], s attn.Shape) error {
	if err := attn.CheckOf(s, from.Out, from.Q, from.K, from.V); err != nil {
		return err
	}
	if s.Dim != 64 && s.Dim != 128 {
		return fmt.Errorf("gradients of attention of %v: the head dimension is 64 or 128 here", s)
	}
	if s.Window != 0 {
		return fmt.Errorf("gradients of attention of %v: windows are not served here", s)
	}
	if err := attn.CheckOf(s, dOut, to.DQ, to.DK, to.DV); err != nil {
		return err
	}
	if n, want := from.LSE.Len(), s.QElements()/s.Dim; n != want {
		return fmt.Errorf("gradients of attention of %v: LSE holds %d numbers, want %d, one for each query", s, n, want)
	}
	return nil
}
