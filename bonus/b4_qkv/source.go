// Package qkv is bonus task b4: one projection for q, k and v.
//
// README.md is the handout. You edit qkv.go and kernels.cu, and hopper.cu if you like.
package qkv

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// The kernels, as Queue.Compile takes them. This file is provided: the
// grader never takes a student's copy of it.
var (
	Source       = device.Source{Folder: "bonus/b4_qkv", Name: "kernels.cu"}
	HopperSource = device.Source{Folder: "bonus/b4_qkv", Name: "hopper.cu"}
)

// Projection is the shape of [q | k | v] = x [Wq | Wk | Wv] + bias.
type Projection struct {
	Batch, Seq, Hidden, Heads, KVHeads, Dim int
	TokensFirst                             bool // q is [Batch, Seq, Heads, Dim], not [Batch, Heads, Seq, Dim]; so are k and v
}

// Rows is how many rows x has.
func (p Projection) Rows() int { return p.Batch * p.Seq }

// Outputs is how many numbers a row of x becomes: those of all heads of q, then of k, then of v.
func (p Projection) Outputs() int { return (p.Heads + 2*p.KVHeads) * p.Dim }

// Weights are joined offline: W [Hidden, Outputs] has Wq's columns, then Wk's, then Wv's. Bias [Outputs]
// is joined likewise; the zero Buffer is none.
type Weights[T device.Half] struct{ W, Bias device.Buffer[T] }

// Biased tells whether there is a bias.
func (w Weights[T]) Biased() bool { return w.Bias.Len() > 0 }

// Parts are q, k and v.
type Parts[T device.Half] struct{ Q, K, V device.Buffer[T] }

// Halves is a buffer of float16.
type Halves = device.Buffer[device.Float16]

// most bounds what an int of a kernel counts.
const most = 1 << 30

// Check tells what is wrong with a projection: with its shape, or the sizes of its buffers.
func Check[T device.Half](p Projection, to Parts[T], x device.Buffer[T], w Weights[T]) error {
	if err := p.check(); err != nil {
		return err
	}
	return sizes(p, append(to.sized(p), sized[T]{"x", x, p.Rows() * p.Hidden}, sized[T]{"W", w.W, p.Hidden * p.Outputs()}), w.Bias)
}

// CheckSplit is the same for Split, which is given a projection [Rows, Outputs]. Its Hidden does not count.
func CheckSplit[T device.Half](p Projection, to Parts[T], projection, bias device.Buffer[T]) error {
	p.Hidden = 8
	if err := p.check(); err != nil {
		return err
	}
	return sizes(p, append(to.sized(p), sized[T]{"the projection", projection, p.Rows() * p.Outputs()}), bias)
}

func (p Projection) check() error {
	for _, size := range []struct {
		name string
		n    int
	}{{"Batch", p.Batch}, {"Seq", p.Seq}, {"Hidden", p.Hidden}, {"Heads", p.Heads}, {"KVHeads", p.KVHeads}, {"Dim", p.Dim}} {
		if size.n < 1 || size.n > 1<<20 {
			return fmt.Errorf("projection %+v: %s is %d, want 1 to %d", p, size.name, size.n, 1<<20)
		}
	}
	switch {
	case p.Hidden%8 != 0 || p.Dim%8 != 0:
		return fmt.Errorf("projection %+v: Hidden and Dim must be multiples of 8, so that 16 bytes of x, of W and of an output are of one row and one head", p)
	case p.Heads%p.KVHeads != 0:
		return fmt.Errorf("projection %+v: %d query heads cannot share %d key heads evenly", p, p.Heads, p.KVHeads)
	case p.Outputs() > most/p.Hidden || p.Rows() > most/max(p.Hidden, p.Outputs()):
		return fmt.Errorf("projection %+v: more than %d numbers of x, of W or of the outputs", p, most)
	}
	return nil
}

// sized is a buffer, and how many numbers it should hold.
type sized[T device.Half] struct {
	name string
	device.Buffer[T]
	want int
}

func (to Parts[T]) sized(p Projection) []sized[T] {
	kv := p.Rows() * p.KVHeads * p.Dim
	return []sized[T]{{"q", to.Q, p.Rows() * p.Heads * p.Dim}, {"k", to.K, kv}, {"v", to.V, kv}}
}

func sizes[T device.Half](p Projection, all []sized[T], bias device.Buffer[T]) error {
	if bias.Len() > 0 {
		all = append(all, sized[T]{"the bias", bias, p.Outputs()})
	}
	for _, b := range all {
		if b.Len() != b.want {
			return fmt.Errorf("projection %+v: %s holds %d numbers, want %d", p, b.name, b.Len(), b.want)
		}
	}
	return nil
}

// Config is what stays the same in every call of a layer.
type Config struct {
	Hidden, Heads, KVHeads, Dim int
	Causal                      bool
	MaxRows                     int // the largest Batch · Seq to have room for
}

// Attention is a kernel that is given: it writes softmax(q·kᵀ/√Dim)·v to out, all as attn.Shape has them:
// [Batch, Heads, Seq, Dim].
type Attention func(out, q, k, v Halves, s attn.Shape) error
