package nn

import (
	"fmt"

	"flashlab/device"
)

// scratch is room that some operations need for themselves. It grows where it is
// too small, and all share it, for they run one after another.
type scratch struct {
	x, w         Floats // halves of both sides of a product, see pieces.cu
	xBack, wBack Floats // what undoes their scales
	partial      Floats // sums that are to be put together
	best         Floats // of each part of a row
	bestAt       Ints   // its column
}

// atLeast makes a buffer anew where it is too short. Where work is being recorded
// that fails: the same must have been done once before.
func atLeast[T device.Scalar](q device.Queue, b *device.Buffer[T], name string, n int) error {
	if b.Len() >= n {
		return nil
	}
	longer, err := device.Alloc[T](q, name, n)
	if err != nil {
		return fmt.Errorf("room for %s: %w", name, err)
	}
	old := *b
	*b = longer
	if old.Len() > 0 {
		return old.Free(q)
	}
	return nil
}
