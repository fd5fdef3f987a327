package b5

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// project is [q | k | v] = x [Wq | Wk | Wv] + bias, with weights of a format.
func project(f format) judge.Op {
	name := "project_" + f.name
	op := judge.Op{
		Name:  name,
		Sizes: []string{"batch", "seq", "hidden", "heads", "kvheads", "dim"},
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			p := projection{Problem: c}
			batch, seq, hidden := c.Sizes["batch"], c.Sizes["seq"], c.Sizes["hidden"]
			in = append([]problem.Tensor{{Name: "x", Shape: []int{batch, seq, hidden}, Type: tensor.Float16}}, f.tensors(p.outputs()*hidden, hidden)...)
			in = append(in, problem.Tensor{Name: "bias", Shape: []int{p.outputs()}, Type: tensor.Float16, Dist: tensor.Normal})
			out = shared.QKVOf(c, nil).Tensors(problem.Tensor{Type: tensor.Float16})
			return in, out
		},
		Prepare: f.quantised,
		Fault:   fault,
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			if c.Refused {
				var before [][]float32
				for _, t := range out.Tensors {
					before = append(before, judge.NoNumbers(len(t.Data)))
				}
				return judge.JudgeRefused(c, out, "Project"+f.title, fault(c), before...)
			}
			return f.on(c, in).judge([][]float32{out.Tensors[0].Data, out.Tensors[1].Data, out.Tensors[2].Data})
		},
		Least:   inTiles,
		Against: fmt.Sprintf("tiles of %d rows and %d outputs, weights as they are", tileRows, tileOutputs),
		Floor:   judge.Once,
		// Room for the sums of a product that is split, and none for the weights in any other type.
		Scratch: func(c problem.Problem) uint64 {
			p := projection{Problem: c}
			return min(64*uint64(p.rows()*p.outputs()), uint64(p.outputs()*c.Sizes["hidden"]/2))
		},
	}
	if !f.isNVFP4() { // it is optional, and not timed
		op.Timed = timed(f, name)
	}
	return op
}

// fault says what is not served.
func fault(c problem.Problem) string {
	const multiple = 128
	if hidden := c.Sizes["hidden"]; hidden%multiple != 0 {
		return fmt.Sprintf("Hidden is %d, no multiple of %d", hidden, multiple)
	}
	return shared.EvenHeads(c)
}

// What traffic is held against: so many rows share what they read of the weights, and so many outputs
// what they read of x.
const (
	tileRows    = 64
	tileOutputs = 32
)

func inTiles(c problem.Problem) uint64 {
	p := projection{Problem: c}
	over := func(n, tile int) int { return (n + tile - 1) / tile }
	in := c.Inputs
	last := len(in) - 1 // the bias
	return uint64(in[0].Bytes()*over(p.outputs(), tileOutputs) + int(judge.Bytes(in[1:last]))*over(p.rows(), tileRows) + in[last].Bytes() + int(judge.Bytes(c.Outputs)))
}

// quantised makes the weights of a trained layer: normal numbers, rounded as the format does it.
func (f format) quantised(c problem.Problem, in []*tensor.Tensor) error {
	if c.Refused || c.Timed { // what is timed has weights of any bits
		return nil
	}
	hidden := c.Sizes["hidden"]
	w := make([]float32, projection{Problem: c}.outputs()*hidden)
	if err := tensor.Fill(w, tensor.Normal, c.Seed, c.Inputs[1].Stream, 0); err != nil {
		return err
	}
	for i := range w {
		// A row's numbers grow along it, so that no block has its neighbour's scale.
		w[i] *= float32((1 + float64(i%hidden)/float64(hidden)*3) / math.Sqrt(float64(hidden)))
	}
	if f.isNF4() {
		q, err := quant.ToNF4(w, false)
		copy(in[1].Data, tensor.Int4.Decode(q.Codes))
		copy(in[2].Data, q.Scales)
		return err
	}
	if f.isNVFP4() {
		q, err := quant.ToNVFP4(w, hidden)
		copy(in[1].Data, tensor.Int4.Decode(q.Codes))
		copy(in[2].Data, tensor.Int4.Decode(q.Scales))
		in[3].Data[0] = q.Tensor
		return err
	}
	q, err := quant.ToMXFP4(w, hidden)
	copy(in[1].Data, tensor.Int4.Decode(q.Codes))
	copy(in[2].Data, tensor.E8M0.Decode(q.Scales))
	return err
}

// projection is one with its inputs.
type projection struct {
	problem.Problem
	weights
	x, bias []float32
}

// on is the projection of a case.
func (f format) on(c problem.Problem, in []*tensor.Tensor) projection {
	hidden := c.Sizes["hidden"]
	all := dataOf(in)
	last := len(all) - 1 // the bias
	return projection{c, f.of(all[1:last], projection{Problem: c}.outputs()*hidden, hidden), all[0], all[last]}
}

// places is where its numbers go.
func (p projection) places() shared.QKV { return shared.QKVOf(p.Problem, p.bias) }

func (p projection) rows() int { return p.Sizes["batch"] * p.Sizes["seq"] }

func (p projection) outputs() int { return (p.Sizes["heads"] + 2*p.Sizes["kvheads"]) * p.Sizes["dim"] }

func (p projection) String() string {
	s := p.Sizes
	return fmt.Sprintf("x [%d, %d, %d] to %d and twice %d heads × %d, weights in %s (rows are those of x, columns those of q, then of k, then of v)",
		s["batch"], s["seq"], s["hidden"], s["heads"], s["kvheads"], s["dim"], p.title)
}

// truth is what [rows, outputs] is judged by.
func (p projection) truth(w []float32) judge.Truth {
	rows := p.rows()
	hidden := len(p.x) / rows
	return shared.Product{Type: tensor.Float16, Rows: rows, Hidden: hidden, Outputs: len(w) / hidden, X: p.x,
		Weight: func(i, n int) float32 { return w[n*hidden+i] }, Bias: p.bias}.Truth()
}
