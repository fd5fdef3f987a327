package gguf

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/x448/float16"
)

// format is how values of one type are kept: block of them in so many bytes.
type format struct {
	name         string
	block, bytes int
	decode       func(x []float32, raw []byte) // one block
}

// types are those that can be read, by ggml's numbers.
var types = map[uint32]format{
	0:  {"F32", 1, 4, float32s},
	1:  {"F16", 1, 2, float16s},
	2:  {"Q4_0", 32, 18, q40},
	3:  {"Q4_1", 32, 20, q41},
	8:  {"Q8_0", 32, 34, q80},
	12: {"Q4_K", 256, 144, q4K},
	14: {"Q6_K", 256, 210, q6K},
	30: {"BF16", 1, 2, bfloat16s},
}

// others are some that cannot, for messages.
var others = map[uint32]string{6: "Q5_0", 7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 13: "Q5_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS",
	18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
	29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4"}

func nameOf(kind uint32) string {
	if t, ok := types[kind]; ok {
		return t.name
	}
	if name, ok := others[kind]; ok {
		return name
	}
	return fmt.Sprintf("type %d", kind)
}

func readable() string {
	var names []string
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		names = append(names, types[kind].name)
	}
	return strings.Join(names, ", ")
}

func float32s(x []float32, raw []byte) {
	x[0] = math.Float32frombits(binary.LittleEndian.Uint32(raw))
}

func float16s(x []float32, raw []byte) { x[0] = half(raw) }

// bfloat16s are the upper halves of float32s.
func bfloat16s(x []float32, raw []byte) {
	x[0] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw)) << 16)
}

// q80 is a scale, then 32 signed codes.
func q80(x []float32, raw []byte) {
	scale := half(raw)
	for i, code := range raw[2:34] {
		x[i] = scale * float32(int8(code))
	}
}

// q40 is a scale, then 32 codes, each 8 too large: a byte has number i in its lower half, and number i + 16 in its upper.
func q40(x []float32, raw []byte) {
	scale := half(raw)
	for i, both := range raw[2:18] {
		x[i], x[i+16] = scale*float32(int(both&15)-8), scale*float32(int(both>>4)-8)
	}
}

// q41 is a scale and the least number, then 32 codes in the same order.
func q41(x []float32, raw []byte) {
	scale, least := half(raw), half(raw[2:])
	for i, both := range raw[4:20] {
		x[i], x[i+16] = scale*float32(both&15)+least, scale*float32(both>>4)+least
	}
}

// q4K is eight groups of 32 codes. Each group has a scale and a least number of 6 bits, and all share a scale for
// either.
func q4K(x []float32, raw []byte) {
	scale, least := half(raw), half(raw[2:])
	for group := range 8 {
		s, m := sixBits(raw[4:16], group)
		factor, low := scale*float32(s), least*float32(m)
		for i, both := range raw[16+group/2*32:][:32] {
			x[group*32+i] = factor*float32(both>>(group%2*4)&15) - low
		}
	}
}

// q6K is sixteen groups of 16 codes of 6 bits, each 32 too large: four bits of a code are here, two are there. Each group
// has a scale of 8 bits.
func q6K(x []float32, raw []byte) {
	scale := half(raw[208:])
	for i := range 256 {
		part, row, column := i/128, i%128/32, i%32 // of 128 numbers: 64 bytes of lower bits, 32 of upper
		low := raw[part*64+row%2*32+column] >> (row / 2 * 4) & 15
		high := raw[128+part*32+column] >> (row * 2) & 3
		group := int8(raw[192+i/16])
		x[i] = scale * float32(group) * float32(int(low|high<<4)-32)
	}
}

// sixBits are a group's scale and least number: those of the first four groups are whole, the upper two bits of the
// others lie above these.
func sixBits(raw []byte, group int) (scale, least byte) {
	if group < 4 {
		return raw[group] & 63, raw[group+4] & 63
	}
	return raw[group+4]&15 | raw[group-4]>>6<<4, raw[group+4]>>4 | raw[group]>>6<<4
}

func half(raw []byte) float32 {
	return float16.Frombits(binary.LittleEndian.Uint16(raw)).Float32()
}
