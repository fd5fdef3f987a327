package backward

import (
	"flashlab/attn"
	"flashlab/device"
)

// Backward holds what is prepared once and used by every call.
type Backward struct {
	queue device.Queue
}

// New prepares the kernels for one device, for both dimensions. All compiling belongs here. About
// 25 lines.
func New(q device.Queue) (*Backward, error) { return &Backward{queue: q}, nil }

// Float32 writes the gradients of a loss by q, k and v, where dOut [Batch, Heads, SeqQ, Dim] is its
// gradient by out = softmax(q·kᵀ/√Dim)·v.
//   - Query head h reads key head h / (Heads / KVHeads), so dk and dv of a key head are sums over
//     all its query heads.
//   - With s.Causal, query i sees the keys 0 … i + SeqK − SeqQ. A query that sees none has dq = 0,
//     and a key that none sees has dk = dv = 0.
//   - Dim is 64 or 128; SeqQ and SeqK are at least 1, and need not divide a tile.
//   - It must write every element of dq, dk and dv, leave all else unchanged, and keep no SeqQ × SeqK
//     matrix in device memory.
//   - Two calls with the same inputs write the same bits.
//   - Check returns the error for what cannot be computed; return it before anything is launched.
//
// Two launches. About 30 lines here, and 150 in kernels.cu.
func (t *Backward) Float32(to Gradients[float32], from Forward[float32], dOut device.Buffer[float32], s attn.Shape) error {
	return attn.ErrNotImplemented
}
