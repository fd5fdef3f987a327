package wire

import "flashlab/attn"

// Softmax is a case's shape as a student's code gets it. Grader and worker read
// a case's sizes here, and nowhere else.
func (c Case) Softmax() attn.SoftmaxShape {
	return attn.SoftmaxShape{Outer: c.Sizes["outer"], Len: c.Sizes["len"], Inner: c.Sizes["inner"]}
}

// Gemm is the shape of a batched matrix product, of either kind.
func (c Case) Gemm(transB bool) attn.GemmShape {
	return attn.GemmShape{Batch: c.Sizes["batch"], M: c.Sizes["m"], N: c.Sizes["n"], K: c.Sizes["k"], TransB: transB}
}

// Attention is the shape of an attention with as many key as query heads.
func (c Case) Attention() attn.Shape {
	heads := c.Sizes["heads"]
	return attn.Shape{Batch: c.Sizes["batch"], Heads: heads, KVHeads: heads,
		SeqQ: c.Sizes["seqq"], SeqK: c.Sizes["seqk"], Dim: c.Sizes["dim"], Causal: c.Causal}
}

// Tiled is the shape of task 3's attention, which has a single head.
func (c Case) Tiled() attn.Shape {
	return attn.Shape{Batch: 1, Heads: 1, KVHeads: 1,
		SeqQ: c.Sizes["seqq"], SeqK: c.Sizes["seqk"], Dim: c.Sizes["dim"], Causal: c.Causal}
}

// Cache is the shape of a cache of keys and values.
func (c Case) Cache() attn.CacheShape {
	return attn.CacheShape{Batch: c.Sizes["batch"], MaxSeq: c.Sizes["slots"], KVHeads: c.Sizes["kvheads"], Dim: c.Sizes["dim"]}
}

// Decode is the shape of a step of decoding.
func (c Case) Decode() attn.DecodeShape {
	return attn.DecodeShape{Heads: c.Sizes["heads"], CacheShape: c.Cache()}
}

// Generate is the shape of the last step of a generation, which fills the cache.
func (c Case) Generate() attn.DecodeShape {
	s := c.Decode()
	s.MaxSeq = c.Sizes["prompt"] + c.Sizes["steps"]
	return s
}

// Replayed is the first step of a generation that comes from a recorded graph.
func (c Case) Replayed() int { return c.Sizes["steps"] / 2 }

// Names of the counts that task 3's worker sends: the tiles that were chosen.
const (
	TileQueries = "br"
	TileKeys    = "bc"
)

// TiledRoom is the SRAM, in bytes, that task 3 promises for tiles of br queries
// and bc keys.
func (c Case) TiledRoom(br, bc int) int {
	return 4 * (5*max(br, bc)*c.Sizes["dim"] + 2*br*bc + 8*br)
}
