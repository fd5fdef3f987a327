package estimate

import (
	"math"

	"flashlab/device/trace"
)

// Whole is the time of kernels that run one after another.
type Whole struct {
	Seconds   float64
	Deviation float64 // by the sample that was counted: its standard error, over the whole
	Kernel    string  // the one that takes longest
	Share     float64 // of it
	Bound     string  // what binds it
	Lines     []Line  // of it, those that take longest first
}

// Whole estimates the time of all launches of some kernels; `times` as many blocks are launched as were counted.
func (g GPU) Whole(kernels []trace.Counts, times float64) Whole {
	w := Fitted.whole(g, kernels, times)
	for _, c := range kernels {
		if c.Kernel == w.Kernel {
			w.Lines = g.Lines(c, times)
		}
	}
	return w
}

func (f Constants) whole(g GPU, kernels []trace.Counts, times float64) (w Whole) {
	longest, variance := 0.0, 0.0
	for _, c := range kernels {
		e := g.timed(of(c, times), f)
		each := e.Seconds * float64(c.Launches)
		w.Seconds += each
		variance += math.Pow(each*c.Deviation(), 2)
		if each > longest {
			longest, w.Kernel, w.Bound = each, c.Kernel, e.Bound
		}
	}
	if w.Seconds > 0 {
		w.Deviation, w.Share = math.Sqrt(variance)/w.Seconds, longest/w.Seconds
	}
	return w
}
