package flash

import (
	"flashlab/attn"
	"flashlab/device"
)

// DefaultTiles is what New uses. `make tune TASK=4` tries others.
var DefaultTiles = Tiles{Queries: 64, Keys: 64}

// Flash holds what is prepared once and used by every call.
type Flash struct {
	queue device.Queue
}

var _ attn.Kernel = (*Flash)(nil)

// New prepares the kernel for one device: it is NewTiled with the tiles that
// you found best.
func New(q device.Queue) (*Flash, error) { return NewTiled(q, DefaultTiles) }

// NewTiled prepares it for other tiles, and returns an error for tiles it cannot
// handle. The two numbers go to kernels.cu as macros, because arrays and loops
// need sizes that are known at compile time. All compiling belongs here. About 15
// lines.
func NewTiled(q device.Queue, t Tiles) (*Flash, error) {
	return &Flash{queue: q}, nil
}

// Run writes softmax(q·kᵀ/√Dim)·v to out, separately for each head: q and out
// [Batch, Heads, SeqQ, Dim], k and v [Batch, Heads, SeqK, Dim] (KVHeads is
// Heads in this task). It must
//   - write every element of out, and leave q, k and v unchanged;
//   - work for Dim from 1 to 128 and all SeqQ and SeqK from 1 up;
//   - with s.Causal, let query i see only the keys 0 … i + SeqK − SeqQ, and
//     give zeros to a query that sees none;
//   - with s.Window, which goes with s.Causal, let it see only the last
//     s.Window of these, and visit no tile that none of a block's queries sees;
//   - allocate no device memory that grows with SeqQ · SeqK;
//   - return an error for a shape it cannot handle (s.Check does most of this).
//
// It is one launch. About 25 lines, and about 100 in kernels.cu.
func (f *Flash) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	return attn.ErrNotImplemented
}
