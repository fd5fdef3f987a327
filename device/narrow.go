package device

import (
	"encoding/binary"

	"flashlab/tensor"
)

// Elements that are narrower than Go's numbers. A Buffer of them holds what kernels know as
// half, __nv_bfloat16, and bytes of two int4; int8 is Go's own. Package tensor rounds.
type (
	Float16  uint16 // the bits of a half
	BFloat16 uint16 // the bits of a __nv_bfloat16
	Int4Pair uint8  // two numbers from -8 to 7: the first is in the low half
)

// Half is a float of 16 bits.
type Half interface {
	Float16 | BFloat16
	Float32() float32
}

// Float32 is the number.
func (x Float16) Float32() float32 { return widen(tensor.Float16, uint16(x)) }

// Float32 is the number.
func (x BFloat16) Float32() float32 { return widen(tensor.BFloat16, uint16(x)) }

// ToFloat16 is the nearest number; beyond 65504 it is infinite.
func ToFloat16(x float32) Float16 { return Float16(narrowed(tensor.Float16, x)) }

// ToBFloat16 is the nearest number.
func ToBFloat16(x float32) BFloat16 { return BFloat16(narrowed(tensor.BFloat16, x)) }

// Numbers are the two, the first one first.
func (p Int4Pair) Numbers() (first, second int8) {
	x := tensor.Int4.Decode([]byte{byte(p)})
	return int8(x[0]), int8(x[1])
}

// ToInt4Pair puts two numbers into a byte; those beyond -8 … 7 become these.
func ToInt4Pair(first, second int8) Int4Pair {
	return Int4Pair(tensor.Int4.Encode([]float32{float32(first), float32(second)})[0])
}

func widen(t tensor.Type, bits uint16) float32 {
	return t.Decode(binary.LittleEndian.AppendUint16(nil, bits))[0]
}

func narrowed(t tensor.Type, x float32) uint16 {
	return binary.LittleEndian.Uint16(t.Encode([]float32{x}))
}
