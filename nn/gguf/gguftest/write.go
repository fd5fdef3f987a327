// Package gguftest writes GGUF files for tests.
package gguftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"flashlab/tensor"
)

// Weight is one weight: its shape as a matrix has it, [out, in], and its values in blocks of a type.
type Weight struct {
	Shape []int
	Type  uint32 // ggml's number: 0 is F32, 1 F16, 2 Q4_0, 3 Q4_1, 8 Q8_0, 12 Q4_K, 14 Q6_K, 30 BF16
	Raw   []byte
}

// Float32 is a weight as it is.
func Float32(x *tensor.Tensor) Weight {
	var raw []byte
	for _, v := range x.Data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return Weight{Shape: x.Shape, Raw: raw}
}

// alignment is where weights begin.
const alignment = 32

// File is a GGUF file with this metadata (uint32, float32, bool, string, []string, []int32) and these weights.
func File(metadata map[string]any, weights map[string]Weight) []byte {
	var b bytes.Buffer
	b.WriteString("GGUF")
	put := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err) // a bytes.Buffer takes all, and only numbers come here
		}
	}
	text := func(s string) {
		put(uint64(len(s)))
		b.WriteString(s)
	}
	put(uint32(3))
	put(uint64(len(weights)))
	put(uint64(len(metadata)))
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		text(key)
		switch v := metadata[key].(type) {
		case uint32:
			put(uint32(4))
			put(v)
		case float32:
			put(uint32(6))
			put(v)
		case bool:
			put(uint32(7))
			put(v)
		case string:
			put(uint32(8))
			text(v)
		case []string:
			put([]uint32{9, 8})
			put(uint64(len(v)))
			for _, s := range v {
				text(s)
			}
		case []int32:
			put([]uint32{9, 5})
			put(uint64(len(v)))
			put(v)
		default:
			panic(fmt.Sprintf("%s = %v: a type that this writer does not know", key, v))
		}
	}
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		w := weights[name]
		text(name)
		put(uint32(len(w.Shape)))
		for _, side := range slices.Backward(w.Shape) {
			put(uint64(side))
		}
		put(w.Type)
		put(uint64(len(data)))
		data = append(data, w.Raw...)
		data = append(data, make([]byte, -len(data)&(alignment-1))...)
	}
	b.Write(make([]byte, -b.Len()&(alignment-1)))
	b.Write(data)
	return b.Bytes()
}
