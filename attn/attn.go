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
	Causal                bool // query i sees keys 0 … i + SeqK − SeqQ; the last query sees all
	Window                int  // of these, only the last so many; 0 for all
}

func (s Shape) String() string {
	mask := "full"
	if s.Causal {
		mask = "causal"
	}
	if s.Window > 0 {
		mask += fmt.Sprintf(", a window of %d", s.Window)
	}
	return fmt.Sprintf("q [%d, %d, %d, %d], k and v [%d, %d, %d, %d], %s",
		s.Batch, s.Heads, s.SeqQ, s.Dim, s.Batch, s.KVHeads, s.SeqK, s.Dim, mask)
}

// Kernel is a compiled attention. Only Run is timed. It works on buffers that
// the caller allocated, and must write every element of out. A query that sees
// no key (causal, with fewer keys than queries) gets zeros.
type Kernel interface {
	Run(out, q, k, v device.Buffer[float32], s Shape) error
}

// QElements is the number of values in q, and in out.
func (s Shape) QElements() int { return s.Batch * s.Heads * s.SeqQ * s.Dim }

// KVElements is the number of values in k, and in v.
func (s Shape) KVElements() int { return s.Batch * s.KVHeads * s.SeqK * s.Dim }

// Sees tells whether query i may attend to key j.
func (s Shape) Sees(i, j int) bool {
	last := i + s.SeqK - s.SeqQ // the key of the query's own token
	return (!s.Causal || j <= last) && (s.Window == 0 || j > last-s.Window)
}

// Check tells what is wrong with a shape, or with the sizes of the buffers.
func (s Shape) Check(out, q, k, v device.Buffer[float32]) error { return CheckOf(s, out, q, k, v) }

// CheckOf is Check for buffers of any type.
func CheckOf[T device.Scalar](s Shape, out, q, k, v device.Buffer[T]) error {
	switch {
	case min(s.Batch, s.Heads, s.KVHeads, s.SeqQ, s.SeqK, s.Dim) < 1:
		return fmt.Errorf("attention of %v: every dimension must be at least 1", s)
	case s.Window < 0 || s.Window > 0 && !s.Causal:
		return fmt.Errorf("attention of %v: a window has at least one key, and goes with the causal mask (%d is none)", s, s.Window)
	case s.Heads%s.KVHeads != 0:
		return fmt.Errorf("attention of %v: %d query heads cannot share %d key heads evenly", s, s.Heads, s.KVHeads)
	}
	for _, b := range []struct {
		device.Buffer[T]
		want int
	}{{out, s.QElements()}, {q, s.QElements()}, {k, s.KVElements()}, {v, s.KVElements()}} {
		if err := holds(b.Buffer, b.want); err != nil {
			return fmt.Errorf("attention of %v: %w", s, err)
		}
	}
	return nil
}

// holds requires a buffer of so many elements.
func holds[T device.Scalar](b device.Buffer[T], want int) error {
	switch n := b.Len(); {
	case n > want:
		return fmt.Errorf("the buffer %q holds %d elements, want %d: a part of it, Slice(0, %d), is a buffer, too", b.Name(), n, want, want)
	case n < want:
		return fmt.Errorf("the buffer %q holds %d elements, want %d", b.Name(), n, want)
	}
	return nil
}
