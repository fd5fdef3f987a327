package decode

import (
	"flashlab/attn"
	"flashlab/device"
)

// Decode holds what is prepared once and used by every call.
type Decode struct {
	queue device.Queue
}

// New prepares the kernels for one device: of two types and two dimensions. All
// compiling belongs here, and all allocating. About 35 lines.
func New(q device.Queue) (*Decode, error) { return &Decode{queue: q}, nil }

// Float16 is one step of decoding, softmax(q·kᵀ/√Dim)·v for one query of each head: q
// and out [Batch, Heads, Dim], k and v [Batch, MaxSeq, KVHeads, Dim], all float16. The
// keys and values of sequence b are its first lengths[b] slots.
//   - Query head h reads key head h / (Heads / KVHeads).
//   - Dim is 64 or 128. A length is 0 to MaxSeq; a sequence of length 0 gets zeros.
//   - Sums are float32: of scores, of probabilities, and of the output, which is
//     rounded once, at the end.
//   - The kernel reads the lengths from lengths.Device: what the host launches depends on
//     the shape alone. The first call of all may be one that is recorded in a graph. So
//     a call allocates nothing, copies nothing and waits for nothing.
//   - Slots beyond a length may hold anything, even NaN.
//   - Check returns the error for what cannot be computed; return it before
//     anything is launched.
//
// About 20 lines here, and 80 to 250 in kernels.cu.
func (d *Decode) Float16(out, q, k, v device.Buffer[device.Float16], s attn.DecodeShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// BFloat16 is the same for bfloat16.
func (d *Decode) BFloat16(out, q, k, v device.Buffer[device.BFloat16], s attn.DecodeShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// Paged is optional, and has no points: Decode for a cache in pages.
type Paged struct {
	queue device.Queue
}

// NewPaged prepares the kernels for one device, as New does.
func NewPaged(q device.Queue) (*Paged, error) { return &Paged{queue: q}, nil }

// Float16 is the step of Decode.Float16, with keys and values on pages of PageSlots slots: k and v
// [pages, PageSlots, KVHeads, Dim], table [Batch, ⌈MaxSeq / PageSlots⌉]. Slot p of sequence b is slot
// p % PageSlots of page table[b, p / PageSlots].
//   - Several sequences may have the same page.
//   - Numbers in the table behind the page of the last token may be anything, -1 too: do not
//     read a page by them. The others are pages that there are: who fills the table promises it, for
//     a call cannot look at it without waiting for the device.
//   - Slots behind the last token may hold anything, even NaN. So may pages that nobody has.
//   - CheckPaged returns the error for what cannot be computed.
//
// Some 15 lines more than you have, and a handful in the kernel.
func (p *Paged) Float16(out, q, k, v device.Buffer[device.Float16], table device.Buffer[int32], s attn.DecodeShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// BFloat16 is the same for bfloat16.
func (p *Paged) BFloat16(out, q, k, v device.Buffer[device.BFloat16], table device.Buffer[int32], s attn.DecodeShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}
