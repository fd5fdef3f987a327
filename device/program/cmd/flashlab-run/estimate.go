package main

import (
	"fmt"
	"io"

	"flashlab/device/estimate"
	"flashlab/device/trace"
)

// tellTimes says what each kernel would take on a GPU.
func tellTimes(w io.Writer, g estimate.GPU, launches []trace.Counts) {
	for _, c := range launches {
		e, each := g.Whole([]trace.Counts{c}, 1), ""
		if c.Launches > 1 {
			each = fmt.Sprintf(", each of %d launches", c.Launches)
			e.Seconds /= float64(c.Launches)
		}
		fmt.Fprintf(w, "estimate: %s%s: %s\n", c.Kernel, each, e.Text(g))
	}
}
