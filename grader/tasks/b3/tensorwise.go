package b3

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// tensorFormat has one scale and one zero for all of a tensor.
type tensorFormat struct{}

func (tensorFormat) outputs(s shape) []problem.Tensor {
	q, kv := []int{s.Batch, s.Heads, s.SeqQ, s.Dim}, []int{s.Batch, s.KVHeads, s.SeqK, s.Dim}
	return []problem.Tensor{{Name: "codes of q", Shape: q, Type: tensor.Int8}, {Name: "codes of k", Shape: kv, Type: tensor.Int8},
		{Name: "codes of v", Shape: kv, Type: tensor.Int8}, {Name: "affine", Shape: []int{3, 2}}}
}

func (tensorFormat) spans(s shape, from [3]int) ([]judge.Span, func(got [][]float32) []coding) {
	all := []judge.Span{{Output: 4, Size: 6}}
	for i, at := range from {
		all = append(all, judge.Span{Output: 1 + i, From: at, Size: s.Dim})
	}
	return all, func(got [][]float32) []coding { return tensorFormat{}.of(s, got[1:], got[0]).coded }
}

// passes says how often each is read and written: each tensor is read twice, for its range and its codes, which are written.
func (tensorFormat) passes() (q, k, v, value int) { return 2 + 2 + 1, 2 + 2 + 1, 2 + 2 + 1, 1 }

func (f tensorFormat) encode(s shape, q, k, v []float32) codes {
	affine := make([]float32, 6)
	var all [][]float32
	for i, x := range [][]float32{q, k, v} {
		low, high := 0.0, 0.0
		for _, n := range x {
			low, high = min(low, float64(n)), max(high, float64(n))
		}
		scale := (high - low) / 255
		if scale == 0 {
			scale = 1
		}
		zero := math.RoundToEven(-low/scale) - 128
		affine[2*i], affine[2*i+1] = float32(scale), float32(zero)
		y := make([]float32, len(x))
		for at, n := range x {
			y[at] = float32(max(min(math.RoundToEven(float64(n)/scale)+zero, 127), -128))
		}
		all = append(all, y)
	}
	return f.of(s, all, affine)
}

func (tensorFormat) of(s shape, all [][]float32, affine []float32) codes {
	var c codes
	for i, x := range all {
		scale, zero := float64(affine[2*i]), float64(affine[2*i+1])
		c.coded = append(c.coded, coding{name: "qkv"[i : i+1], at: 1 + i, codes: x, centre: none,
			scale: func(int) float64 { return scale }, zero: func(int) float64 { return zero }})
	}
	scale := float64(affine[0]) * float64(affine[2]) / math.Sqrt(float64(s.Dim))
	zeroQ, zeroK := float64(affine[1]), float64(affine[3])
	c.score = func(row, key int) float64 {
		var sum float64
		k := keyRow(s, row, key) * s.Dim
		for x := range s.Dim {
			sum += (float64(all[0][row*s.Dim+x]) - zeroQ) * (float64(all[1][k+x]) - zeroK)
		}
		return sum * scale
	}
	return c
}

func (f tensorFormat) read(s shape, q, k, v []float32, out []*tensor.Tensor) (c codes, why string) {
	affine := out[4].Data
	if why := finite(out[4], "affine"); why != "" {
		return c, why
	}
	for i := range 3 {
		scale, zero, name := affine[2*i], affine[2*i+1], "qkv"[i:i+1]
		switch {
		case !(scale > 0):
			return c, fmt.Sprintf("affine: the scale of %s is %v, and has to be above 0", name, scale)
		case zero != float32(math.Round(float64(zero))) || zero < -128 || zero > 127:
			return c, fmt.Sprintf("affine: the zero of %s is %v, and has to be a code: a whole number from −128 to 127", name, zero)
		}
	}
	return f.of(s, [][]float32{out[1].Data, out[2].Data, out[3].Data}, affine), ""
}

func (tensorFormat) mistakes(j job, c codes) []judge.Mistake {
	q, k, v := c.coded[0], c.coded[1], c.coded[2]
	zeroless := func(c coding) []float32 { c.zero = none; return c.values() }
	bare := func(c coding) []float32 { c.scale = func(int) float64 { return 1 }; return c.values() }
	as := func(q, k, v []float32) func() []float64 {
		return func() []float64 { return shared.Mixed{S: j.s, Q: q, K: k, V: v}.As(shared.Deviation{}) }
	}
	var all []judge.Mistake
	// That of k moves all scores of a row, which the softmax does not notice.
	if q.zero(0) != 0 {
		all = append(all, judge.Wrong(as(zeroless(q), k.values(), v.values()), "the zero of q is forgotten: q is (code − zero) · scale, so −zero · Σ code of each key belongs to its score"))
	}
	if v.zero(0) != 0 {
		all = append(all, judge.Wrong(as(q.values(), k.values(), zeroless(v)), "the zero of v is forgotten: v is (code − zero) · scale"))
	}
	return append(all,
		judge.Wrong(as(q.values(), k.values(), bare(v)), "the scale of v is forgotten: out is in steps"),
		judge.Wrong(as(bare(q), k.values(), v.values()), scaleless),
		judge.Wrong(as(q.values(), bare(k), v.values()), scaleless),
		judge.Wrong(as(bare(q), bare(k), v.values()), scaleless))
}

func (tensorFormat) blames(_ job, c, own codes) string {
	for i, t := range c.coded {
		if times := t.scale(0) / own.coded[i].scale(0); times > 1.02 {
			return fmt.Sprintf("the scale of %s is %.2f times as large as its range needs", t.name, times)
		}
	}
	return ""
}
