package decode

import (
	"flashlab/attn"
	"flashlab/device"
)

// Decode holds what is prepared once and used by every call.
type Decode struct {
	queue device.Queue
}

var (
	_ attn.Decoder      = (*Decode)(nil)
	_ attn.SplitDecoder = (*Decode)(nil)
)

// New prepares the kernels for one device. All compiling belongs here: a step of
// decoding takes a few microseconds, and may be recorded. About 15 lines.
func New(q device.Queue) (*Decode, error) {
	return &Decode{queue: q}, nil
}

// Update writes the keys and values of count new tokens of each sequence, k and v
// [Batch, count, KVHeads × Dim], to the slots at.Host[b] … at.Host[b] + count − 1
// of sequence b, and leaves all other slots unchanged. It must
//   - read the positions in the kernel, from at.Device: when a recorded step is
//     launched again, they have grown there;
//   - before it writes anything, return an error for a token that has no slot
//     (at.Host) or a buffer of the wrong size (c.Check and c.CheckPerSequence do part
//     of this).
//
// About 20 lines, and about 15 in kernels.cu.
func (d *Decode) Update(c attn.Cache, k, v device.Buffer[float32], count int, at attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// Decode writes softmax(q·kᵀ/√Dim)·v to out, both [Batch, Heads × Dim], where the
// keys and values of sequence b are its first lengths.Host[b] slots. It must
//   - work for Dim from 1 to 128 and any length from 1 to MaxSeq;
//   - give query head h the key head h / (Heads / KVHeads);
//   - read the lengths in the kernel, from lengths.Device: what the host launches
//     depends only on the shape;
//   - never use the contents of slots beyond a length: there may be NaN in them;
//   - with s.Window, see only the last s.Window of these slots (s.First says from
//     which on, for your checks), and read no others;
//   - return an error for a length of 0 or beyond MaxSeq, and for heads that cannot
//     share the key heads evenly (s.Check does the rest);
//   - allocate nothing.
//
// About 30 lines, and about 60 to 100 in kernels.cu.
func (d *Decode) Decode(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// DecodeSplit is optional. It does what Decode does, but shares the keys of each
// head among splits blocks. It may allocate its scratch memory here when it needs
// more than before, so a second call of the same shape allocates nothing. About 20
// lines, and 30 more in kernels.cu.
func (d *Decode) DecodeSplit(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence, splits int) error {
	return attn.ErrNotImplemented
}
