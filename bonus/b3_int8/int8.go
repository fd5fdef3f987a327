package codes

import (
	"flashlab/attn"
	"flashlab/device"
)

// Int8 holds what is prepared once and used by every call.
type Int8 struct {
	queue device.Queue
}

// New prepares the kernels for one device: two ways, of two dimensions. All compiling belongs
// here. About 40 lines.
func New(q device.Queue) (*Int8, error) { return &Int8{queue: q}, nil }

// PerTensor writes softmax(q·kᵀ/√Dim)·v of float16 tensors to out, by way of codes of 8 bits: q and
// out [Batch, Heads, SeqQ, Dim], k and v [Batch, KVHeads, SeqK, Dim].
//   - Each of q, k and v has one scale and one zero, a whole number from −128 to 127, for all of it:
//     to.Affine. Its codes are the numbers from −128 to 127 for which (code − zero) · scale is
//     nearest; the range of the codes is that of the tensor, and of 0.
//   - out is attention of what the codes stand for. Products of codes of q and k are summed as
//     integers; probabilities stay floats, rounded to float16; their sums, and those of the
//     output, are float32. out is rounded once, at the end.
//   - Query head h reads key head h / (Heads / KVHeads).
//   - With s.Causal, query i sees the keys 0 … i + SeqK − SeqQ. One that sees none gets zeros.
//   - Dim is 64 or 128; SeqQ and SeqK are at least 1, and need not divide a tile.
//   - A NaN or infinity in q, k or v never gives numbers that look right: what is computed with
//     its scale becomes NaN.
//   - It must write every element of out and of to, leave q, k and v unchanged, and hold no
//     matrix of scores in device memory.
//   - to.Check returns the error for what cannot be computed; return it before anything is launched.
//
// About 40 lines here, and 250 in the two .cu files.
func (t *Int8) PerTensor(out, q, k, v device.Buffer[device.Float16], to TensorCodes, s attn.Shape) error {
	return attn.ErrNotImplemented
}

// ByBlock is the same with other codes:
//   - Each block of 64 rows of a head of q, and of k, has one scale, and no zero: codes go from
//     −127 to 127, and the largest absolute value becomes 127.
//   - Before, the mean of each column over a head's keys, to.Mean, is taken off k. The softmax does
//     not notice.
//   - v stays in float16.
func (t *Int8) ByBlock(out, q, k, v device.Buffer[device.Float16], to BlockCodes, s attn.Shape) error {
	return attn.ErrNotImplemented
}
