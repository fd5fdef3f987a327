package gpt2

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// group is how many tokens of a KIVI cache are quantised together.
const group = 32

// Caches are what keys and values may be kept in: halves, 8 bits with a scale for each token and head, 4
// bits with a scale and a low for each, or KIVI's 4 bits, where each channel of k has these over a group
// of tokens, and the tokens of a group that is not full are halves.
var Caches = []string{"halves", "int8", "int4", "kivi"}

// CachedAttend is PlainAttend of keys and values as such a cache reads them back. A query sees the cache
// as it is when its own token has been added.
func CachedAttend(cache string) (Attend, error) {
	if !slices.Contains(Caches, cache) {
		return nil, fmt.Errorf("there is no cache %q; there is %s", cache, strings.Join(Caches, ", "))
	}
	return func(q, k, v *tensor.Tensor, heads int, causal bool) (*tensor.Tensor, error) {
		if !causal || q.Shape[0] != 1 {
			return nil, fmt.Errorf("attention from a cache is causal, of one text: q %s", tensor.ShapeString(q.Shape))
		}
		seqQ, seqK, hidden := q.Shape[1], k.Shape[1], q.Shape[2]
		dim := hidden / heads
		out := tensor.New(q.Shape...)
		weights := make([]float64, seqK)
		for h := range heads {
			keys, values := headOf(k, h, dim), headOf(v, h, dim)
			oldKeys, oldValues := kept(cache, keys, dim, true), kept(cache, values, dim, false)
			for i := range seqQ {
				length := i + seqK - seqQ + 1
				closed := length
				if cache == "kivi" {
					closed = length / group * group
				}
				of := func(old, open []float32) func(j int) []float32 {
					return func(j int) []float32 {
						if j < closed {
							return old[j*dim : (j+1)*dim]
						}
						return open[j*dim : (j+1)*dim]
					}
				}
				at := i*hidden + h*dim
				mix(out.Data[at:at+dim], q.Data[at:at+dim], weights[:length], of(oldKeys, keys), of(oldValues, values))
			}
		}
		return out, nil
	}, nil
}

// headOf is one head of x [1, seq, hidden] in halves: [seq, dim].
func headOf(x *tensor.Tensor, head, dim int) []float32 {
	hidden := x.Shape[2]
	y := make([]float32, 0, x.Shape[1]*dim)
	for i := range x.Shape[1] {
		from := i*hidden + head*dim
		y = append(y, x.Data[from:from+dim]...)
	}
	tensor.Float16.Round(y)
	return y
}

// kept are a head's keys or values as the cache reads them back. Those of a group that is not full yet
// stay as they are.
func kept(cache string, x []float32, dim int, keys bool) []float32 {
	y := slices.Clone(x)
	switch {
	case cache == "halves":
	case cache == "kivi" && keys:
		for from := 0; from+group*dim <= len(x); from += group * dim {
			for c := range dim {
				column := make([]float32, group)
				for t := range column {
					column[t] = x[from+t*dim+c]
				}
				for t, back := range four(column) {
					y[from+t*dim+c] = back
				}
			}
		}
	default:
		for from := 0; from < len(x); from += dim {
			row := x[from : from+dim]
			if cache == "int8" {
				copy(y[from:], eight(row))
			} else {
				copy(y[from:], four(row))
			}
		}
	}
	return y
}

func eight(x []float32) []float32 {
	codes, y := make([]int8, len(x)), make([]float32, len(x))
	scale := quant.Symmetric8(codes, x)
	for i, code := range codes {
		y[i] = quant.Number8(code, scale)
	}
	return y
}

func four(x []float32) []float32 {
	codes, y := make([]uint8, len(x)), make([]float32, len(x))
	scale, low := quant.Asymmetric4(codes, x)
	for i, code := range codes {
		y[i] = quant.Number4(code, scale, low)
	}
	return y
}
