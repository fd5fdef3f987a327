package nn

import (
	"fmt"

	"flashlab/device"
)

// scratch is room that some operations need for themselves. It grows if it is too
// small. All operations share it, because they run one after another.
type scratch struct {
	x, w         Floats // halves of both sides of a product, see pieces.cu
	xBack, wBack Floats // what undoes their scales
	partial      Floats // sums that are still to be added up
	best         Floats // of each part of a row
	bestAt       Ints   // its column
}

// atLeast replaces a buffer that is too short. That fails while work is being
// recorded: the same work must have been done once before.
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
