package problem

import (
	"slices"

	"flashlab/tensor"
)

// MayChange tells whether a call may write to an input: it is an output as well, or the task says so.
func (c Problem) MayChange(input int) bool {
	in := c.Inputs[input]
	return in.Changes || slices.ContainsFunc(c.Outputs, func(out Tensor) bool { return out.Name == in.Name })
}

// Changed compares memory with the bytes that it was given, which are the tensor's from a number on.
// It names the first number that differs; "" is none.
func (t Tensor) Changed(held, given []byte, from int) string {
	for i, b := range given {
		if held[i] == b {
			continue
		}
		at := from + t.Type.Elements(i)
		if t.Type.Bits() == 4 && held[i]&15 == b&15 { // the byte's second number
			at++
		}
		return t.Name + ", first at " + tensor.ShapeString(tensor.Index(t.Shape, at))
	}
	return ""
}
