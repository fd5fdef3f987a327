// Package npy reads NumPy's .npy format. It is apart from package tensor so that workers, which are
// built for every submission, go without what npyio brings along: a library of linear algebra.
package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/sbinet/npyio"

	"flashlab/tensor"
)

// maxHeader bounds the header that Read accepts.
const maxHeader = 64 << 10

// names are what NumPy calls the types; '<V2' and '<V1' are ml_dtypes' names.
var names = map[tensor.Type][]string{
	tensor.Float32:  {"<f4"},
	tensor.Float16:  {"<f2"},
	tensor.BFloat16: {"<V2", "|V2"},
	tensor.Int8:     {"|i1"},
	tensor.Int4:     {"<V1", "|V1"},
	tensor.E8M0:     {"<V1", "|V1"},
}

// Read reads float32, at most that many elements.
func Read(r io.Reader, most int) (*tensor.Tensor, error) { return ReadOf(tensor.Float32, r, most) }

// ReadOf is Read for elements of a type. NumPy has no bfloat16 or int4 of its own; the
// names are those of Python's ml_dtypes, which gives each int4 a byte.
func ReadOf(want tensor.Type, r io.Reader, most int) (t *tensor.Tensor, err error) {
	if err := want.Check(); err != nil {
		return nil, err
	}
	head, err := header(r)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	// npyio slices a malformed header out of bounds.
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("npy: malformed header: %v", p)
		}
	}()
	reader, err := npyio.NewReader(io.MultiReader(bytes.NewReader(head), r))
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	d := reader.Header.Descr
	if !slices.Contains(names[want], d.Type) || d.Fortran {
		return nil, fmt.Errorf("npy: elements are %q (Fortran order: %v), want '%s' (%v), row-major", d.Type, d.Fortran, names[want][0], want)
	}
	n := 1
	for _, dim := range d.Shape {
		if dim < 0 || (dim > 0 && n > most/dim) {
			return nil, fmt.Errorf("npy: shape %s: want at most %d elements", tensor.ShapeString(d.Shape), most)
		}
		n *= dim
	}
	raw := make([]byte, want.Bytes(1)*n) // NumPy packs nothing
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, fmt.Errorf("npy: %d bytes of data promised: %w", len(raw), err)
	}
	if want == tensor.Int4 {
		pack(raw)
		raw = raw[:want.Bytes(n)]
	}
	return &tensor.Tensor{Shape: d.Shape, Data: want.Decode(raw)[:n], Type: want}, nil
}

// pack puts the low halves of pairs of bytes into one, from the front.
func pack(b []byte) {
	for i, c := range b {
		if i%2 == 0 {
			b[i/2] = c & 15
		} else {
			b[i/2] |= c << 4
		}
	}
}

// header reads the header's bytes, after checking that its length is sane.
func header(r io.Reader) ([]byte, error) {
	head := make([]byte, 10)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("no .npy file: %w", err)
	}
	if string(head[:6]) != "\x93NUMPY" {
		return nil, fmt.Errorf("no .npy file: it starts with %q", head[:6])
	}
	length := int(binary.LittleEndian.Uint16(head[8:]))
	if head[6] != 1 {
		more := make([]byte, 2)
		if _, err := io.ReadFull(r, more); err != nil {
			return nil, err
		}
		head = append(head, more...)
		length = int(binary.LittleEndian.Uint32(head[8:]))
	}
	if length > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes is too long", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("cut off in the header: %w", err)
	}
	return append(head, text...), nil
}
