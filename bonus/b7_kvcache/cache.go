package kvcache

import (
	"flashlab/attn"
	"flashlab/device"
)

// Cache holds what is prepared once and used by every call.
type Cache struct {
	queue device.Queue
}

// New prepares the kernels for one device: of two formats and two dimensions. All
// compiling belongs here, and all allocating. About 35 lines.
func New(q device.Queue) (*Cache, error) { return &Cache{queue: q}, nil }

// AppendInt8 writes one new token of each sequence, k and v [Batch, KVHeads, Dim], to slot lengths[b].
//   - A token's head has one scale: its largest magnitude / 127, as a half, rounded towards zero. A code
//     is number / scale, rounded to the nearest, of two to the even one, from −127 to 127. Arithmetic
//     is float32.
//   - A scale of 0 means codes of 0. An infinity or a NaN makes the scale NaN, and the codes 0.
//   - The kernel reads the lengths from lengths.Device. Nothing but the slot is written.
//   - CheckAppend returns the error for what cannot be appended; return it before anything is launched.
//
// About 10 lines here, and 40 in append.cu.
func (c *Cache) AppendInt8(to Int8, k, v Halves, s attn.CacheShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// AppendInt4 is the same for four bits. The token goes to the open group, as it is. If it fills the
// group, all of that is quantised: each channel of k over the group's tokens, each token of v over its
// channels. A scale is (highest − lowest) / 15, as a half, rounded towards zero; low is the lowest; a
// code is (number − low) / scale, rounded as above, from 0 to 15. An infinity or a NaN makes the scale
// NaN, low and the codes 0.
//
// About 10 lines here, and 50 in append.cu.
func (c *Cache) AppendInt4(to Int4, k, v Halves, s attn.CacheShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// DecodeInt8 is one step of decoding, softmax(q·kᵀ/√Dim)·v for one query of each head: q
// and out [Batch, Heads, Dim]. Sequence b has lengths[b] tokens in the cache.
//   - Query head h reads key head h / (Heads / KVHeads).
//   - A sequence of length 0 gets zeros. What lies behind a length may be anything, even NaN.
//   - A number is code · scale. Sums are float32; the output is rounded once, at the end.
//   - The kernel reads the lengths from lengths.Device: what the host launches depends on
//     the shape alone. So a call allocates nothing, copies nothing and waits for nothing.
//   - CheckDecode returns the error for what cannot be computed; return it before
//     anything is launched.
//
// About 20 lines here, and 80 to 350 in decode.cu.
func (c *Cache) DecodeInt8(out, q Halves, from Int8, s attn.DecodeShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}

// DecodeInt4 is the same for four bits. A number is code · scale + low, rounded once to a half; those of
// the lengths[b] % Group tokens of the open group are halves.
func (c *Cache) DecodeInt4(out, q Halves, from Int4, s attn.DecodeShape, lengths attn.PerSequence) error {
	return attn.ErrNotImplemented
}
