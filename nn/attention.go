package nn

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/device"
)

// What attention.cu gets as macros (defines.go).
const (
	attentionBlock = 64 // threads, and keys of a chunk
	maxDim         = 256
)

// Attention is the plain one, correct and slow: what tasks 6 and 7 are checked
// with, so that a mistake in an earlier task does not count twice.
type Attention struct {
	queue                device.Queue
	heads, cache, update device.Kernel
}

var (
	_ attn.Kernel  = (*Attention)(nil)
	_ attn.Decoder = (*Attention)(nil)
)

// NewAttention compiles the kernels.
func NewAttention(q device.Queue) (*Attention, error) {
	k, err := compile(q, map[string][]string{"attention.cu": {"attend_heads", "attend_cache", "update"}})
	if err != nil {
		return nil, err
	}
	return &Attention{q, k["attend_heads"], k["attend_cache"], k["update"]}, nil
}

// Run writes softmax(q·kᵀ/√Dim)·v to out.
func (a *Attention) Run(out, q, k, v Floats, s attn.Shape) error {
	if err := s.Check(out, q, k, v); err != nil {
		return err
	}
	if s.Dim > maxDim {
		return fmt.Errorf("attention of %v: the head dimension is at most %d", s, maxDim)
	}
	return a.launch(a.heads, s.Batch*s.Heads*s.SeqQ,
		q, k, v, out, s.Heads, s.KVHeads, s.SeqQ, s.SeqK, s.Dim, s.Causal, factor(s.Dim))
}

// Update writes the keys and values of new tokens to their slots.
func (a *Attention) Update(c attn.Cache, k, v Floats, count int, at attn.PerSequence) error {
	what := func() string { return fmt.Sprintf("update of %v with %d tokens a sequence", c.CacheShape, count) }
	if err := c.Check(); err != nil {
		return err
	}
	n := c.Batch * count * c.Slot()
	if err := check(what, []int{count}, of("k", k, n), of("v", v, n)); err != nil {
		return err
	}
	if err := room(what, c, count, at); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1(tiles(n, block)), Block: device.D1(block)}
	return a.queue.Launch(a.update, l, c.K, c.V, k, v, at.Device, c.Batch, count, c.MaxSeq, c.Slot())
}

// Decode is attention for one query of each sequence.
func (a *Attention) Decode(out, q Floats, c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := s.Check(out, q, c, lengths); err != nil {
		return err
	}
	what := func() string { return fmt.Sprintf("decoding of %v", s) }
	if err := shareable(what, s.Heads, c); err != nil {
		return err
	}
	for b, n := range lengths.Host {
		if n < 1 || n > c.MaxSeq {
			return fmt.Errorf("%s: sequence %d has a length of %d, want 1 to %d", what(), b, n, c.MaxSeq)
		}
	}
	return a.launch(a.cache, s.Batch*s.Heads,
		q, c.K, c.V, out, lengths.Device, 0, 1, s.Heads, c.KVHeads, c.MaxSeq, c.Dim, factor(c.Dim))
}

// Attend is attention for count new tokens of each sequence, one or many: query i of
// sequence b sees the slots 0 … before[b] + i. q and out are [Batch, count, heads ×
// Dim]. The new tokens' own keys and values must be in the cache by then.
func (a *Attention) Attend(out, q Floats, c attn.Cache, heads, count int, before attn.PerSequence) error {
	what := func() string {
		return fmt.Sprintf("attention of q [%d, %d, %d × %d] to %v", c.Batch, count, heads, c.Dim, c.CacheShape)
	}
	if err := c.Check(); err != nil {
		return err
	}
	n := c.Batch * count * heads * c.Dim
	if err := check(what, []int{heads, count}, of("out", out, n), of("q", q, n)); err != nil {
		return err
	}
	if err := shareable(what, heads, c); err != nil {
		return err
	}
	if err := room(what, c, count, before); err != nil {
		return err
	}
	return a.launch(a.cache, c.Batch*count*heads,
		q, c.K, c.V, out, before.Device, 1, count, heads, c.KVHeads, c.MaxSeq, c.Dim, factor(c.Dim))
}

func (a *Attention) launch(k device.Kernel, queries int, args ...any) error {
	return a.queue.Launch(k, device.Launch{Grid: device.D1(queries), Block: device.D1(attentionBlock)}, args...)
}

// room wants slots for count tokens after those before.
func room(what func() string, c attn.Cache, count int, before attn.PerSequence) error {
	if err := c.CheckPerSequence("positions", before); err != nil {
		return err
	}
	for b, n := range before.Host {
		if n < 0 || n > c.MaxSeq-count {
			return fmt.Errorf("%s: sequence %d has %d tokens already: there is no slot for %d more among %d", what(), b, n, count, c.MaxSeq)
		}
	}
	return nil
}

// shareable wants query heads that the key heads can serve.
func shareable(what func() string, heads int, c attn.Cache) error {
	if heads%c.KVHeads != 0 {
		return fmt.Errorf("%s: %d query heads cannot share %d key heads evenly", what(), heads, c.KVHeads)
	}
	if c.Dim > maxDim {
		return fmt.Errorf("%s: the head dimension is at most %d", what(), maxDim)
	}
	return nil
}

// factor is what scores are multiplied by.
func factor(dim int) float64 { return 1 / math.Sqrt(float64(dim)) }
