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
