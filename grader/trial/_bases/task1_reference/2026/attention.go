// Package reference is the reference solution of task 1. This file stands in
// for the one of the same name one folder up.
package reference

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"flashlab/tensor"
)

// SplitHeads turns x [batch, seq, hidden] into [batch, heads, seq, dim].
func SplitHeads(x *tensor.Tensor, heads int) (*tensor.Tensor, error) {
	if len(x.Shape) != 3 || heads < 1 || x.Shape[2]%heads != 0 {
		return nil, fmt.Errorf("split x %s into %d heads: want [batch, seq, hidden], hidden a multiple of heads", shape(x), heads)
	}
	batch, seq, hidden := x.Shape[0], x.Shape[1], x.Shape[2]
	dim := hidden / heads
	y := tensor.New(batch, heads, seq, dim)
	for b := range batch {
		for h := range heads {
			for i := range seq {
				from := (b*seq+i)*hidden + h*dim
				to := ((b*heads+h)*seq + i) * dim
				copy(y.Data[to:to+dim], x.Data[from:from+dim])
			}
		}
	}
	return y, nil
}

// Scores is q · kᵀ / √dim, head by head: [batch, heads, seqQ, seqK].
func Scores(q, k *tensor.Tensor) (*tensor.Tensor, error) {
	if !sameHeads(q, k) || q.Shape[3] != k.Shape[3] {
		return nil, fmt.Errorf("scores of q %s and k %s: want [batch, heads, seq, dim], only seq may differ", shape(q), shape(k))
	}
	s := tensor.New(q.Shape[0], q.Shape[1], q.Shape[2], k.Shape[2])
	scale := float32(1 / math.Sqrt(float64(q.Shape[3])))
	eachHead(s, func(n int) {
		blas32.Gemm(blas.NoTrans, blas.Trans, scale, head(q, n), head(k, n), 0, head(s, n))
	})
	return s, nil
}

// Mask puts -Inf wherever the key comes after the query.
func Mask(scores *tensor.Tensor) (*tensor.Tensor, error) {
	if len(scores.Shape) != 4 || scores.Shape[2] > scores.Shape[3] {
		return nil, fmt.Errorf("mask scores %s: want [batch, heads, seqQ, seqK], seqQ at most seqK", shape(scores))
	}
	seqQ, seqK := scores.Shape[2], scores.Shape[3]
	masked := tensor.New(scores.Shape...)
	copy(masked.Data, scores.Data)
	negInf := float32(math.Inf(-1))
	eachHead(masked, func(n int) {
		m := head(masked, n)
		for i := range seqQ {
			last := i + seqK - seqQ // the last key that query i sees
			for j := last + 1; j < seqK; j++ {
				m.Data[i*seqK+j] = negInf
			}
		}
	})
	return masked, nil
}

// Softmax turns each row into weights that add up to 1.
func Softmax(scores *tensor.Tensor) (*tensor.Tensor, error) {
	if len(scores.Shape) != 4 {
		return nil, fmt.Errorf("softmax of scores %s: want [batch, heads, seqQ, seqK]", shape(scores))
	}
	weights := tensor.New(scores.Shape...)
	eachHead(weights, func(n int) {
		from, to := head(scores, n), head(weights, n)
		for i := range to.Rows {
			softmaxRow(to.Data[i*to.Stride:][:to.Cols], from.Data[i*from.Stride:][:from.Cols])
		}
	})
	return weights, nil
}

// softmaxRow subtracts the largest score first: then no exponent is above 0,
// so nothing overflows, and one term is exactly 1, so the sum is never 0.
func softmaxRow(y, x []float32) {
	largest := x[0]
	for _, v := range x {
		largest = max(largest, v)
	}
	var sum float32
	for i, v := range x {
		y[i] = float32(math.Exp(float64(v - largest)))
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
}

// WeightedSum is weights · v, head by head: [batch, heads, seqQ, dim].
func WeightedSum(weights, v *tensor.Tensor) (*tensor.Tensor, error) {
	if !sameHeads(weights, v) || weights.Shape[3] != v.Shape[2] {
		return nil, fmt.Errorf("weights %s of v %s: want [batch, heads, seqQ, seqK] and [batch, heads, seqK, dim]", shape(weights), shape(v))
	}
	y := tensor.New(v.Shape[0], v.Shape[1], weights.Shape[2], v.Shape[3])
	eachHead(y, func(n int) {
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, head(weights, n), head(v, n), 0, head(y, n))
	})
	return y, nil
}

// MergeHeads turns x [batch, heads, seq, dim] into [batch, seq, heads × dim].
func MergeHeads(x *tensor.Tensor) (*tensor.Tensor, error) {
	if len(x.Shape) != 4 {
		return nil, fmt.Errorf("merge x %s: want [batch, heads, seq, dim]", shape(x))
	}
	batch, heads, seq, dim := x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
	hidden := heads * dim
	y := tensor.New(batch, seq, hidden)
	for b := range batch {
		for h := range heads {
			for i := range seq {
				from := ((b*heads+h)*seq + i) * dim
				to := (b*seq+i)*hidden + h*dim
				copy(y.Data[to:to+dim], x.Data[from:from+dim])
			}
		}
	}
	return y, nil
}

// Attention is all the steps in order.
func Attention(q, k, v *tensor.Tensor, heads int, causal bool) (*tensor.Tensor, error) {
	qh, err := SplitHeads(q, heads)
	if err != nil {
		return nil, err
	}
	kh, err := SplitHeads(k, heads)
	if err != nil {
		return nil, err
	}
	vh, err := SplitHeads(v, heads)
	if err != nil {
		return nil, err
	}
	scores, err := Scores(qh, kh)
	if err != nil {
		return nil, err
	}
	if causal {
		if scores, err = Mask(scores); err != nil {
			return nil, err
		}
	}
	weights, err := Softmax(scores)
	if err != nil {
		return nil, err
	}
	mixed, err := WeightedSum(weights, vh)
	if err != nil {
		return nil, err
	}
	return MergeHeads(mixed)
}

// eachHead calls f once for each head of each sequence, in goroutines: no two
// heads share an element of the result, so they need not wait for each other.
func eachHead(result *tensor.Tensor, f func(n int)) {
	var all sync.WaitGroup
	for n := range result.Shape[0] * result.Shape[1] {
		all.Go(func() { f(n) })
	}
	all.Wait()
}

// head is the n-th matrix of x [batch, heads, rows, cols]: a view, not a copy.
func head(x *tensor.Tensor, n int) blas32.General {
	rows, cols := x.Shape[2], x.Shape[3]
	size := rows * cols
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: x.Data[n*size : (n+1)*size]}
}

// sameHeads tells whether both are [batch, heads, …, …], with the same batch
// and the same heads.
func sameHeads(a, b *tensor.Tensor) bool {
	return len(a.Shape) == 4 && len(b.Shape) == 4 && a.Shape[0] == b.Shape[0] && a.Shape[1] == b.Shape[1]
}

func shape(t *tensor.Tensor) string { return tensor.ShapeString(t.Shape) }
