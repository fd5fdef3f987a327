package tiled

import (
	"flashlab/attn"
	"flashlab/hbm"
)

// Forward computes attention for one head, o = softmax(q · kᵀ / √dim) · v, for
// q and o [seqQ, dim] and k and v [seqK, dim] in the large memory. It must
//   - work with tiles of at most br rows of q and o, and at most bc rows of k
//     and v, whatever the two are (both at least 1; they may be larger than the
//     matrices, and need not divide them);
//   - manage with an SRAM that holds five tiles [br, dim] or [bc, dim], two
//     [br, bc] and eight columns [br, 1], which is more than it needs;
//   - write every row of o once, and no N×N matrix anywhere;
//   - if causal, let query i see only the keys 0 … i + seqK - seqQ (seqQ is at
//     most seqK), and do not even load tiles of k and v that no query sees;
//   - return sram.Err(), and any other errors it finds.
//
// About 50 lines.
func Forward(sram *hbm.SRAM, o, q, k, v *hbm.Matrix, br, bc int, causal bool) error {
	return attn.ErrNotImplemented
}

// Tiles picks br and bc for Forward, so that all its tiles fit into an SRAM of
// that many bytes and as little as possible is moved between the memories. If
// no tile size fits, it returns an error. With room for 4 · dim + 16 elements or
// more, it must find one.
//
// About 15 lines.
func Tiles(sram, seqQ, seqK, dim int) (br, bc int, err error) {
	return 0, 0, attn.ErrNotImplemented
}
