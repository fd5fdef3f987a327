package decode

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/device"
)

// threads of a block, as kernels.cu has them.
const threads = 256

// Decode holds the compiled kernels, and scratch memory for the parts of
// DecodeSplit.
type Decode struct {
	queue           device.Queue
	update, combine device.Kernel
	kernels         []sized
	parts           device.Buffer[float32]
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
	if d.update, err = module.Kernel("update"); err != nil {
		return nil, err
	}
	if d.combine, err = module.Kernel("combine"); err != nil {
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
	return d.queue.Launch(d.update, l, k, v, at.Device, c.K, c.V, count, c.MaxSeq, c.Slot(), wide)
}

// Decode writes softmax(q·kᵀ/√Dim)·v to out, over the slots of the window.
func (d *Decode) Decode(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := check(out, q, c, s, lengths); err != nil {
		return err
	}
	return d.launch(out, q, c, s, lengths, 1)
}

// DecodeSplit does the same with the keys shared out among splits blocks, whose
// results are combined by a second launch.
func (d *Decode) DecodeSplit(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence, splits int) error {
	if err := check(out, q, c, s, lengths); err != nil {
		return err
	}
	if splits < 1 {
		return fmt.Errorf("decoding of %v in %d parts: want at least 1", s, splits)
	}
	if splits == 1 {
		return d.launch(out, q, c, s, lengths, 1)
	}
	rows := s.Batch * s.Heads
	if err := d.room(rows * splits * (s.Dim + 2)); err != nil {
		return err
	}
	if err := d.launch(d.parts, q, c, s, lengths, splits); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1(rows), Block: device.D1(64)}
	return d.queue.Launch(d.combine, l, d.parts, out, splits, s.Dim)
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
func (d *Decode) launch(to, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence, parts int) error {
	groupSize := s.Heads / s.KVHeads
	k := d.pick(s.Dim, groupSize)
	chunks := (groupSize + k.heads - 1) / k.heads
	l := device.Launch{Grid: device.D2(s.Batch*s.KVHeads*chunks, parts), Block: device.D1(threads)}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	window := s.Window
	if window == 0 {
		window = s.MaxSeq // no sequence has more
	}
	return d.queue.Launch(k.kernel, l, q, c.K, c.V, lengths.Device, to, s.MaxSeq, s.Heads, s.KVHeads, s.Dim, window, aligned(s.Dim, q, c.K, c.V), factor)
}

// pick finds the kernel for a head dimension and the number of query heads that
// share a key head.
func (d *Decode) pick(dim, groupSize int) sized {
	for _, k := range d.kernels {
		if dim <= k.dim && groupSize <= k.heads {
			return k
		}
	}
	return d.kernels[len(d.kernels)-1] // some heads to each of several blocks
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
	if d.parts.Len() >= n {
		return nil
	}
	parts, err := device.Alloc[float32](d.queue, "parts of DecodeSplit", n)
	if err != nil {
		return err
	}
	d.parts = parts
	return nil
}
