package device

import (
	"fmt"
	"math"
	"slices"

	"flashlab/tensor"
)

// Element is the type of a tensor's elements, numbered as CUtensorMapDataType is.
type Element uint8

// elements are those that a TensorMap may have: the copy engine moves them, and looks at none.
var elements = map[tensor.Type]Element{tensor.Int8: 0, tensor.Float16: 6, tensor.Float32: 7, tensor.BFloat16: 9}

// none is no element type.
const none Element = 255

func (e Element) kind() (tensor.Type, bool) {
	for t, number := range elements {
		if number == e {
			return t, true
		}
	}
	return tensor.Float32, false
}

// TensorMap says how a tensor lies in device memory, and which boxes of it Hopper's copy
// engine (TMA) moves. Pass it to Launch for a parameter
//
//	const __grid_constant__ CUtensorMap map
//
// What of a box lies outside the tensor arrives as zeros.
type TensorMap struct {
	Memory  Memory // the tensor begins where it does, at a multiple of 16
	Element Element
	Sizes   []int   // elements, the innermost dimension first; at most five
	Strides []int64 // bytes from one element to the next, of all dimensions but the first
	Box     []int   // elements
	Swizzle int     // bytes: 0, 32, 64 or 128
}

// NewTensorMap describes a tensor that fills its memory without gaps.
func NewTensorMap(m Memory, of tensor.Type, sizes, box []int, swizzle int) (TensorMap, error) {
	e, ok := elements[of]
	if !ok {
		e = none
	}
	t := TensorMap{Memory: m, Element: e, Sizes: slices.Clone(sizes), Box: slices.Clone(box), Swizzle: swizzle}
	stride := int64(of.Bytes(1))
	for _, n := range sizes[:max(len(sizes)-1, 0)] {
		stride *= int64(n)
		t.Strides = append(t.Strides, stride)
	}
	return t, t.Check()
}

// Check refuses what a GPU's driver would not encode, or the tensor that goes beyond its
// memory.
func (t TensorMap) Check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("a tensor map of %q: %s", t.Memory.Name, fmt.Sprintf(format, args...))
	}
	kind, known := t.Element.kind()
	rank, size := len(t.Sizes), int64(kind.Bytes(1))
	switch {
	case !known:
		return wrong("its elements are float32, float16, bfloat16 or int8; two int4 are one int8")
	case rank < 1 || rank > 5:
		return wrong("%d dimensions: 1 to 5 are possible", rank)
	case len(t.Strides) != rank-1 || len(t.Box) != rank:
		return wrong("%d dimensions have %d strides and a box of %d, not %d and %d", rank, rank-1, rank, len(t.Strides), len(t.Box))
	case t.Memory.Addr%16 != 0:
		return wrong("it begins %d bytes behind a multiple of 16", t.Memory.Addr%16)
	case !slices.Contains([]int{0, 32, 64, 128}, t.Swizzle):
		return wrong("a swizzle of %d bytes: 0, 32, 64 and 128 exist", t.Swizzle)
	}
	end, bytes := size, size
	for d, n := range t.Sizes {
		if n < 1 || n >= math.MaxUint32 {
			return wrong("dimension %d has %d elements: 1 to 2³²-2 are possible", d, n)
		}
		if b := t.Box[d]; b < 1 || b > 256 {
			return wrong("the box has %d elements in dimension %d: 1 to 256 are possible", b, d)
		}
		bytes *= int64(t.Box[d])
		stride := size
		if d > 0 {
			if stride = t.Strides[d-1]; stride < 16 || stride%16 != 0 || stride >= 1<<40 {
				return wrong("dimension %d has a stride of %d bytes: it has to be a multiple of 16 below 2⁴⁰; pad the rows", d, stride)
			}
		}
		if int64(n-1) > (math.MaxInt64-end)/stride {
			return wrong("it is too large")
		}
		end += int64(n-1) * stride
	}
	row := int64(t.Box[0]) * size
	switch {
	case end > t.Memory.Bytes:
		return wrong("it ends at byte %d, its memory at %d", end, t.Memory.Bytes)
	case row%16 != 0:
		return wrong("the box's rows have %d bytes: they have to be a multiple of 16", row)
	case t.Swizzle != 0 && row != int64(t.Swizzle):
		return wrong("a swizzle of %d bytes goes with a box whose rows have as many, not %d: take a narrower box, or several", t.Swizzle, row)
	case bytes > 227<<10:
		return wrong("a box has %d bytes: more than shared memory", bytes)
	}
	return nil
}
