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
// decoding takes some microseconds, and may be recorded. About 15 lines.
func New(q device.Queue) (*Decode, error) {
	return &Decode{queue: q}, nil
}

// Update writes the keys and values of count new tokens of each sequence, k and v
// [Batch, count, KVHeads × Dim], to the slots at.Host[b] … at.Host[b] + count − 1
// of sequence b, and leaves all other slots as they are. It must
//   - read the positions in the kernel, from at.Device: when a recorded step is
//     launched again, they have grown there;
//   - answer a token that has no slot (at.Host) with an error, and buffers of other
//     sizes too, before it writes anything (c.Check and c.CheckPerSequence do a part).
//
// About 20 lines, and about 15 in kernels.cu.
func (d *Decode) Update(c attn.Cache, k, v device.Buffer[float32], count int, at attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// Decode writes softmax(q·kᵀ/√Dim)·v to out, both [Batch, Heads × Dim], where the
// keys and values of sequence b are its first lengths.Host[b] slots. It must
//   - work for Dim from 1 to 128 and any length from 1 to MaxSeq;
//   - give query head h the key head h / (Heads / KVHeads);
//   - read the lengths in the kernel, from lengths.Device; what the host launches
//     depends on the shape only;
//   - never use what lies in slots beyond a length: there may be NaN;
//   - answer a length of 0 or beyond MaxSeq, and heads that cannot share the key
//     heads evenly, with an error (s.Check does the rest);
//   - allocate nothing.
//
// About 30 lines, and about 60 to 100 in kernels.cu.
func (d *Decode) Decode(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// DecodeSplit does what Decode does, with the keys of each head shared out among
// splits blocks: an optional part. Its scratch memory may be allocated here when a
// larger one is needed than before, so that a second call of the same shape
// allocates nothing. About 20 lines, and 30 more in kernels.cu.
func (d *Decode) DecodeSplit(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence, splits int) error {
	return attn.ErrNotImplemented
}
