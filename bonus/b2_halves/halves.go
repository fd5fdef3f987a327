package halves

import (
	"flashlab/attn"
	"flashlab/device"
)

// Halves holds what is prepared once and used by every call.
type Halves struct {
	queue device.Queue
}

// New prepares the kernels for one device: of two types and two dimensions. All
// compiling belongs here. About 30 lines.
func New(q device.Queue) (*Halves, error) { return &Halves{queue: q}, nil }

// Float16 writes softmax(q·kᵀ/√Dim)·v to out, separately for each head: q and out
// [Batch, Heads, SeqQ, Dim], k and v [Batch, KVHeads, SeqK, Dim], all float16.
//   - Query head h reads key head h / (Heads / KVHeads).
//   - With s.Causal, query i sees the keys 0 … i + SeqK − SeqQ. One that sees none
//     gets zeros.
//   - Dim is 64 or 128; SeqQ and SeqK are at least 1, and need not divide a tile.
//   - Sums are float32: of scores, of probabilities, and of the output, which is
//     rounded once, at the end.
//   - It must write every element of out, leave q, k and v unchanged, and hold no
//     matrix of scores in device memory.
//   - Check returns the error for what cannot be computed; return it before
//     anything is launched.
//
// One launch. About 15 lines here, and 200 in kernels.cu.
func (t *Halves) Float16(out, q, k, v device.Buffer[device.Float16], s attn.Shape) error {
	return attn.ErrNotImplemented
}

// BFloat16 is the same for bfloat16.
func (t *Halves) BFloat16(out, q, k, v device.Buffer[device.BFloat16], s attn.Shape) error {
	return attn.ErrNotImplemented
}
