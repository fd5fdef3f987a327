package quant

import "math"

// NVFP4Block is how many elements share a scale.
const NVFP4Block = 16

// NVFP4 is a matrix of E2M1 elements. Each block of a row is multiplied by its own scale, and by
// that of the tensor.
type NVFP4 struct {
	Count, Row int
	Codes      []byte // two elements a byte, the first in the low half
	Scales     []byte // E4M3, one a block
	Tensor     float32
}

// e4m3 are the positive numbers of eight bits: four of exponent, three of fraction, and no
// infinity. The code behind the last one is NaN.
var e4m3 = func() (all ascending) {
	const bias, fractions = 7, 8
	for code := range 127 {
		exponent, fraction := code/fractions, float64(code%fractions)/fractions
		if exponent == 0 {
			all = append(all, float32(math.Ldexp(fraction, 1-bias)))
		} else {
			all = append(all, float32(math.Ldexp(1+fraction, exponent-bias)))
		}
	}
	return all
}()

const (
	largestE4M3 = 448
	nanE4M3     = 127
)

// FromE4M3 is the number of a scale.
func FromE4M3(code byte) float32 {
	if code&127 == nanE4M3 {
		return float32(math.NaN())
	}
	if code >= 128 {
		return -e4m3[code-128]
	}
	return e4m3[code]
}

// ToNVFP4 rounds a matrix. The tensor's scale is such that the largest element of all is 6 times
// the largest E4M3; a block's is the nearest E4M3 to what would make its own largest element 6. A
// matrix of zeros has the scale 1.
func ToNVFP4(x []float32, row int) (NVFP4, error) {
	if err := whole(x, row); err != nil {
		return NVFP4{}, err
	}
	if err := finite(x); err != nil {
		return NVFP4{}, err
	}
	m := NVFP4{Count: len(x), Row: row, Codes: make([]byte, bytesOf(len(x))), Scales: make([]byte, Blocks(len(x), row, NVFP4Block)), Tensor: 1}
	if most := magnitude(x); most > 0 {
		m.Tensor = max(most/(largestE2M1*largestE4M3), math.SmallestNonzeroFloat32)
	}
	blocks(len(x), row, NVFP4Block, func(b, from, to int) {
		most := float64(magnitude(x[from:to]))
		m.Scales[b] = byte(e4m3.nearest(most / largestE2M1 / float64(m.Tensor)))
		scale := float64(FromE4M3(m.Scales[b])) * float64(m.Tensor)
		if scale == 0 {
			return // too small for the format: zeros
		}
		for i := from; i < to; i++ {
			lowFirst.put(m.Codes, i, codeE2M1(float64(x[i])/scale, math.Signbit(float64(x[i]))))
		}
	})
	return m, nil
}

// Numbers reads them all: element times block's scale, which is exact, then times the tensor's.
func (m NVFP4) Numbers() []float32 {
	x := make([]float32, m.Count)
	blocks(m.Count, m.Row, NVFP4Block, func(b, from, to int) {
		scale := FromE4M3(m.Scales[b])
		for i := from; i < to; i++ {
			x[i] = FromE2M1(lowFirst.get(m.Codes, i)) * scale * m.Tensor
		}
	})
	return x
}

// Bytes is what a device holds of it.
func (m NVFP4) Bytes() int { return len(m.Codes) + len(m.Scales) + 4 }
