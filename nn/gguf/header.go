package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
)

// longestText bounds a string of the header: a chat template has some thousand bytes.
const longestText = 1 << 20

// header reads a header from its beginning. After the first error it reads zeros.
type header struct {
	r    *bufio.Reader
	size int64
	left int64
	err  error
}

func newHeader(r io.ReaderAt, size int64) *header {
	return &header{r: bufio.NewReader(io.NewSectionReader(r, 0, size)), size: size, left: size}
}

// at is where it has come to.
func (h *header) at() int64 { return h.size - h.left }

func (h *header) fail(format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf(format, args...)
	}
}

// take reads so many bytes.
func (h *header) take(n int64) []byte {
	if h.err == nil && n > h.left {
		h.fail("its header goes on where the file ends, after %d bytes: %w", h.size, ErrCutShort)
	}
	if h.err != nil {
		return make([]byte, min(n, 8))
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(h.r, data); err != nil {
		h.fail("its header: %w", err)
	}
	h.left -= n
	return data
}

func (h *header) uint32() uint32 { return binary.LittleEndian.Uint32(h.take(4)) }
func (h *header) uint64() uint64 { return binary.LittleEndian.Uint64(h.take(8)) }

func (h *header) text() string {
	n := h.uint64()
	if h.err == nil && n > longestText {
		h.fail("a text of %d bytes: the header is corrupt", n)
	}
	if h.err != nil {
		return ""
	}
	return string(h.take(int64(n)))
}

// The kinds of values that metadata has.
const (
	kindUint8 = iota
	kindInt8
	kindUint16
	kindInt16
	kindUint32
	kindInt32
	kindFloat32
	kindBool
	kindText
	kindList
	kindUint64
	kindInt64
	kindFloat64
)

// value is an int64, a float64, a bool, a string, or a list of one of these.
func (h *header) value(kind uint32) any {
	switch kind {
	case kindUint8:
		return int64(h.take(1)[0])
	case kindInt8:
		return int64(int8(h.take(1)[0]))
	case kindUint16:
		return int64(binary.LittleEndian.Uint16(h.take(2)))
	case kindInt16:
		return int64(int16(binary.LittleEndian.Uint16(h.take(2))))
	case kindUint32:
		return int64(h.uint32())
	case kindInt32:
		return int64(int32(h.uint32()))
	case kindFloat32:
		return asWritten(math.Float32frombits(h.uint32()))
	case kindBool:
		return h.take(1)[0] != 0
	case kindText:
		return h.text()
	case kindList:
		return h.list()
	case kindUint64:
		if v := h.uint64(); v <= math.MaxInt64 {
			return int64(v)
		}
		h.fail("a number of metadata is beyond 2^63: the header is corrupt")
		return int64(0)
	case kindInt64:
		return int64(h.uint64())
	case kindFloat64:
		return math.Float64frombits(h.uint64())
	}
	h.fail("its metadata has a value of type %d, which GGUF does not have: the header is corrupt", kind)
	return nil
}

// asWritten is the number that whoever wrote the float32 had in mind: 1e-05, not 9.99999974e-06.
func asWritten(x float32) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil { // a NaN's text is no error either
		return float64(x)
	}
	return v
}

func (h *header) list() any {
	kind, n := h.uint32(), h.uint64()
	switch {
	case h.err != nil:
		return nil
	case n > uint64(h.left): // each value takes a byte at least
		h.fail("a list of %d values: its header goes on where the file ends, after %d bytes: %w", n, h.size, ErrCutShort)
		return nil
	case kind == kindList:
		h.fail("its metadata has a list of lists: no model needs one")
		return nil
	case kind == kindText:
		return collect[string](h, kind, n)
	case kind == kindBool:
		return collect[bool](h, kind, n)
	case kind == kindFloat32 || kind == kindFloat64:
		return collect[float64](h, kind, n)
	}
	return collect[int64](h, kind, n)
}

func collect[T any](h *header, kind uint32, n uint64) []T {
	var all []T
	for range n {
		one, ok := h.value(kind).(T)
		if h.err != nil || !ok {
			return nil
		}
		all = append(all, one)
	}
	return all
}
