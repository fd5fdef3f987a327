// Package fourbit is bonus task b5: weights of four bits, read, and multiplied as they are.
//
// README.md is the handout. You edit fourbit.go, kernels.cu and row.cu.
package fourbit

import (
	"fmt"

	"flashlab/device"
)

// Source, RowSource and NVFP4Source are kernels.cu, row.cu and nvfp4.cu, as Queue.Compile takes them. This file is provided:
// the grader never takes a student's copy of it.
var (
	Source      = device.Source{Folder: "bonus/b5_fourbit", Name: "kernels.cu"}
	RowSource   = device.Source{Folder: "bonus/b5_fourbit", Name: "row.cu"}
	NVFP4Source = device.Source{Folder: "bonus/b5_fourbit", Name: "nvfp4.cu"}
)

// NF4 are weights on the device: each is one of sixteen numbers, times the scale of its block. Blocks
// of 64 go through the whole matrix, as if it had no rows; the last one may be short.
type NF4 struct {
	Codes  device.Buffer[uint8]   // two a byte, the first in the high half
	Scales device.Buffer[float32] // one a block
}

// MXFP4 are weights on the device: E2M1 times a power of two. Each row begins a block of 32; its last
// one may be short. Codes go on without a gap from row to row.
type MXFP4 struct {
	Codes  device.Buffer[uint8] // two a byte, the first in the low half
	Scales device.Buffer[uint8] // E8M0: 2^(scale − 127), and 255 makes all of a block NaN
}

// NVFP4 are weights on the device: E2M1 times two scales. Each row begins a block of 16; its last one may be
// short. Codes go on without a gap from row to row.
type NVFP4 struct {
	Codes  device.Buffer[uint8]   // two a byte, the first in the low half
	Scales device.Buffer[uint8]   // E4M3 with the sign 0, and 127 makes all of a block NaN
	Tensor device.Buffer[float32] // one number, which multiplies all weights
}

// NF4Block, MXFP4Block and NVFP4Block are how many numbers share a scale.
const (
	NF4Block   = 64
	MXFP4Block = 32
	NVFP4Block = 16
)

// HiddenOf is what the numbers of a row of x are a multiple of.
const HiddenOf = 128

// NF4Table are NF4's sixteen numbers, by their codes.
var NF4Table = [16]float32{
	-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
	-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0,
	0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
	0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1,
}

// most bounds what an int of a kernel counts.
const most = 1 << 30

// Check tells what is wrong with reading these weights into so many numbers.
func (w NF4) Check(count int) error {
	return check("NF4", count, w.Codes.Len(), w.Scales.Len(), (count+NF4Block-1)/NF4Block)
}

// Check is the same, for rows of so many numbers.
func (w MXFP4) Check(count, row int) error {
	return checkRows("MXFP4", count, row, w.Codes.Len(), w.Scales.Len(), MXFP4Block)
}

// Check is the same, for rows of so many numbers.
func (w NVFP4) Check(count, row int) error {
	if n := w.Tensor.Len(); n != 1 {
		return fmt.Errorf("NVFP4: %d scales of the tensor, want 1", n)
	}
	return checkRows("NVFP4", count, row, w.Codes.Len(), w.Scales.Len(), NVFP4Block)
}

func checkRows(format string, count, row, codes, scales, block int) error {
	if row < 1 || count%row != 0 {
		return fmt.Errorf("%s: %d numbers are no rows of %d", format, count, row)
	}
	return check(format, count, codes, scales, count/row*((row+block-1)/block))
}

func check(format string, count, codes, scales, blocks int) error {
	switch {
	case count < 1 || count > most:
		return fmt.Errorf("%s: %d numbers: want 1 to %d", format, count, most)
	case codes != (count+1)/2:
		return fmt.Errorf("%s: %d bytes of codes, and %d numbers have %d", format, codes, count, (count+1)/2)
	case scales != blocks:
		return fmt.Errorf("%s: %d scales, and %d numbers in these rows have %d", format, scales, count, blocks)
	}
	return nil
}

// Projection is the shape of [q | k | v] = x [Wq | Wk | Wv] + bias.
type Projection struct{ Batch, Seq, Hidden, Heads, KVHeads, Dim int }

// Rows is how many rows x has.
func (p Projection) Rows() int { return p.Batch * p.Seq }

// Outputs is how many numbers a row of x becomes: those of all heads of q, then of k, then of v.
func (p Projection) Outputs() int { return (p.Heads + 2*p.KVHeads) * p.Dim }

// Halves is a buffer of float16.
type Halves = device.Buffer[device.Float16]

// Check tells what is wrong with a projection: with its shape, or the sizes of its buffers. The
// weights' own Check is for Outputs × Hidden numbers.
func (p Projection) Check(q, k, v, x, bias Halves) error {
	for _, size := range []struct {
		name string
		n    int
	}{{"Batch", p.Batch}, {"Seq", p.Seq}, {"Hidden", p.Hidden}, {"Heads", p.Heads}, {"KVHeads", p.KVHeads}, {"Dim", p.Dim}} {
		if size.n < 1 || size.n > 1<<20 {
			return fmt.Errorf("projection %+v: %s is %d, want 1 to %d", p, size.name, size.n, 1<<20)
		}
	}
	switch {
	case p.Hidden%HiddenOf != 0:
		return fmt.Errorf("projection %+v: Hidden must be a multiple of %d, so that no block of weights reaches into the next row, and each row's scales begin at a whole word", p, HiddenOf)
	case p.Heads%p.KVHeads != 0:
		return fmt.Errorf("projection %+v: %d query heads cannot share %d key heads evenly", p, p.Heads, p.KVHeads)
	case p.Outputs() > most/p.Hidden || p.Rows() > most/max(p.Hidden, p.Outputs()):
		return fmt.Errorf("projection %+v: more than %d weights, or numbers of x or of the outputs", p, most)
	}
	for _, b := range []struct {
		name string
		Halves
		want int
	}{
		{"x", x, p.Rows() * p.Hidden}, {"bias", bias, p.Outputs()}, {"q", q, p.Rows() * p.Heads * p.Dim},
		{"k", k, p.Rows() * p.KVHeads * p.Dim}, {"v", v, p.Rows() * p.KVHeads * p.Dim},
	} {
		if b.Len() != b.want {
			return fmt.Errorf("projection %+v: %s holds %d numbers, want %d", p, b.name, b.Len(), b.want)
		}
	}
	return nil
}
