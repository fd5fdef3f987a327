package ops

import (
	"fmt"
	"math"
	"strings"

	"flashlab/attn"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

// The steps of task 1 that only move numbers: results must be exact.

// splitHeads turns [batch, seq, heads × dim] into [batch, heads, seq, dim].
var splitHeads = Op{
	Name:  "split_heads",
	Sizes: []string{"batch", "seq", "heads", "dim"},
	Tensors: func(c wire.Case) (in, out []wire.Tensor) {
		s := c.Sizes
		return []wire.Tensor{{Name: "x", Shape: []int{s["batch"], s["seq"], s["heads"] * s["dim"]}}},
			[]wire.Tensor{{Name: "result", Shape: []int{s["batch"], s["heads"], s["seq"], s["dim"]}}}
	},
	Judge: func(c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
		x, s := in[0].Data, c.Sizes
		return judgeExact(c, in, out.Tensors[0].Data, splitUp(x, s["batch"], s["seq"], s["heads"], s["dim"]), []lookalike{
			{x, "the numbers lie as they did in x: a change of shape alone moves nothing, but each head has to be in one piece"},
			{transposeAll(splitUp(x, s["batch"], s["seq"], s["heads"], s["dim"]), s["seq"], s["dim"]), "each head is transposed: it is [dim, seq], want [seq, dim]"},
			{every(x, s["batch"], s["seq"], s["heads"], s["dim"]), "head 0 has every heads-th value of each position: it gets the first dim of them in one piece"},
		})
	},
	Least: once,
}

// mergeHeads turns [batch, heads, seq, dim] into [batch, seq, heads × dim].
var mergeHeads = Op{
	Name:  "merge_heads",
	Sizes: []string{"batch", "heads", "seq", "dim"},
	Tensors: func(c wire.Case) (in, out []wire.Tensor) {
		s := c.Sizes
		return []wire.Tensor{{Name: "x", Shape: []int{s["batch"], s["heads"], s["seq"], s["dim"]}}},
			[]wire.Tensor{{Name: "result", Shape: []int{s["batch"], s["seq"], s["heads"] * s["dim"]}}}
	},
	Judge: func(c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
		x, s := in[0].Data, c.Sizes
		swapped := transposeAll(joinUp(x, s["batch"], s["seq"], s["heads"], s["dim"]), s["heads"], s["dim"])
		return judgeExact(c, in, out.Tensors[0].Data, joinUp(x, s["batch"], s["seq"], s["heads"], s["dim"]), []lookalike{
			{x, "the numbers lie as they did in x: a change of shape alone moves nothing, but each position has to be in one piece"},
			{reversed(x, s["batch"], s["seq"], s["heads"], s["dim"]), "heads are merged in the wrong order: the last head comes first in each position"},
			{swapped, "heads are merged in the wrong order: a position has all of head 0 first, then all of head 1, not one value of each in turn"},
		})
	},
	Least: once,
}

// causalMask puts -Inf where the key comes after the query.
var causalMask = Op{
	Name:  "mask",
	Sizes: []string{"batch", "heads", "seqq", "seqk"},
	Rules: keysForAll,
	Tensors: func(c wire.Case) (in, out []wire.Tensor) {
		s := scoresShape(c)
		return []wire.Tensor{{Name: "scores", Shape: s}}, []wire.Tensor{{Name: "result", Shape: s}}
	},
	Judge: func(c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
		x, s := in[0].Data, attn.Shape{SeqQ: c.Sizes["seqq"], SeqK: c.Sizes["seqk"], Causal: true}
		hide := func(with float64, sees func(i, j int) bool) []float32 { return hidden(x, s, float32(with), sees) }
		negInf := math.Inf(-1)
		last := s.SeqK - s.SeqQ
		return judgeExact(c, in, out.Tensors[0].Data, hide(negInf, s.Sees), []lookalike{
			{x, "nothing is masked"},
			{hide(negInf, func(i, j int) bool { return j <= i+last+1 }), "the mask is off by one: each query sees one key too many"},
			{hide(negInf, func(i, j int) bool { return j < i+last }), "the mask is off by one: a query sees the key beside it, too"},
			{hide(negInf, func(i, j int) bool { return j <= i }), "the mask starts at the wrong corner: the last query stands beside the last key, so query i sees keys 0 … i + seqK - seqQ"},
			{hide(negInf, func(i, j int) bool { return j >= i+last }), "the mask hides the past: it is the keys after the query that must not be seen"},
			{hide(0, s.Sees), "hidden scores are 0, which is a score like any other: put -Inf there"},
		})
	},
	Least: once,
}

// keysForAll: the first query must see a key.
func keysForAll(c wire.Case) error {
	if c.Sizes["seqk"] < c.Sizes["seqq"] {
		return fmt.Errorf("%d queries and %d keys: the first query would see none", c.Sizes["seqq"], c.Sizes["seqk"])
	}
	return nil
}

func scoresShape(c wire.Case) []int {
	return []int{c.Sizes["batch"], c.Sizes["heads"], c.Sizes["seqq"], c.Sizes["seqk"]}
}

// lookalike is an output that a known mistake gives.
type lookalike struct {
	values []float32
	says   string
}

// judgeExact wants every element as it is in want, bit for bit but for the sign of 0.
func judgeExact(c wire.Case, in []*tensor.Tensor, got, want []float32, known []lookalike) Verdict {
	wrong, first := 0, 0
	for i, w := range want {
		if got[i] != w { // true for NaN
			if wrong == 0 {
				first = i
			}
			wrong++
		}
	}
	if wrong == 0 {
		return Verdict{Passed: true}
	}
	shape := c.Outputs[0].Shape
	v := Verdict{Reason: fmt.Sprintf("%d of %d elements are wrong", wrong, len(want))}
	if allZero(got) {
		v.Reason = "every element is 0"
	}
	var says []string // of small cases several may be true
	for _, k := range known {
		if !same32(k.values, want) && same32(got, k.values) {
			says = append(says, k.says)
		}
	}
	if len(says) > 0 {
		v.Reason = strings.Join(says, "; or ")
	}
	at := strings.ReplaceAll(tensor.ShapeString(tensor.Index(shape, first)), ", ", "][")
	v.Details = []string{
		fmt.Sprintf("%s %s to %s, inputs %s", c.Inputs[0].Name, tensor.ShapeString(in[0].Shape), tensor.ShapeString(shape), c.Dist),
		fmt.Sprintf("first at %s%s: got %s, want %s", c.Outputs[0].Name, at, number(float64(got[first])), number(float64(want[first]))),
	}
	return v
}

func same32(a, b []float32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func allZero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}
