package gpt2

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

// safetensors is an open .safetensors file: eight bytes with the length of a
// header, the header (JSON, from names to types, shapes and places), then the
// values.
type safetensors struct {
	r       io.ReaderAt
	start   int64 // of the values
	entries map[string]entry
}

type entry struct {
	Type    string    `json:"dtype"`
	Shape   []int     `json:"shape"`
	Offsets *[2]int64 `json:"data_offsets"` // from start
}

// widths are the bytes of an element of each type that can be read.
var widths = map[string]int64{"F32": 4, "F16": 2, "BF16": 2}

// openSafetensors reads and checks the header: afterwards every entry lies
// within the file, and has the bytes that its shape asks for.
func openSafetensors(r io.ReaderAt, size int64) (*safetensors, error) {
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
	s := &safetensors{r: r, start: 8 + int64(length), entries: map[string]entry{}}
	for name, one := range raw {
		if name == "__metadata__" {
			continue
		}
		var e entry
		if err := json.Unmarshal(one, &e); err != nil {
			return nil, fmt.Errorf("%q in its header is corrupt: %w", name, err)
		}
		if err := e.check(size - s.start); err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		s.entries[name] = e
	}
	return s, nil
}

// check holds an entry against the bytes that there are. Types that cannot be
// read are none of its business: a file may have more than a model needs.
func (e entry) check(available int64) error {
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

func (s *safetensors) names() (names []string) {
	for name := range s.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *safetensors) shape(name string) ([]int, bool) {
	e, ok := s.entries[name]
	return e.Shape, ok
}

func (s *safetensors) read(name string) ([]float32, error) {
	e := s.entries[name]
	if _, ok := widths[e.Type]; !ok {
		return nil, fmt.Errorf("its type is %s: want F32, F16 or BF16", e.Type)
	}
	raw := make([]byte, e.Offsets[1]-e.Offsets[0])
	if n, err := s.r.ReadAt(raw, s.start+e.Offsets[0]); n < len(raw) {
		return nil, err
	}
	return widen(raw, e.Type), nil
}

// widen turns values into float32, which holds all of each type exactly.
func widen(raw []byte, kind string) []float32 {
	x := make([]float32, len(raw)/int(widths[kind]))
	for i := range x {
		switch kind {
		case "F32":
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		case "F16":
			x[i] = float16.Frombits(binary.LittleEndian.Uint16(raw[2*i:])).Float32()
		case "BF16": // the upper half of a float32
			x[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		}
	}
	return x
}
