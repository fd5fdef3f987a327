// Package b4 is all that the grader knows of bonus task b4: one projection for q, k and v.
package b4

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Ops are what task b4 is asked for: taking a projection apart, the projection in both types, and a layer.
var Ops = judge.Ops{
	operation("qkv_split", "Split", tensor.Float16),
	operation("qkv_float16", "Float16", tensor.Float16),
	operation("qkv_bfloat16", "BFloat16", tensor.BFloat16),
	attention(),
}

// What a case's number "layout" says, and its number "bias".
const (
	headsFirst, tokensFirst     = 1, 2
	noBias, withBias, cancelled = 1, 2, 3 // cancelled: it takes most of the first row's product away
)

// operation is [q | k | v] = x [Wq | Wk | Wv] + bias. Split is given the product.
func operation(name, method string, ty tensor.Type) judge.Op {
	split := name == "qkv_split"
	op := judge.Op{
		Name:  name,
		Sizes: []string{"batch", "seq", "hidden", "heads", "kvheads", "dim", "layout", "bias"},
		Rules: rules,
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			s, p := c.Sizes, placesOf(c, nil)
			in = []problem.Tensor{{Name: "x", Shape: []int{s["batch"], s["seq"], s["hidden"]}, Type: ty},
				{Name: "w", Shape: []int{s["hidden"], p.Outputs()}, Type: ty, Dist: tensor.Normal, Given: s["bias"] == cancelled}}
			if split {
				in = []problem.Tensor{{Name: "projection", Shape: []int{s["batch"], s["seq"], p.Outputs()}, Type: ty}}
			}
			if s["bias"] != noBias {
				in = append(in, problem.Tensor{Name: "bias", Shape: []int{p.Outputs()}, Type: ty, Dist: tensor.Normal, Given: s["bias"] == cancelled})
			}
			return in, p.Tensors(problem.Tensor{Type: ty})
		},
		Prepare: cancel,
		Fault:   fault,
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			var got [][]float32
			var before [][]float32
			for _, t := range out.Tensors {
				got, before = append(got, t.Data), append(before, judge.NoNumbers(len(t.Data)))
			}
			if c.Refused {
				return judge.JudgeRefused(c, out, method, fault(c), before...)
			}
			return on(c, in, ty).judge(got)
		},
		Least: judge.Once,
		Timed: nil,
	}
	if !split {
		op.Least, op.Floor = inTiles, judge.Once
		op.Against = fmt.Sprintf("tiles of %d rows and %d outputs, written once", tile, tile)
		// Room for a projection in float32, or for a smaller one that is kept from call to call: who
		// takes it pays for it in traffic.
		op.Scratch = func(c problem.Problem) uint64 {
			p := placesOf(c, nil)
			return 4*uint64(p.Rows()*p.Outputs()) + 1<<20
		}
		op.Timed = timed(name, ty)
	}
	return op
}

// rules keep the numbers that stand for words to those that there are.
func rules(c problem.Problem) error {
	if s := c.Sizes; s["layout"] > tokensFirst || s["bias"] > cancelled {
		return fmt.Errorf("layout is 1 (heads first) or 2 (tokens first), bias 1 (none), 2 or 3 (it takes most of the first row's product away): not %d and %d", s["layout"], s["bias"])
	}
	if c.Op == "qkv_split" && c.Sizes["bias"] == cancelled {
		return fmt.Errorf("bias 3 takes a product away, and %s is given one: 1 or 2 here", c.Op)
	}
	return nil
}

// fault says what is not served.
func fault(c problem.Problem) string {
	s := c.Sizes
	switch {
	case s["hidden"]%8 != 0:
		return fmt.Sprintf("Hidden is %d, no multiple of 8", s["hidden"])
	case s["dim"]%8 != 0:
		return fmt.Sprintf("Dim is %d, no multiple of 8", s["dim"])
	}
	return shared.EvenHeads(c)
}

// cancel makes weights with which all terms of the first row's sums are positive, so that the sums are much
// larger than their rounding errors may be; and a bias that takes 15 of 16 parts of them away. Whoever rounds
// a sum before he adds the bias keeps the error of all 16.
func cancel(c problem.Problem, in []*tensor.Tensor) error {
	if c.Sizes["bias"] != cancelled || c.Refused {
		return nil
	}
	x, w, bias := in[0].Data, in[1].Data, in[2].Data
	if err := tensor.FillAs(in[1].Type, w, tensor.Normal, c.Seed, c.Inputs[1].Stream, 0); err != nil {
		return err
	}
	sums := make([]float64, len(bias))
	for i := range c.Sizes["hidden"] {
		for n := range sums {
			at := i*len(sums) + n
			w[at] = float32(math.Copysign(float64(w[at]), float64(x[i])))
			sums[n] += float64(x[i]) * float64(w[at])
		}
	}
	for n, sum := range sums {
		bias[n] = float32(-sum * 15 / 16)
	}
	in[2].Type.Round(bias)
	return nil
}

// tile is what traffic is held against: so many rows share what they read of w, and so many outputs
// what they read of x.
const tile = 64

func inTiles(c problem.Problem) uint64 {
	p := placesOf(c, nil)
	over := func(n int) int { return (n + tile - 1) / tile }
	bytes := c.Inputs[0].Bytes()*over(p.Outputs()) + c.Inputs[1].Bytes()*over(p.Rows())
	for _, t := range c.Inputs[2:] {
		bytes += t.Bytes()
	}
	return uint64(bytes) + judge.Bytes(c.Outputs)
}

func placesOf(c problem.Problem, bias []float32) shared.QKV {
	p := shared.QKVOf(c, bias)
	p.TokensFirst = c.Sizes["layout"] == tokensFirst
	return p
}

// projection is one with its inputs.
type projection struct {
	shared.QKV
	given   problem.Problem
	ty      tensor.Type
	hidden  int       // of a row; 0 where the product is given
	product []float32 // the product, where it is given
	x, w    []float32
}

// on is the projection of a case.
func on(c problem.Problem, in []*tensor.Tensor, ty tensor.Type) projection {
	p := projection{given: c, ty: ty}
	var bias []float32
	if c.Sizes["bias"] != noBias {
		bias = in[len(in)-1].Data
	}
	p.QKV = placesOf(c, bias)
	if c.Op == "qkv_split" {
		p.product = in[0].Data
	} else {
		p.hidden, p.x, p.w = c.Sizes["hidden"], in[0].Data, in[1].Data
	}
	return p
}

func (p projection) String() string {
	from := fmt.Sprintf("x [%d, %d, %d]", p.Batch, p.Seq, p.hidden)
	if p.hidden == 0 {
		from = fmt.Sprintf("a projection [%d, %d, %d]", p.Batch, p.Seq, p.Outputs())
	}
	layout, bias := "[batch, heads, seq, dim]", "with a bias"
	if p.TokensFirst {
		layout = "[batch, seq, heads, dim]"
	}
	if len(p.Bias) == 0 {
		bias = "no bias"
	}
	return fmt.Sprintf("%s to %d and twice %d heads × %d as %s, %s, %v (rows are those of x, columns those of q, then of k, then of v)",
		from, p.Heads, p.KVHeads, p.Dim, layout, bias, p.ty)
}

// bias is that of a column.
func (p projection) bias(column int) float32 {
	if len(p.Bias) == 0 {
		return 0
	}
	return p.Bias[column]
}

// truth is what [rows, outputs] is judged by.
func (p projection) truth() judge.Truth {
	outputs := p.Outputs()
	return shared.Product{Type: p.ty, Rows: p.Rows(), Hidden: p.hidden, Outputs: outputs, X: p.x,
		Weight: func(i, n int) float32 { return p.w[i*outputs+n] }, Bias: p.Bias, Given: p.product}.Truth()
}
