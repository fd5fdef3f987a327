// Package npytest writes NumPy's files for tests: the course itself only reads them.
package npytest

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// File is an array in NumPy's .npy format, version 1.0. (npyio writes slices as one
// dimension and matrices as two; tensors have up to four.)
func File(data []float32, shape ...int) []byte {
	raw, _ := binary.Append(nil, binary.LittleEndian, data) // float32 has a size
	return Raw("<f4", raw, shape...)
}

// Raw is a file of elements that NumPy calls by this name, of their bytes.
func Raw(descr string, raw []byte, shape ...int) []byte {
	dims := make([]string, len(shape))
	for i, d := range shape {
		dims[i] = fmt.Sprintf("%d,", d)
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, strings.Join(dims, " "))
	// Magic, version, length and text together fill a multiple of 64 bytes.
	dict += strings.Repeat(" ", 63-(10+len(dict))%64) + "\n"
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), byte(len(dict)>>8))
	return append(append(file, dict...), raw...)
}
