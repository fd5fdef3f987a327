package rope

import (
	"flashlab/attn"
	"flashlab/device"
)

// Rope holds what is prepared once and used by every call.
type Rope struct {
	queue device.Queue
}

// New prepares the kernel for one device. All compiling belongs here. About 20 lines.
func New(q device.Queue) (*Rope, error) { return &Rope{queue: q}, nil }

// Run writes softmax(rot(q)·rot(k)ᵀ/√Dim)·v to out, separately for each head: q
// and out [Batch, Heads, SeqQ, Dim], k and v [Batch, Heads, SeqK, Dim].
//   - Query i of sequence b has position start[b] + i, key j has position j, and
//     rot turns a row by its position (Rotation). Values are not turned.
//   - With s.Causal, a query sees the keys whose position is not after its own:
//     0 … start[b] + i. (s.Sees is for attention without positions.)
//   - Dim is a multiple of 8 up to 128; SeqQ and SeqK are at least 1, and may differ.
//   - It must write every element of out, leave q, k and v unchanged, and hold no
//     rotated copy of q or k in device memory.
//   - r.Check returns the error for what cannot be computed; return it before
//     anything is launched.
//
// A kernel that takes start.Device as a const int * reads start[b] itself. One
// launch. About 25 lines here, and as many in kernels.cu as task 4 took, plus 30.
func (t *Rope) Run(out, q, k, v device.Buffer[float32], start attn.PerSequence, s attn.Shape, r Rotation) error {
	return attn.ErrNotImplemented
}
