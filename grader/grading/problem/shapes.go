package problem

import (
	"cmp"

	"flashlab/attn"
)

// Softmax is a case's shape as a student's code gets it. Grader and worker read
// a case's sizes here, and nowhere else.
func (c Problem) Softmax() attn.SoftmaxShape {
	return attn.SoftmaxShape{Outer: c.Sizes["outer"], Len: c.Sizes["len"], Inner: c.Sizes["inner"]}
}

// Gemm is the shape of a batched matrix product, of either kind.
func (c Problem) Gemm(transB bool) attn.GemmShape {
	return attn.GemmShape{Batch: c.Sizes["batch"], M: c.Sizes["m"], N: c.Sizes["n"], K: c.Sizes["k"], TransB: transB}
}

// Attention is the shape of an attention with as many key as query heads, unless the case says otherwise.
func (c Problem) Attention() attn.Shape {
	heads := c.Sizes["heads"]
	return attn.Shape{Batch: c.Sizes["batch"], Heads: heads, KVHeads: cmp.Or(c.Sizes["kvheads"], heads),
		SeqQ: c.Sizes["seqq"], SeqK: c.Sizes["seqk"], Dim: c.Sizes["dim"], Causal: c.Causal, Window: c.Sizes["window"]}
}

// Cache is the shape of a cache of keys and values.
func (c Problem) Cache() attn.CacheShape {
	return attn.CacheShape{Batch: c.Sizes["batch"], MaxSeq: c.Sizes["slots"], KVHeads: c.Sizes["kvheads"], Dim: c.Sizes["dim"]}
}

// Decode is the shape of a step of decoding.
func (c Problem) Decode() attn.DecodeShape {
	return attn.DecodeShape{Heads: c.Sizes["heads"], CacheShape: c.Cache(), Window: c.Sizes["window"]}
}
