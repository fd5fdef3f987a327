package quant

import (
	"fmt"
	"math"

	"flashlab/tensor"
)

// INT4Group is how many elements of a row share a scale and a zero.
const INT4Group = 128

// INT4 is a matrix whose elements are (code − zero) · scale, where a code and a zero are 0 … 15.
type INT4 struct {
	Count, Row int
	Codes      []byte    // two elements a byte, the first in the low half
	Scales     []float32 // one a group, each a number that a half holds
	Zeros      []byte    // one a group
}

// Symmetric is the zero of every group that is rounded symmetrically.
const Symmetric = 8

// ToINT4 rounds a matrix to the nearest, ties to even. The symmetric way has the zero 8, and a scale
// such that the largest magnitude is 7 of it. The other, asymmetric, spreads the codes from the lowest
// to the highest element, and over 0, which so stays 0. Scales are rounded to halves first: codes
// are then the nearest for the scale that is kept. A group of zeros has the scale 0.
func ToINT4(x []float32, row int, asymmetric bool) (INT4, error) {
	if err := whole(x, row); err != nil {
		return INT4{}, err
	}
	if err := finite(x); err != nil {
		return INT4{}, err
	}
	m := emptyINT4(len(x), row)
	blocks(len(x), row, INT4Group, func(b, from, to int) {
		scale, zero := m.begin(b, x[from:to], asymmetric)
		for i := from; i < to; i++ {
			lowFirst.put(m.Codes, i, nearestCode(x[i], scale, zero))
		}
	})
	return m, m.check()
}

// emptyINT4 has room for so many elements.
func emptyINT4(count, row int) INT4 {
	groups := Blocks(count, row, INT4Group)
	return INT4{Count: count, Row: row, Codes: make([]byte, bytesOf(count)), Scales: make([]float32, groups), Zeros: make([]byte, groups)}
}

// begin fixes the scale and the zero of group b, whose elements are x.
func (m INT4) begin(b int, x []float32, asymmetric bool) (scale float32, zero int) {
	scale, zero = span(x, asymmetric)
	m.Scales[b], m.Zeros[b] = scale, byte(zero)
	return scale, zero
}

// check finds the first scale that is too large.
func (m INT4) check() (err error) {
	blocks(m.Count, m.Row, INT4Group, func(b, from, to int) {
		if math.IsInf(float64(m.Scales[b]), 0) && err == nil {
			err = fmt.Errorf("elements %d to %d: their scale does not fit in a half", from, to-1)
		}
	})
	return err
}

// span is the scale and the zero of a group.
func span(x []float32, asymmetric bool) (scale float32, zero int) {
	if !asymmetric {
		return asHalf(float64(magnitude(x)) / 7), Symmetric
	}
	low, high := 0.0, 0.0
	for _, v := range x {
		low, high = min(low, float64(v)), max(high, float64(v))
	}
	scale = asHalf((high - low) / 15)
	return scale, nearestCode(float32(-low), scale, 0)
}

// nearestCode is x in steps of scale from zero on, within 0 … 15.
func nearestCode(x, scale float32, zero int) int {
	if scale == 0 || math.IsInf(float64(scale), 0) {
		return zero
	}
	return max(0, min(15, zero+int(math.RoundToEven(float64(x)/float64(scale)))))
}

func asHalf(x float64) float32 {
	one := []float32{float32(x)}
	tensor.Float16.Round(one)
	return one[0]
}

// Numbers reads them all. A code less its zero has four bits and a sign, a scale eleven: their
// product is exact.
func (m INT4) Numbers() []float32 {
	x := make([]float32, m.Count)
	blocks(m.Count, m.Row, INT4Group, func(b, from, to int) {
		for i := from; i < to; i++ {
			x[i] = float32(lowFirst.get(m.Codes, i)-int(m.Zeros[b])) * m.Scales[b]
		}
	})
	return x
}

// Bytes is what a device holds of it.
func (m INT4) Bytes() int { return len(m.Codes) + 2*len(m.Scales) + len(m.Zeros) }

// Error is how far rounded numbers are from what they were: the root of the sum of squares, relative
// to that of the numbers themselves.
func Error(was, is []float32) float64 {
	var apart, size float64
	for i, x := range was {
		d := float64(is[i]) - float64(x)
		apart, size = apart+d*d, size+float64(x)*float64(x)
	}
	if apart == 0 {
		return 0
	}
	return math.Sqrt(apart / size)
}
