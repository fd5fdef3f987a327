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
		each := ""
		if c.Launches > 1 {
			each = fmt.Sprintf(", each of %d launches", c.Launches)
		}
		fmt.Fprintf(w, "estimate: %s%s: %s\n", c.Kernel, each, g.Time(c, 1).Text(g))
	}
}
