package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Type is what a tensor's elements are outside Go: on a device, in a file, in a message. In
// Go they are always float32, which holds every number of every type exactly.
type Type string

// The types. The zero value is float32.
const (
	Float32  Type = ""
	Float16  Type = "float16"  // 5 bits of exponent, 10 of fraction
	BFloat16 Type = "bfloat16" // the upper half of a float32: 8 bits of exponent, 7 of fraction
	Int8     Type = "int8"     // −128 … 127
	Int4     Type = "int4"     // −8 … 7, two in a byte: the first one in its low half
	E8M0     Type = "e8m0"     // 8 bits of exponent and nothing else: 2^−127 … 2^127, and NaN
)

// Types lists them all.
var Types = []Type{Float32, Float16, BFloat16, Int8, Int4, E8M0}

// layout is all there is to know about a type.
type layout struct {
	bits int
	tag  string // of an array in a message: 3 bytes
	// unit is what 1 of a distribution becomes: normal numbers are below 4, and fill an integer's range.
	unit   float32
	encode func(float32) uint32
	decode func(uint32) float32
}

var layouts = map[Type]layout{
	Float32:  {32, "<f4", 1, math.Float32bits, math.Float32frombits},
	Float16:  floating(5, 10, "<f2"),
	BFloat16: floating(8, 7, "<b2"),
	Int8:     whole(8, "|i1"),
	Int4:     whole(4, "|i4"),
	E8M0:     {8, "|e8", 1, encodeE8M0, decodeE8M0},
}

func (t Type) String() string {
	if t == Float32 {
		return "float32"
	}
	return string(t)
}

// Check refuses a type that does not exist.
func (t Type) Check() error {
	if !slices.Contains(Types, t) {
		return fmt.Errorf("tensor: unknown type %q; there are %v", string(t), Types)
	}
	return nil
}

// Bits is the size of an element.
func (t Type) Bits() int { return layouts[t].bits }

// Bytes is the size of n elements; the last byte may be half full.
func (t Type) Bytes(n int) int { return (n*t.Bits() + 7) / 8 }

// Elements is how many whole elements there are in so many bytes.
func (t Type) Elements(bytes int) int { return 8 * bytes / t.Bits() }

// Tag marks an array of this type in a message: 3 bytes.
func (t Type) Tag() string { return layouts[t].tag }

// Unit is what 1 of a distribution becomes.
func (t Type) Unit() float32 { return layouts[t].unit }

// Unwritten is the number that an element holds whose bits are all 1, as the grader leaves them
// before a call: a NaN. Integers have none.
func (t Type) Unwritten() (bits uint32, ok bool) {
	l := layouts[t]
	x := l.decode(math.MaxUint32 >> (32 - l.bits))
	return math.Float32bits(x), x != x
}

// Encode writes numbers as a device holds them, each rounded to the nearest, lowest byte first.
func (t Type) Encode(x []float32) []byte {
	b, l := make([]byte, t.Bytes(len(x))), layouts[t]
	for i, v := range x {
		switch code := l.encode(v); l.bits {
		case 32:
			binary.LittleEndian.PutUint32(b[4*i:], code)
		case 16:
			binary.LittleEndian.PutUint16(b[2*i:], uint16(code))
		case 8:
			b[i] = byte(code)
		case 4:
			b[i/2] |= byte(code) << (i % 2 * 4)
		}
	}
	return b
}

// Decode is the reverse: as many numbers as the bytes hold.
func (t Type) Decode(b []byte) []float32 {
	x, l := make([]float32, t.Elements(len(b))), layouts[t]
	for i := range x {
		switch l.bits {
		case 32:
			x[i] = l.decode(binary.LittleEndian.Uint32(b[4*i:]))
		case 16:
			x[i] = l.decode(uint32(binary.LittleEndian.Uint16(b[2*i:])))
		case 8:
			x[i] = l.decode(uint32(b[i]))
		case 4:
			x[i] = l.decode(uint32(b[i/2]>>(i%2*4)) & 15)
		}
	}
	return x
}

// Round gives x the values that the type can hold, each the nearest; of two that are equally
// near, the one whose last bit is 0. Beyond the largest, floats become infinite, while integers
// and E8M0 stay at the largest. A NaN becomes 0 as an integer. E8M0 has no sign, and loses it.
func (t Type) Round(x []float32) {
	if t == Float32 {
		return // not even a NaN's bits change
	}
	l := layouts[t]
	for i, v := range x {
		x[i] = l.decode(l.encode(v))
	}
}
