package gpt2

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// Caches are what keys and values may be kept in.
var Caches = quant.Caches

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
			oldKeys, oldValues := quant.Kept(cache, keys, dim, true), quant.Kept(cache, values, dim, false)
			for i := range seqQ {
				length := i + seqK - seqQ + 1
				closed := quant.Closed(cache, length)
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
