package tensor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/sbinet/npyio"
)

// maxNPYHeader bounds the header that ReadNPY accepts.
const maxNPYHeader = 64 << 10

// ReadNPY reads NumPy's .npy format: float32, at most that many elements.
func ReadNPY(r io.Reader, most int) (t *Tensor, err error) {
	header, err := npyHeader(r)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	// npyio slices a malformed header out of bounds.
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("npy: malformed header: %v", p)
		}
	}()
	reader, err := npyio.NewReader(io.MultiReader(bytes.NewReader(header), r))
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	d := reader.Header.Descr
	if d.Type != "<f4" || d.Fortran {
		return nil, fmt.Errorf("npy: elements are %q (Fortran order: %v), want '<f4' (float32), row-major", d.Type, d.Fortran)
	}
	n := 1
	for _, dim := range d.Shape {
		if dim < 0 || (dim > 0 && n > most/dim) {
			return nil, fmt.Errorf("npy: shape %s: want at most %d elements", ShapeString(d.Shape), most)
		}
		n *= dim
	}
	t = New(d.Shape...)
	raw := make([]byte, 4*n)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, fmt.Errorf("npy: %d bytes of data promised: %w", len(raw), err)
	}
	for i := range t.Data {
		t.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return t, nil
}

// npyHeader reads the header's bytes, after checking that its length is sane.
func npyHeader(r io.Reader) ([]byte, error) {
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
	if length > maxNPYHeader {
		return nil, fmt.Errorf("a header of %d bytes is too long", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("cut off in the header: %w", err)
	}
	return append(head, text...), nil
}
