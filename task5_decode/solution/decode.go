package decode

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/device"
)

// As kernels.cu has them: the threads of a block, and the keys that a group of them
// loads at a time.
const (
	threads = 256
	keys    = 4
)

// many blocks keep a large GPU's memory busy: two for each of its processors.
const many = 256

// shared is how many groups of blocks may share keys in one launch.
const shared = 4096

// Decode holds the compiled kernels, and scratch memory for what the blocks of
// DecodeSplit find and for how many are done. No other Decode has the same: two queues
// may run these kernels at once, each with a Decode of its own.
type Decode struct {
	queue   device.Queue
	update  device.Kernel
	kernels []sized
	between device.Buffer[float32]
	done    device.Buffer[uint32] // zeros; each launch leaves them so
}

// sized is a decoding kernel for a head dimension up to dim, whose blocks take
// up to heads query heads that share a key head.
type sized struct {
	dim, heads int
	kernel     device.Kernel
}

var (
	_ attn.Decoder      = (*Decode)(nil)
	_ attn.SplitDecoder = (*Decode)(nil)
)

// New compiles the kernels for one device.
func New(q device.Queue) (*Decode, error) {
	module, err := q.Compile(Source)
	if err != nil {
		return nil, err
	}
	d := &Decode{queue: q}
	// Decode may be called first while a graph is recorded, where nothing can be allocated.
	if err := d.room(many * 4 * (128 + 2)); err != nil {
		return nil, err
	}
	if d.done, err = device.Upload(q, "blocks that are done", make([]uint32, shared)); err != nil {
		return nil, err
	}
	if d.update, err = module.Kernel("update"); err != nil {
		return nil, err
	}
	for _, lanes := range []int{16, 32} { // each has four numbers of a row
		for _, heads := range []int{1, 4} {
			kernel, err := module.Kernel(fmt.Sprintf("decode_%d_%d", lanes, heads))
			if err != nil {
				return nil, err
			}
			d.kernels = append(d.kernels, sized{4 * lanes, heads, kernel})
		}
	}
	return d, nil
}

// Update writes the keys and values of count new tokens to their slots.
func (d *Decode) Update(c attn.Cache, k, v device.Buffer[float32], count int, at attn.PerSequence) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := c.CheckPerSequence("positions", at); err != nil {
		return err
	}
	if count < 1 {
		return fmt.Errorf("update of %v: %d tokens: want at least 1", c.CacheShape, count)
	}
	for _, b := range []device.Buffer[float32]{k, v} {
		if want := c.Batch * count * c.Slot(); b.Len() != want {
			return fmt.Errorf("update of %v: the buffer %q holds %d elements, want %d", c.CacheShape, b.Name(), b.Len(), want)
		}
	}
	for b, position := range at.Host {
		if position < 0 || position > c.MaxSeq-count {
			return fmt.Errorf("update of %v: sequence %d: there are no slots for %d tokens from position %d on", c.CacheShape, b, count, position)
		}
	}
	wide := aligned(c.Slot(), k, v, c.K, c.V)
	moves := count * c.Slot() // a thread moves one number, or four
	if wide {
		moves /= 4
	}
	l := device.Launch{Grid: device.D2((moves+threads-1)/threads, c.Batch), Block: device.D1(threads)}
	l.Early = true // it waits for its inputs by itself
	return d.queue.Launch(d.update, l, k, v, at.Device, c.K, c.V, count, c.MaxSeq, c.Slot(), wide)
}

// Decode writes softmax(q·kᵀ/√Dim)·v to out. Where the sequences are too few to keep
// the GPU's memory busy, several blocks share the keys of each.
func (d *Decode) Decode(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := check(out, q, c, s, lengths); err != nil {
		return err
	}
	k, groups := d.pick(s)
	tile := threads / (k.dim / 4) * keys
	parts := min(many/groups, s.MaxSeq/(2*tile)) // a part should have two tiles at least
	return d.launch(out, q, c, s, lengths, max(parts, 1))
}

// DecodeSplit does the same with the keys shared out among splits blocks. The last
// of them combines their results.
func (d *Decode) DecodeSplit(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence, splits int) error {
	if err := check(out, q, c, s, lengths); err != nil {
		return err
	}
	if splits < 1 {
		return fmt.Errorf("decoding of %v in %d parts: want at least 1", s, splits)
	}
	return d.launch(out, q, c, s, lengths, splits)
}

// check refuses what the kernels cannot do, before anything is launched.
func check(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := s.Check(out, q, c, lengths); err != nil {
		return err
	}
	switch {
	case s.Heads%s.KVHeads != 0:
		return fmt.Errorf("decoding of %v: %d query heads cannot share %d key heads evenly", s, s.Heads, s.KVHeads)
	case s.Dim > 128:
		return fmt.Errorf("decoding of %v: the head dimension is at most 128", s)
	}
	for b, length := range lengths.Host {
		if length < 1 || length > s.MaxSeq {
			return fmt.Errorf("decoding of %v: sequence %d has a length of %d: want 1 to %d", s, b, length, s.MaxSeq)
		}
	}
	return nil
}

// launch starts the kernel that fits. Its grid depends on the shape alone, not on
// the lengths, for these change while a recorded launch stays what it is.
func (d *Decode) launch(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence, parts int) error {
	k, groups := d.pick(s)
	if groups > shared {
		parts = 1 // so many fill a GPU by themselves
	}
	between := out // not used where each block has all keys
	if parts > 1 {
		if err := d.room(s.Batch * s.Heads * parts * (s.Dim + 2)); err != nil {
			return err
		}
		between = d.between
	}
	l := device.Launch{Grid: device.D2(groups, parts), Block: device.D1(threads)}
	l.Early = true // it waits for its inputs by itself
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return d.queue.Launch(k.kernel, l, q, c.K, c.V, lengths.Device, out, between, d.done, s.MaxSeq, s.Heads, s.KVHeads, s.Dim, aligned(s.Dim, q, c.K, c.V), factor)
}

// pick finds the kernel for a head dimension and the number of query heads that share
// a key head, and how many blocks it takes if none share keys.
func (d *Decode) pick(s attn.DecodeShape) (k sized, groups int) {
	groupSize := s.Heads / s.KVHeads
	for _, k = range d.kernels {
		if s.Dim <= k.dim && groupSize <= k.heads {
			break // otherwise the last: some heads to each of several blocks
		}
	}
	return k, s.Batch * s.KVHeads * ((groupSize + k.heads - 1) / k.heads)
}

// aligned tells whether all rows, of length numbers, start at multiples of 16
// bytes.
func aligned(length int, buffers ...device.Buffer[float32]) bool {
	wide := length%4 == 0
	for _, b := range buffers {
		wide = wide && b.Memory().Addr%16 == 0
	}
	return wide
}

// room makes the scratch memory large enough. What was smaller is not freed: a
// recorded graph may hold its address.
func (d *Decode) room(n int) error {
	if d.between.Len() >= n {
		return nil
	}
	between, err := device.Alloc[float32](d.queue, "parts of DecodeSplit", n)
	if err != nil {
		return err
	}
	d.between = between
	return nil
}
