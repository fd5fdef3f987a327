package quant

import "math"

// MXFP4Block is how many elements share a scale.
const MXFP4Block = 32

// MXFP4 is a matrix of E2M1 elements, each block of a row times a power of two.
type MXFP4 struct {
	Count, Row int
	Codes      []byte // two elements a byte, the first in the low half
	Scales     []byte // E8M0, one a block
}

const (
	biasE8M0 = 127
	// NaNE8M0 makes all of a block NaN.
	NaNE8M0 = 255
)

// FromE8M0 is the number of a scale: 2^-127 to 2^127, or NaN.
func FromE8M0(code byte) float32 {
	if code == NaNE8M0 {
		return float32(math.NaN())
	}
	return float32(math.Ldexp(1, int(code)-biasE8M0))
}

// ToMXFP4 rounds a matrix. A block's scale is such that its largest element lies from 4 to 8
// before it is rounded: what then is above 6 becomes 6. A block that holds a NaN or an infinity
// becomes NaN; a block of zeros has the smallest scale.
func ToMXFP4(x []float32, row int) (MXFP4, error) {
	if err := whole(x, row); err != nil {
		return MXFP4{}, err
	}
	m := MXFP4{Count: len(x), Row: row, Codes: make([]byte, bytesOf(len(x))), Scales: make([]byte, Blocks(len(x), row, MXFP4Block))}
	blocks(len(x), row, MXFP4Block, func(b, from, to int) {
		if finite(x[from:to]) != nil {
			m.Scales[b] = NaNE8M0
			return
		}
		exponent := -biasE8M0
		if most := magnitude(x[from:to]); most > 0 {
			const largest = 2 // the exponent of 4, E2M1's highest power of two
			_, e := math.Frexp(float64(most))
			exponent = max(e-1-largest, -biasE8M0)
		}
		m.Scales[b] = byte(exponent + biasE8M0)
		for i := from; i < to; i++ {
			lowFirst.put(m.Codes, i, codeE2M1(math.Ldexp(float64(x[i]), -exponent), math.Signbit(float64(x[i]))))
		}
	})
	return m, nil
}

// Numbers reads them all.
func (m MXFP4) Numbers() []float32 {
	x := make([]float32, m.Count)
	blocks(m.Count, m.Row, MXFP4Block, func(b, from, to int) {
		scale := FromE8M0(m.Scales[b])
		for i := from; i < to; i++ {
			x[i] = FromE2M1(lowFirst.get(m.Codes, i)) * scale // exact, but for what is beyond float32
		}
	})
	return x
}

// Bytes is what a device holds of it.
func (m MXFP4) Bytes() int { return len(m.Codes) + len(m.Scales) }
