// Package judge knows the operations that a check can name: the sizes of a case,
// its inputs and outputs, what is right, and what a wrong output looks like.
// One file holds one operation. All of it is on the grader's side; a worker
// learns what it needs from the case that it is sent.
package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Op is one operation.
type Op struct {
	Name  string
	Sizes []string // names of the numbers in a rubric's shape = […]
	// Causal says that its cases may be causal.
	Causal bool
	// Each says what its cases' numbers are that belong to one sequence each:
	// "length". "" is for none.
	Each string
	// Rules refuses cases that would not be fair. Sizes are at least 1.
	Rules func(c problem.Problem) error // may be nil
	// Fault says what is wrong with a case that must be refused; "" if nothing is.
	Fault func(c problem.Problem) string // may be nil
	// Tensors lists inputs and outputs. An input without a Dist takes the
	// case's Dist; each input gets its own stream. An output that has the name of
	// an input is that input after the call.
	Tensors func(c problem.Problem) (in, out []problem.Tensor)
	// Prepare fills the inputs that are Given, from those that are not.
	Prepare func(c problem.Problem, in []*tensor.Tensor) error // may be nil
	// Replay makes the output of a record, and the counts that go with it, on the real
	// inputs: the worker has had none. nil for an operation whose output is the worker's.
	Replay func(c problem.Problem, in []*tensor.Tensor, a *problem.Answer) error
	// Judge decides on an output, whose tensors have the right shapes.
	Judge func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) Ruling
	// Closer names the operation that runs a wrong case again, to tell whose mistake it is: its ruling's
	// reason takes the place of ours. "" for none.
	Closer string
	// Least is how many bytes any kernel has to move.
	Least func(c problem.Problem) uint64
	// Copies is how often the worker itself copies the outputs to the host; 0 is once.
	Copies int
	// Puts is how many bytes the worker itself copies to the device besides the inputs, nil for a few: lengths, say.
	Puts func(c problem.Problem) uint64
	// Against says what Least is, if not the least bytes there can be, and Floor what these are then;
	// nil where kernels do not count them.
	Against string
	Floor   func(c problem.Problem) uint64
	// Scratch limits the bytes of device memory that are taken besides inputs
	// and outputs.
	Scratch func(c problem.Problem) uint64 // nil for no bound
	// Spread is how many blocks a case's work has to be shared among, and how many bytes of device memory each
	// may read, as the simulator sees them; nil, or 0 bytes, for no bound.
	Spread func(c problem.Problem) (blocks, bytes uint64)
	// Tells is what Results.md reports of answers, beside their points: the columns of what rulings tell,
	// and a text below.
	Tells []string
	Below string
	// Timed is what timing needs to know; nil for an operation that is not timed.
	Timed *Timed
}

// Ops are the operations that checks may name.
type Ops []Op

// Find looks an operation up.
func (all Ops) Find(name string) (Op, error) {
	var names []string
	for _, o := range all {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	return Op{}, fmt.Errorf("unknown op %q; there are %s", name, strings.Join(names, ", "))
}

// Spec is a case as a rubric writes it.
type Spec struct {
	Shape  []int
	Dist   tensor.Dist
	Causal bool
	Each   []int // one for each sequence of the batch
	// Refused says that the case is wrong on purpose: it asks for an error.
	Refused bool
}

// Case makes a case that a worker can be sent. It refuses a Spec that does not
// fit the operation.
func (o Op) Case(s Spec, seed uint64, stream uint32) (problem.Problem, error) {
	return o.make(s, seed, stream, false)
}

// make leaves a case that is timed as large as it is: its tensors never travel.
func (o Op) make(s Spec, seed uint64, stream uint32, timed bool) (problem.Problem, error) {
	c := problem.Problem{Op: o.Name, Sizes: map[string]int{}, Causal: s.Causal, Dist: s.Dist, Seed: seed, Each: s.Each, Refused: s.Refused, Recorded: o.Replay != nil}
	switch {
	case len(s.Shape) != len(o.Sizes):
		return c, fmt.Errorf("shape %v: op %q takes [%s]", s.Shape, o.Name, strings.Join(o.Sizes, ", "))
	case !s.Dist.Known():
		return c, fmt.Errorf("unknown dist %q; there are %v", s.Dist, tensor.Dists)
	case s.Causal && !o.Causal:
		return c, fmt.Errorf("causal = true means nothing to op %q", o.Name)
	}
	for i, n := range s.Shape {
		if n < 1 {
			return c, fmt.Errorf("shape %v: every size is at least 1", s.Shape)
		}
		c.Sizes[o.Sizes[i]] = n
	}
	if want := o.numbers(c); len(s.Each) != want {
		return c, fmt.Errorf("each = %v: op %q takes %d of them, the %ss of the sequences", s.Each, o.Name, want, cmp.Or(o.Each, "number"))
	}
	c.Inputs, c.Outputs = o.Tensors(c)
	for i := range c.Inputs {
		in := &c.Inputs[i]
		if in.Dist == "" && !in.Given {
			in.Dist = s.Dist
		}
		in.Stream = stream + uint32(i)
	}
	for _, t := range slices.Concat(c.Inputs, c.Outputs) {
		if !timed && !fits(t.Shape) {
			return c, fmt.Errorf("shape %v: %s %v has more than %d elements, and would not fit in a message", s.Shape, t.Name, t.Shape, tensor.MaxElements)
		}
	}
	for _, t := range slices.Concat(c.Inputs, c.Outputs) {
		if err := t.Type.Check(); err != nil {
			return c, fmt.Errorf("%s: %w", t.Name, err)
		}
		if 8%t.Type.Bits() == 0 && len(t.Shape) > 0 && t.Shape[len(t.Shape)-1]*t.Type.Bits()%8 != 0 {
			return c, fmt.Errorf("%s %v: a row of %v must fill whole bytes", t.Name, t.Shape, t.Type)
		}
	}
	if o.Rules != nil {
		if err := o.Rules(c); err != nil {
			return c, err
		}
	}
	return c, o.refuses(c)
}

// refuses wants a case to be wrong where it says so, and only there.
func (o Op) refuses(c problem.Problem) error {
	why := ""
	if o.Fault != nil {
		why = o.Fault(c)
	}
	switch {
	case c.Refused && why == "":
		return fmt.Errorf("refused = true, but nothing is wrong with it")
	case !c.Refused && why != "":
		return fmt.Errorf("%s: refused = true is missing, or a number is wrong", why)
	}
	return nil
}

// numbers is how many numbers of single sequences a case has.
func (o Op) numbers(c problem.Problem) int {
	if o.Each == "" {
		return 0
	}
	return c.Sizes["batch"]
}

func fits(shape []int) bool {
	n := 1
	for _, d := range shape {
		if n > tensor.MaxElements/max(d, 1) {
			return false
		}
		n *= d
	}
	return true
}

// Inputs makes a case's inputs: nothing in them came from a worker.
func (o Op) Inputs(c problem.Problem) ([]*tensor.Tensor, error) {
	var in []*tensor.Tensor
	for _, t := range c.Inputs {
		if t.Given {
			x := tensor.New(t.Shape...)
			x.Type = t.Type
			in = append(in, x)
			continue
		}
		x, err := t.Random(c.Seed)
		if err != nil {
			return nil, err
		}
		in = append(in, x)
	}
	if o.Prepare != nil {
		if err := o.Prepare(c, in); err != nil {
			return nil, err
		}
		for _, x := range in {
			x.Type.Round(x.Data)
		}
	}
	return in, nil
}

// Bytes is the size of tensors on a device.
func Bytes(tensors ...[]problem.Tensor) uint64 {
	n := 0
	for _, t := range slices.Concat(tensors...) {
		n += t.Bytes()
	}
	return uint64(n)
}

// Written are the outputs of a problem that are no inputs as well.
func Written(c problem.Problem) []problem.Tensor {
	return slices.DeleteFunc(slices.Clone(c.Outputs), func(out problem.Tensor) bool {
		return slices.ContainsFunc(c.Inputs, func(in problem.Tensor) bool { return in.Name == out.Name })
	})
}

// Once is the least traffic of most operations: each element of each tensor is
// read or written once.
func Once(c problem.Problem) uint64 { return Bytes(c.Inputs, c.Outputs) }
