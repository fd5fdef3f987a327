// Package codes is bonus task b3: attention whose scores are products of 8-bit codes.
//
// README.md is the handout. You edit int8.go, quantise.cu and attention.cu, and hopper.cu and softmax.cuh if you like.
package codes

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// The kernels, as Queue.Compile takes them. This file is provided: the grader never takes a
// student's copy of it.
var (
	Quantise  = device.Source{Folder: "bonus/b3_int8", Name: "quantise.cu"}
	Attention = device.Source{Folder: "bonus/b3_int8", Name: "attention.cu"}
	Hopper    = device.Source{Folder: "bonus/b3_int8", Name: "hopper.cu"}
)

// Block is how many rows of q or k share a scale in ByBlock. The last block of a head may be short.
const Block = 64

// Blocks is how many blocks so many rows have.
func Blocks(rows int) int { return (rows + Block - 1) / Block }

// TensorCodes are what PerTensor writes besides out: a number is (code − zero) · scale.
type TensorCodes struct {
	Q, K, V device.Buffer[int8]    // as q, k and v
	Affine  device.Buffer[float32] // [3, 2]: scale and zero of q, of k, and of v
}

// BlockCodes are what ByBlock writes besides out: a number of q is code · scale, and one of k
// mean + code · scale.
type BlockCodes struct {
	Q, K   device.Buffer[int8]    // as q and k
	QScale device.Buffer[float32] // [Batch, Heads, Blocks(SeqQ)]
	KScale device.Buffer[float32] // [Batch, KVHeads, Blocks(SeqK)]
	Mean   device.Buffer[float32] // [Batch, KVHeads, Dim]: of k's columns, over a head's keys
}

// Check tells what is wrong with a call: with its shape, or the sizes of its buffers.
func (c TensorCodes) Check(out, q, k, v device.Buffer[device.Float16], s attn.Shape) error {
	if err := check(out, q, k, v, s); err != nil {
		return err
	}
	return sizes(s, size{c.Q, s.QElements()}, size{c.K, s.KVElements()}, size{c.V, s.KVElements()}, size{c.Affine, 6})
}

// Check is the same for ByBlock.
func (c BlockCodes) Check(out, q, k, v device.Buffer[device.Float16], s attn.Shape) error {
	if err := check(out, q, k, v, s); err != nil {
		return err
	}
	return sizes(s, size{c.Q, s.QElements()}, size{c.K, s.KVElements()}, size{c.QScale, s.Batch * s.Heads * Blocks(s.SeqQ)},
		size{c.KScale, s.Batch * s.KVHeads * Blocks(s.SeqK)}, size{c.Mean, s.Batch * s.KVHeads * s.Dim})
}

func check(out, q, k, v device.Buffer[device.Float16], s attn.Shape) error {
	if err := attn.CheckOf(s, out, q, k, v); err != nil {
		return err
	}
	if s.Dim != 64 && s.Dim != 128 {
		return fmt.Errorf("attention of %v: the head dimension is 64 or 128 here", s)
	}
	return nil
}

// size is a buffer and the elements that it must hold.
type size struct {
	buffer interface {
		Len() int
		Name() string
	}
	want int
}

func sizes(s attn.Shape, all ...size) error {
	for _, b := range all {
		if b.buffer.Len() != b.want {
			return fmt.Errorf("attention of %v: the buffer %q holds %d elements, want %d", s, b.buffer.Name(), b.buffer.Len(), b.want)
		}
	}
	return nil
}
