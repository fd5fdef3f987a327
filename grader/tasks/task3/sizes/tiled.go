// Package sizes is what the grader and the worker of task 3 agree upon.
package sizes

import (
	"flashlab/attn"
	"flashlab/grader/grading/problem"
)

// Tiled is the shape of task 3's attention, which has a single head.
func Tiled(c problem.Problem) attn.Shape {
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
func TiledRoom(c problem.Problem, br, bc int) int {
	return 4 * (5*max(br, bc)*c.Sizes["dim"] + 2*br*bc + 8*br)
}
