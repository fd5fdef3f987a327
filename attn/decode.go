package attn

import (
	"fmt"

	"flashlab/device"
)

// PerSequence is one number for each sequence of a batch. Kernels read the device's
// copy, so that a recorded graph of a whole step stays correct while the numbers
// grow. Host has the same numbers, for checks before anything is launched.
type PerSequence struct {
	Host   []int
	Device device.Buffer[int32] // [Batch]
}

// CacheShape is a cache of keys and values: k and v each
// [Batch, MaxSeq, KVHeads × Dim], row-major. Slot p of a sequence belongs to its
// token p.
type CacheShape struct {
	Batch, MaxSeq, KVHeads, Dim int
}

func (s CacheShape) String() string {
	return fmt.Sprintf("a cache [%d, %d, %d × %d]", s.Batch, s.MaxSeq, s.KVHeads, s.Dim)
}

// Slot is the number of values that one token has in k, and in v.
func (s CacheShape) Slot() int { return s.KVHeads * s.Dim }

// Elements is the number of values in k, and in v.
func (s CacheShape) Elements() int { return s.Batch * s.MaxSeq * s.Slot() }

// Cache is the keys and values of the tokens so far. Slots that no token has taken
// yet may hold anything, even NaN.
type Cache struct {
	K, V device.Buffer[float32] // each [Batch, MaxSeq, KVHeads × Dim]
	CacheShape
}

// Check tells what is wrong with a cache's shape, or with the sizes of the buffers.
func (c Cache) Check() error {
	if min(c.Batch, c.MaxSeq, c.KVHeads, c.Dim) < 1 {
		return fmt.Errorf("%v: every dimension must be at least 1", c.CacheShape)
	}
	return sizes(fmt.Sprint(c.CacheShape), c.Elements(), c.K, c.V)
}

// CheckPerSequence requires one number for each sequence, on both host and device.
func (s CacheShape) CheckPerSequence(what string, n PerSequence) error {
	if len(n.Host) != s.Batch || n.Device.Len() != s.Batch {
		return fmt.Errorf("%s for %v: there are %d (on the device %d), want one for each sequence", what, s, len(n.Host), n.Device.Len())
	}
	return nil
}

// DecodeShape is one step of decoding: a single query for each sequence, q and
// out [Batch, Heads × Dim], against a cache. Query head h reads the key head
// h / (Heads / KVHeads).
type DecodeShape struct {
	Heads int
	CacheShape
	Window int // only the last so many slots are seen; 0 for all
}

func (s DecodeShape) String() string {
	window := ""
	if s.Window > 0 {
		window = fmt.Sprintf(", a window of %d", s.Window)
	}
	return fmt.Sprintf("q [%d, %d × %d] against %v%s", s.Batch, s.Heads, s.Dim, s.CacheShape, window)
}

// First is the first slot that is seen of a sequence with a length.
func (s DecodeShape) First(length int) int {
	if s.Window == 0 {
		return 0
	}
	return max(length-s.Window, 0)
}

// Check tells what is wrong with a step's shape, or with the sizes of the buffers.
// It does not look at the lengths themselves.
func (s DecodeShape) Check(out, q device.Buffer[float32], c Cache, lengths PerSequence) error {
	if err := c.Check(); err != nil {
		return err
	}
	if s.CacheShape != c.CacheShape {
		return fmt.Errorf("decoding of %v: the cache given is %v", s, c.CacheShape)
	}
	if s.Heads < 1 {
		return fmt.Errorf("decoding of %v: every dimension must be at least 1", s)
	}
	if s.Window < 0 {
		return fmt.Errorf("decoding of %v: a window has at least one slot (%d is none)", s, s.Window)
	}
	if err := s.CheckPerSequence("lengths", lengths); err != nil {
		return err
	}
	return sizes("decoding of "+s.String(), s.Batch*s.Heads*s.Dim, out, q)
}

// Decoder is task 5: attention for one new token at a time.
type Decoder interface {
	// Update writes the keys and values of count new tokens of each sequence,
	// k and v [Batch, count, KVHeads × Dim], to the slots at[b] … at[b] + count − 1,
	// and leaves all other slots unchanged. A token that has no slot is an
	// error, and then nothing is written.
	Update(c Cache, k, v device.Buffer[float32], count int, at PerSequence) error
	// Decode writes softmax(q·kᵀ/√Dim)·v to out, where sequence b has the keys
	// and values of its first lengths[b] slots: at least one. A length of 0 or
	// beyond the cache, and heads that cannot share the key heads evenly, are
	// errors, and then nothing is written.
	Decode(out, q device.Buffer[float32], c Cache, s DecodeShape, lengths PerSequence) error
}

// SplitDecoder is task 5's optional part: the keys of one head are shared among
// several blocks, whose results are then combined.
type SplitDecoder interface {
	// DecodeSplit does what Decode does, in splits parts. splits is at least 1,
	// and having more parts than keys is not an error.
	DecodeSplit(out, q device.Buffer[float32], c Cache, s DecodeShape, lengths PerSequence, splits int) error
}

// sizes requires buffers of n elements.
func sizes(what string, n int, buffers ...device.Buffer[float32]) error {
	for _, b := range buffers {
		if err := holds(b, n); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}
