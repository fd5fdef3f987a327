// Package tensor holds dense row-major tensors: types of elements, seeded filling,
// and comparing.
package tensor

import (
	"fmt"
	"strings"
)

// Tensor is a dense row-major array. Its numbers are float32 here, whatever they are elsewhere:
// they are those that its Type can hold.
type Tensor struct {
	Shape []int
	Data  []float32
	Type  Type
}

// MaxElements bounds a tensor that travels in a message: 64 MB of float32.
const MaxElements = 16 << 20

// New makes a tensor of zeros.
func New(shape ...int) *Tensor {
	return &Tensor{Shape: shape, Data: make([]float32, Elements(shape))}
}

// Of wraps data in a shape, which must fit it.
func Of(data []float32, shape ...int) (*Tensor, error) {
	if Elements(shape) != len(data) {
		return nil, fmt.Errorf("tensor: %d elements do not fill %s", len(data), ShapeString(shape))
	}
	return &Tensor{Shape: shape, Data: data}, nil
}

// Elements is the product of the dimensions.
func Elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Index turns an offset into the tensor's coordinates.
func Index(shape []int, offset int) []int {
	at := make([]int, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		at[i] = offset % shape[i]
		offset /= shape[i]
	}
	return at
}

// ShapeString writes a shape as users read it: [4, 17, 113].
func ShapeString(shape []int) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = fmt.Sprint(d)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
