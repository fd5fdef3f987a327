// Package safetensors reads the weights of a Hugging Face model's folder: one
// .safetensors file, or shards with an index. It holds headers only, so that a
// model larger than the memory can be read piece by piece.
package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/x448/float16"

	"flashlab/tensor"
)

// maxHeader bounds a header, as the format itself does.
const maxHeader = 100 << 20

// File is one .safetensors file: eight bytes with the length of a header, the
// header (JSON, from names to types, shapes and places), then the values.
type File struct {
	r       io.ReaderAt
	start   int64 // of the values
	entries map[string]Entry
}

// Entry is what the header says of one tensor.
type Entry struct {
	Type    string    `json:"dtype"`
	Shape   []int     `json:"shape"`
	Offsets *[2]int64 `json:"data_offsets"` // from start
}

// widths are the bytes of an element of each type that can be read.
var widths = map[string]int64{"F32": 4, "F16": 2, "BF16": 2}

// Parse reads and checks the header: afterwards every entry lies within the
// file, and has the bytes that its shape asks for.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	var head [8]byte
	if size < 8 {
		return nil, fmt.Errorf("it has %d bytes: cut off", size)
	}
	if _, err := r.ReadAt(head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	length := binary.LittleEndian.Uint64(head[:])
	if length > maxHeader {
		return nil, fmt.Errorf("a header of %d bytes: this is no .safetensors file, or it is corrupt", length)
	}
	if int64(length) > size-8 {
		return nil, fmt.Errorf("cut off: the header has %d bytes, the file %d", length, size)
	}
	text := make([]byte, length)
	if _, err := r.ReadAt(text, 8); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("its header is corrupt: %w", err)
	}
	f := &File{r: r, start: 8 + int64(length), entries: map[string]Entry{}}
	for name, one := range raw {
		if name == "__metadata__" {
			continue
		}
		var e Entry
		if err := json.Unmarshal(one, &e); err != nil {
			return nil, fmt.Errorf("%q in its header is corrupt: %w", name, err)
		}
		if err := e.check(size - f.start); err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		f.entries[name] = e
	}
	return f, nil
}

// check holds an entry against the bytes that there are. Types that cannot be
// read are none of its business: a file may have more than a model needs.
func (e Entry) check(available int64) error {
	if e.Offsets == nil {
		return errors.New("its header gives no data_offsets")
	}
	from, to := e.Offsets[0], e.Offsets[1]
	switch {
	case from < 0 || to < from:
		return fmt.Errorf("it is at bytes %d to %d: the header is corrupt", from, to)
	case to > available:
		return fmt.Errorf("it is at bytes %d to %d, and there are only %d: the file is cut off", from, to, available)
	}
	n := int64(1)
	for _, d := range e.Shape {
		if d < 0 || d > 0 && n > math.MaxInt32/int64(d) {
			return fmt.Errorf("its shape is %s: the header is corrupt", tensor.ShapeString(e.Shape))
		}
		n *= int64(d)
	}
	if width, ok := widths[e.Type]; ok && to-from != n*width {
		return fmt.Errorf("%s of %s needs %d bytes, and has %d: the header is corrupt", e.Type, tensor.ShapeString(e.Shape), n*width, to-from)
	}
	return nil
}

// Names lists the tensors.
func (f *File) Names() (names []string) {
	for name := range f.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Shape is a tensor's; ok is false where there is none of that name.
func (f *File) Shape(name string) (shape []int, ok bool) {
	e, ok := f.entries[name]
	return e.Shape, ok
}

// piece is how many values are read from the file at once.
const piece = 1 << 20

// Read fills into with a tensor's values from number from on. A float32 holds
// all of each type exactly.
func (f *File) Read(name string, from int, into []float32) error {
	e, ok := f.entries[name]
	if !ok {
		return fmt.Errorf("there is no %q", name)
	}
	width, ok := widths[e.Type]
	if !ok {
		return fmt.Errorf("its type is %s: want F32, F16 or BF16", e.Type)
	}
	if n := tensor.Elements(e.Shape); from < 0 || from > n-len(into) {
		return fmt.Errorf("values %d to %d of %d", from, from+len(into), n)
	}
	raw := make([]byte, min(int64(len(into)), piece)*width)
	for len(into) > 0 {
		n := min(len(into), piece)
		part := raw[:int64(n)*width]
		if got, err := f.r.ReadAt(part, f.start+e.Offsets[0]+int64(from)*width); got < len(part) {
			return err
		}
		widen(into[:n], part, e.Type)
		into, from = into[n:], from+n
	}
	return nil
}

func widen(x []float32, raw []byte, kind string) {
	switch kind {
	case "F32":
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case "F16":
		for i := range x {
			x[i] = float16.Frombits(binary.LittleEndian.Uint16(raw[2*i:])).Float32()
		}
	case "BF16": // the upper half of a float32
		for i := range x {
			x[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		}
	}
}
