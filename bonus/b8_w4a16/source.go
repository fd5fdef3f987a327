// Package w4a16 is bonus task b8: products of activations in halves with weights of four bits, for one
// row of activations and for up to 64.
//
// README.md is the handout. You edit w4a16.go, kernels.cu and row.cu, and stream.cu and hopper.cu if you like.
package w4a16

import (
	"fmt"

	"flashlab/device"
)

// The kernels, as Queue.Compile takes them. This file is provided: the
// grader never takes a student's copy of it.
var (
	Source       = device.Source{Folder: "bonus/b8_w4a16", Name: "kernels.cu"}
	RowSource    = device.Source{Folder: "bonus/b8_w4a16", Name: "row.cu"}
	StreamSource = device.Source{Folder: "bonus/b8_w4a16", Name: "stream.cu"}
	HopperSource = device.Source{Folder: "bonus/b8_w4a16", Name: "hopper.cu"}
)

// Halves is a buffer of float16.
type Halves = device.Buffer[device.Float16]

// Weights are those of N outputs, each a row of K: (code − zero) · scale. Groups of 128 numbers of a row share a
// scale and a zero.
type Weights struct {
	Codes  device.Buffer[uint8] // [N, K / 2]: two a byte, the first in the low half; 0 … 15
	Scales Halves               // [N, K / 128]
	Zeros  device.Buffer[uint8] // [N, K / 128]: 0 … 15, the low half of a byte; the other does not count
}

// Laid are the same weights in the order in which tensor cores take them. Tiles have 16 outputs; what
// is behind the last output is 0.
type Laid struct {
	Codes  device.Buffer[uint8] // [tile, K / 64, lane, 16], see README.md
	Scales Halves               // [tile, K / 128, 8, 2]: of outputs g and g + 8 of the tile
	Zeros  device.Buffer[uint8] // the same
}

// What the format is made of, and how many rows Rows has to serve.
const (
	Group    = 128
	Tall     = 16 // outputs of a tile
	MostRows = 64
)

// most bounds what an int of a kernel counts.
const most = 1 << 30

// Shape is that of y [Rows, N] = x [Rows, K] · weights [N, K] transposed.
type Shape struct{ Rows, K, N int }

// Tiles is how many tiles laid weights have.
func (s Shape) Tiles() int { return (s.N + Tall - 1) / Tall }

// Check tells what is wrong with a product by weights: with its shape, or the sizes of its buffers.
func (w Weights) Check(y, x Halves, s Shape) error {
	if err := s.check(y, x, 1); err != nil {
		return err
	}
	return s.checkWeights("weights", w, s.N)
}

// Check is the same for laid weights, and up to 64 rows.
func (w Laid) Check(y, x Halves, s Shape) error {
	if err := s.check(y, x, MostRows); err != nil {
		return err
	}
	return s.checkWeights("laid weights", Weights(w), s.Tiles()*Tall)
}

// CheckLay tells what is wrong with laying weights.
func (s Shape) CheckLay(to Laid, w Weights) error {
	s.Rows = 1
	if err := s.sizes(1); err != nil {
		return err
	}
	if err := s.checkWeights("weights", w, s.N); err != nil {
		return err
	}
	return s.checkWeights("laid weights", Weights(to), s.Tiles()*Tall)
}

func (s Shape) sizes(mostRows int) error {
	switch {
	case s.Rows < 1 || s.Rows > mostRows:
		return fmt.Errorf("product %+v: x has %d rows, want 1 to %d here", s, s.Rows, mostRows)
	case s.K < Group || s.K%Group != 0:
		return fmt.Errorf("product %+v: K must be a multiple of %d, so that every group of weights is whole; pad x and the weights with zeros", s, Group)
	case s.N < 1 || s.N > most/s.K-Tall:
		return fmt.Errorf("product %+v: want at least one output, and fewer than %d weights", s, most)
	}
	return nil
}

func (s Shape) check(y, x Halves, mostRows int) error {
	if err := s.sizes(mostRows); err != nil {
		return err
	}
	if x.Len() != s.Rows*s.K || y.Len() != s.Rows*s.N {
		return fmt.Errorf("product %+v: x holds %d numbers and y %d, want %d and %d", s, x.Len(), y.Len(), s.Rows*s.K, s.Rows*s.N)
	}
	return nil
}

func (s Shape) checkWeights(name string, w Weights, outputs int) error {
	codes, groups := outputs*s.K/2, outputs*s.K/Group
	if w.Codes.Len() != codes || w.Scales.Len() != groups || w.Zeros.Len() != groups {
		return fmt.Errorf("product %+v: %s have %d bytes of codes, %d scales and %d zeros, want %d, %d and %d",
			s, name, w.Codes.Len(), w.Scales.Len(), w.Zeros.Len(), codes, groups, groups)
	}
	return nil
}
