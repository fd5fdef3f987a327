// Package b8 is all that the grader knows of bonus task b8: products with weights of four bits, in
// groups with a scale and a zero.
package b8

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Ops are what task b8 is asked for: weights in the order of fragments, one row by weights as they are, and
// up to 64 rows by laid ones.
var Ops = judge.Ops{lay, product("row", "Row", false), product("rows", "Rows", true)}

// mostRows is how many rows of x a call may have.
const mostRows = 64

// product is y = x Wᵀ. Weights are laid or not.
func product(name, method string, isLaid bool) judge.Op {
	return judge.Op{
		Name:  name,
		Sizes: []string{"rows", "k", "n"},
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			rows, k, n, prefix, outputs := c.Sizes["rows"], c.Sizes["k"], c.Sizes["n"], "", c.Sizes["n"]
			if isLaid {
				prefix, outputs = "laid ", padded(n)
			}
			in = append([]problem.Tensor{{Name: "x", Shape: []int{rows, k}, Type: tensor.Float16}}, tensorsOf(k, outputs, prefix)...)
			return in, []problem.Tensor{{Name: "y", Shape: []int{rows, n}, Type: tensor.Float16}}
		},
		Rules: enough,
		Prepare: func(c problem.Problem, in []*tensor.Tensor) error {
			if c.Refused || c.Timed { // what is timed has weights of any bits
				return nil
			}
			w, err := trained(c, c.Sizes["k"], c.Sizes["n"])
			if err != nil {
				return err
			}
			if isLaid {
				w = w.laid()
			}
			w.put(in[1:])
			return nil
		},
		Fault: func(c problem.Problem) string { return fault(c, isLaid) },
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			got := out.Tensors[0].Data
			if c.Refused {
				return judge.JudgeRefused(c, out, method, fault(c, isLaid), judge.NoNumbers(len(got)))
			}
			p := on(c, in, isLaid)
			t := p.truth(p.numbers(reading{}))
			return judge.Rule(c, p, t, got, func(j judge.Judgement) string { return t.Recognise(got, j, p.mistakes(t.Want)...) })
		},
		Least:   inTiles,
		Against: fmt.Sprintf("tiles of %d outputs, each weight read once for all rows", tileOutputs),
		Floor:   judge.Once,
		// Room for the weights in halves, which is a first rung, and for sums of a product that is split.
		Scratch: func(c problem.Problem) uint64 {
			return 2*uint64(padded(c.Sizes["n"])*c.Sizes["k"]) + 16<<20
		},
		Timed: timed(isLaid),
	}
}

// enough: a case must have a group of weights, or be refused.
func enough(c problem.Problem) error {
	if k := c.Sizes["k"]; k < group {
		return fmt.Errorf("k is %d, and a group has %d numbers", k, group)
	}
	return nil
}

// fault says what is not served.
func fault(c problem.Problem, isLaid bool) string {
	rows, k := c.Sizes["rows"], c.Sizes["k"]
	switch {
	case k%group != 0:
		return fmt.Sprintf("K is %d, no multiple of %d", k, group)
	case isLaid && rows > mostRows:
		return fmt.Sprintf("x has %d rows, and up to %d are served", rows, mostRows)
	case !isLaid && rows != 1:
		return fmt.Sprintf("x has %d rows, and one is served", rows)
	}
	return ""
}

// What traffic is held against: so many outputs share what they read of x; all rows of x share what they
// read of the weights.
const tileOutputs = 16

func inTiles(c problem.Problem) uint64 {
	tiles := (c.Sizes["n"] + tileOutputs - 1) / tileOutputs
	return uint64(c.Inputs[0].Bytes()*tiles) + judge.Bytes(c.Inputs[1:], c.Outputs)
}
