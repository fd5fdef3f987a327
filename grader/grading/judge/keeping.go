package judge

import (
	"fmt"
	"math"

	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Keeping is an operation whose inputs must be what they were when the call returns. They are fetched
// with the outputs; all else sees the problem without them.
func Keeping(o Op) Op {
	inner := o
	own := func(c problem.Problem) problem.Problem {
		c.Outputs = Written(c)
		return c
	}
	o.Tensors = func(c problem.Problem) (in, out []problem.Tensor) {
		in, out = inner.Tensors(c)
		for _, t := range in {
			out = append(out, problem.Tensor{Name: t.Name, Shape: t.Shape, Type: t.Type})
		}
		return in, out
	}
	o.Judge = func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) Ruling {
		kept := out.Tensors[len(out.Tensors)-len(in):]
		out.Tensors = out.Tensors[:len(out.Tensors)-len(in)]
		r := inner.Judge(own(c), in, out)
		for i, t := range kept {
			if n := differing(in[i].Data, t.Data); n > 0 {
				r.Passed = false
				r.Reason = fmt.Sprintf("%s was changed: %d of %d elements differ from before the call, and inputs must stay as they are", c.Inputs[i].Name, n, len(t.Data))
				return r
			}
		}
		return r
	}
	of := func(bytes func(problem.Problem) uint64) func(problem.Problem) uint64 {
		if bytes == nil {
			return nil
		}
		return func(c problem.Problem) uint64 { return bytes(own(c)) }
	}
	o.Least, o.Floor, o.Scratch = of(o.Least), of(o.Floor), of(o.Scratch)
	return o
}

// differing counts the elements that are no longer the same number. A NaN is like any other.
func differing(before, after []float32) (n int) {
	for i, x := range before {
		if y := after[i]; math.Float32bits(x) != math.Float32bits(y) && (x == x || y == y) {
			n++
		}
	}
	return n
}
