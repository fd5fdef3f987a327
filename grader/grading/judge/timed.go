package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/tensor"
)

// Timed is what timing needs to know about an operation. Outputs may be of any size, so
// pieces of them are checked, and the part of the inputs that a piece needs is made again.
type Timed struct {
	// Piece is how many elements of the output belong together: pieces begin at its
	// multiples.
	Piece func(c problem.Problem) int
	// Truth is what a piece is judged by, as a single row.
	Truth func(c problem.Problem, from int) Truth
	// Rest are the spans of further outputs that are looked at with a piece of the first, and what is wrong with what a
	// run wrote there: "" for nothing. By some piece or other every number of every output is reached. Nil where there is
	// one output.
	Rest func(c problem.Problem, from int) ([]Span, func(got [][]float32) string)
	// FLOPS is the number of additions and multiplications required.
	FLOPS func(c problem.Problem) float64
	// Held is the device memory that is taken in addition to the tensors; nil is none.
	Held func(c problem.Problem) int64
	// Baseline is what the vendor's or the course's way is called, if not the unfused one.
	Baseline string
	// BaselineElsewhere tells that the baseline writes no output of the case's, so that there is none to check.
	BaselineElsewhere bool
	// Wide is what the same in float32 is called, where the baseline is of fewer bits: it is shown beside it, and
	// no marks depend on it. "" is none.
	Wide string
	// Tensor is what one operation costs of those that tensor cores do on halves: three where numbers of float32
	// are split into two halves, less than one for codes of 8 bits. 0 is none: plain units do the work.
	Tensor float64
	// OwnKernel is the operation of another task that the baseline does with the submission's own kernel; "" for a baseline
	// of the course's. Such a kernel must gain nothing by being slow or wrong here, so what is timed is what is timed there.
	OwnKernel string
	// Each is the number that each sequence has in a workload of a shape; nil for the fourth size: all
	// slots of a cache are filled.
	Each func(shape []int) int
	// Dist is of the inputs that are in every case; "" is normal. Those that are given are normal.
	Dist tensor.Dist
	// Counted is how many of a workload's first size, such as sequences, are enough for an estimate of its time: they are
	// alike, and a laptop has little memory. 0 is all of them.
	Counted int
	// Small is a shape for the simulator, which times nothing but checks everything.
	Small []int
	// Title is what a workload of a shape is called, and its id in files: "flash-64-4096-causal". It is nil
	// where `make bench` times none.
	Title func(shape []int, causal bool) (name, id string)
	// Memory says that memory bounds it: what matters is its percentage of the copy rate.
	Memory bool
	// SelfTest is a workload of the same worker that is large enough to measure the copy rate.
	SelfTest rubric.Rung
}

// Span is part of an output.
type Span struct{ Output, From, Size int }

// Mask is what a title says of a causal mask, or of none.
func Mask(causal bool) string {
	if causal {
		return "causal"
	}
	return "full"
}

// LikeBaseline tells that no truth is available at this size. Outputs are then compared
// with what the course's own baseline writes for the same inputs.
func (t *Timed) LikeBaseline() bool { return t.Truth == nil }

// Close is how far from the baseline's a piece may be where there is no truth, by the
// root of the mean square.
const Close = 1e-3

// Apart is how far got is from the baseline's want, by the root of its mean square.
// It is NaN where either is.
func Apart(got, want []float32) float64 {
	var square, most float64
	for i, w := range want {
		square += float64(w) * float64(w)
		d := math.Abs(float64(got[i]) - float64(w))
		if d > most || math.IsNaN(d) {
			most = d
		}
	}
	return most / math.Sqrt(square/float64(len(want)))
}

// TimedSpec is the usual workload of a shape: the same for every sequence.
func (o Op) TimedSpec(shape []int, causal bool) Spec {
	s := Spec{Shape: shape, Dist: tensor.Normal, Causal: causal}
	if o.Timed != nil {
		s.Dist = cmp.Or(o.Timed.Dist, s.Dist)
	}
	if o.Each != "" && len(shape) > 3 {
		each := shape[3]
		if o.Timed != nil && o.Timed.Each != nil {
			each = o.Timed.Each(shape)
		}
		s.Each = slices.Repeat([]int{each}, max(shape[0], 0))
	}
	return s
}

// TimedCase is a case of any size; its inputs are all random.
func (o Op) TimedCase(s Spec) (problem.Problem, error) {
	if o.Timed == nil {
		return problem.Problem{}, fmt.Errorf("op %q is not timed", o.Name)
	}
	c, err := o.make(s, 0, 1, true)
	c.Timed, c.Outputs = true, Written(c)
	for i := range c.Inputs {
		in := &c.Inputs[i]
		if in.Given { // a cache, whose slots are all filled
			in.Given, in.Dist = false, tensor.Normal
		}
	}
	return c, err
}

// Judge compares pieces, one after another in got, with the truth. The case has the seed
// of the run that wrote them.
func (t *Timed) Judge(c problem.Problem, from []int, got []float32) Judgement {
	truths := make([]Truth, len(from))
	var wg sync.WaitGroup
	for i := range from {
		wg.Go(func() { truths[i] = t.Truth(c, from[i]) })
	}
	wg.Wait()
	return Concat(truths).Judge(got)
}

// InputPart makes n elements of an input, from one on.
func InputPart(c problem.Problem, input, from, n int) []float32 {
	x := make([]float32, n)
	in := c.Inputs[input]
	_ = tensor.FillAs(in.Type, x, in.Dist, c.Seed, in.Stream, from) // the distribution was checked when the case was made
	return x
}
