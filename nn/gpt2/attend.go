package gpt2

import (
	"fmt"
	"math"

	"flashlab/tensor"
)

// PlainAttend is the attention of a Reference that was given none.
func PlainAttend(q, k, v *tensor.Tensor, heads int, causal bool) (*tensor.Tensor, error) {
	for _, t := range []*tensor.Tensor{q, k, v} {
		if len(t.Shape) != 3 || t.Shape[2] != q.Shape[2] || t.Shape[0] != q.Shape[0] || t.Shape[1] != k.Shape[1] && t != q {
			return nil, fmt.Errorf("attention of q %s, k %s, v %s: want [batch, seq, hidden]",
				tensor.ShapeString(q.Shape), tensor.ShapeString(k.Shape), tensor.ShapeString(v.Shape))
		}
	}
	batch, seqQ, hidden := q.Shape[0], q.Shape[1], q.Shape[2]
	seqK := k.Shape[1]
	if heads < 1 || hidden%heads != 0 {
		return nil, fmt.Errorf("attention of width %d in %d heads: want a multiple", hidden, heads)
	}
	dim := hidden / heads
	out := tensor.New(q.Shape...)
	weights := make([]float64, seqK)
	for b := range batch {
		for h := range heads {
			at := func(t *tensor.Tensor, seq, i int) []float32 {
				from := (b*seq+i)*hidden + h*dim
				return t.Data[from : from+dim]
			}
			for i := range seqQ {
				last := seqK
				if causal {
					last = i + seqK - seqQ + 1
				}
				mix(at(out, seqQ, i), at(q, seqQ, i), weights[:max(last, 0)],
					func(j int) []float32 { return at(k, seqK, j) }, func(j int) []float32 { return at(v, seqK, j) })
			}
		}
	}
	return out, nil
}

// mix is one row of attention: out is the mean of the values, by how well their
// keys match the query.
func mix(out, query []float32, weights []float64, key, value func(j int) []float32) {
	largest := math.Inf(-1)
	for j := range weights {
		weights[j] = 0
		for d, x := range key(j) {
			weights[j] += float64(x) * float64(query[d])
		}
		weights[j] /= math.Sqrt(float64(len(query)))
		largest = max(largest, weights[j])
	}
	var sum float64
	for j := range weights {
		weights[j] = math.Exp(weights[j] - largest)
		sum += weights[j]
	}
	mean := make([]float64, len(out))
	for j, w := range weights {
		for d, x := range value(j) {
			mean[d] += w * float64(x)
		}
	}
	for d := range out {
		out[d] = float32(mean[d] / sum)
	}
}
