// Package gguf reads GGUF files, in which llama.cpp keeps a model: metadata, a table of weights, then their values in
// blocks of few bits. It holds the header only, so that weights are read piece by piece.
package gguf

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"flashlab/tensor"
)

// What a header may ask for: a broken one must not cost memory.
const (
	mostTensors    = 1 << 16
	mostEntries    = 1 << 16 // of metadata
	mostDimensions = 4
	mostAlignment  = 1 << 20
)

// File is a GGUF file whose header was read.
type File struct {
	Metadata Metadata
	r        io.ReaderAt
	size     int64
	start    int64 // of the values
	weights  map[string]weight
}

// weight is what the header says of one.
type weight struct {
	shape  []int // row-major: the file's own order, reversed
	kind   uint32
	offset int64 // from start
}

// ErrCutShort says that a file ends before what its header promises.
var ErrCutShort = errors.New("the file is cut short: fetch it again")

// Parse reads the header and checks it: afterwards every weight of a type that can be read lies within the file.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	h := newHeader(r, size)
	if string(h.take(4)) != "GGUF" && h.err == nil {
		return nil, errors.New("it does not begin with GGUF: this is no GGUF file")
	}
	version := h.uint32()
	switch {
	case h.err != nil:
		return nil, h.err
	case version&0xffff == 0:
		return nil, errors.New("its numbers are big-endian: want a little-endian file, as nearly all are")
	case version != 2 && version != 3:
		return nil, fmt.Errorf("version %d of GGUF: want 2 or 3", version)
	}
	tensors, entries := h.uint64(), h.uint64()
	if h.err == nil && (tensors > mostTensors || entries > mostEntries) {
		return nil, fmt.Errorf("%d weights and %d entries of metadata: the header is corrupt", tensors, entries)
	}
	f := &File{Metadata: Metadata{}, r: r, size: size, weights: map[string]weight{}}
	for range entries {
		key := h.text()
		value := h.value(h.uint32())
		if h.err != nil {
			return nil, h.err
		}
		if _, twice := f.Metadata[key]; twice {
			return nil, fmt.Errorf("its metadata has %.100q twice: the header is corrupt", key)
		}
		f.Metadata[key] = value
	}
	for range tensors {
		if err := f.entry(h); err != nil {
			return nil, err
		}
	}
	if h.err != nil {
		return nil, h.err
	}
	alignment, err := f.Metadata.Int("general.alignment", 32)
	if err != nil {
		return nil, err
	}
	if alignment < 1 || alignment > mostAlignment {
		return nil, fmt.Errorf("general.alignment = %d: the header is corrupt", alignment)
	}
	f.start = (h.at() + int64(alignment) - 1) / int64(alignment) * int64(alignment)
	for _, name := range f.Names() {
		if err := f.within(name); err != nil {
			return nil, fmt.Errorf("the weight %s: %w", name, err)
		}
	}
	return f, nil
}

// entry reads one line of the table of weights.
func (f *File) entry(h *header) error {
	name := h.text()
	dimensions := h.uint32()
	if h.err == nil && (dimensions < 1 || dimensions > mostDimensions) {
		return fmt.Errorf("the weight %.100q has %d dimensions: the header is corrupt", name, dimensions)
	}
	w := weight{shape: make([]int, dimensions)}
	n := uint64(1)
	for i := range w.shape {
		side := h.uint64()
		if h.err == nil && (side < 1 || side > math.MaxInt32 || n > math.MaxInt32/side) {
			return fmt.Errorf("the weight %.100q has more numbers than fit, or none: the header is corrupt", name)
		}
		n *= max(side, 1)
		w.shape[len(w.shape)-1-i] = int(side)
	}
	w.kind = h.uint32()
	offset := h.uint64()
	if h.err != nil {
		return h.err
	}
	if offset > math.MaxInt64/2 {
		return fmt.Errorf("the weight %.100q is at byte %d: the header is corrupt", name, offset)
	}
	w.offset = int64(offset)
	if _, twice := f.weights[name]; twice {
		return fmt.Errorf("the weight %.100q is there twice: the header is corrupt", name)
	}
	f.weights[name] = w
	return nil
}

// within holds a weight against the bytes that there are. What cannot be read is refused when somebody asks for it: a
// file may have more than a model needs.
func (f *File) within(name string) error {
	w := f.weights[name]
	t, ok := types[w.kind]
	if !ok {
		return nil
	}
	if row := w.shape[len(w.shape)-1]; row%t.block != 0 {
		return fmt.Errorf("%s has blocks of %d numbers, and its rows are %d long: the header is corrupt", t.name, t.block, row)
	}
	if end := f.start + w.offset + int64(tensor.Elements(w.shape)/t.block)*int64(t.bytes); end > f.size {
		return fmt.Errorf("it ends at byte %d, and the file at %d: %w", end, f.size, ErrCutShort)
	}
	return nil
}

// Names lists the weights.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.weights)) }

// Shape is a weight's, row-major: a matrix is [out, in]. ok is false where there is none of that name.
func (f *File) Shape(name string) (shape []int, ok bool) {
	w, ok := f.weights[name]
	return w.shape, ok
}

// Types says how many numbers are kept in which type.
func (f *File) Types() map[string]int {
	all := map[string]int{}
	for _, w := range f.weights {
		all[nameOf(w.kind)] += tensor.Elements(w.shape)
	}
	return all
}

// Readable tells why a weight's values cannot be read.
func (f *File) Readable(name string) error {
	w, ok := f.weights[name]
	if !ok {
		return fmt.Errorf("there is no %q", name)
	}
	if _, ok := types[w.kind]; !ok {
		return fmt.Errorf("it is quantised as %s: want one of %s (llama-quantize makes such a file)", nameOf(w.kind), readable())
	}
	return nil
}

// piece is how many values are decoded at a time.
const piece = 1 << 16

// Read fills into with a weight's values from number from on, as float32.
func (f *File) Read(name string, from int, into []float32) error {
	if err := f.Readable(name); err != nil {
		return err
	}
	w := f.weights[name]
	if n := tensor.Elements(w.shape); from < 0 || from > n-len(into) {
		return fmt.Errorf("values %d to %d of %d", from, from+len(into), n)
	}
	t := types[w.kind]
	room := min((len(into)+2*t.block-1)/t.block, piece/t.block) // blocks
	raw, values := make([]byte, room*t.bytes), make([]float32, room*t.block)
	for len(into) > 0 {
		first, skip := from/t.block, from%t.block
		blocks := min(room, (skip+len(into)+t.block-1)/t.block)
		part := raw[:blocks*t.bytes]
		if got, err := f.r.ReadAt(part, f.start+w.offset+int64(first)*int64(t.bytes)); got < len(part) {
			return err
		}
		for i := range blocks {
			t.decode(values[i*t.block:], part[i*t.bytes:])
		}
		n := copy(into, values[skip:blocks*t.block])
		into, from = into[n:], from+n
	}
	return nil
}
