package kvcache

import (
	"maps"
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// What decode.cu has: query heads of a block, and tiles of a warp's ring.
const (
	heads  = 8
	stages = 2
)

// many blocks keep a large GPU's memory busy: one for each of its processors.
const many = 132

// Cache holds the kernels, and scratch memory for what blocks find that share keys, and for how many
// are done. No other Cache has the same: two queues may run these kernels at once, each with a Cache of
// its own.
type Cache struct {
	queue   device.Queue
	warps   int // of a block of decode.cu
	kernels map[format]kernels
	between device.Buffer[float32]
	done    device.Buffer[uint32] // zeros; each launch leaves them so
}

// format is what a kernel is compiled for.
type format struct{ bits, dim int }

// kernels are those of a format. crowded is decode where there are more blocks than processors: it leaves room
// for two blocks on each.
type kernels struct{ append, decode, crowded device.Kernel }

// New compiles the kernels for one device. The scratch memory is for the most blocks that ever
// share keys, so that no call allocates.
func New(q device.Queue) (*Cache, error) {
	c := &Cache{queue: q, warps: 8, kernels: map[format]kernels{}}
	defines := map[string]string{}
	if q.Info().MaxShared < c.shared(format{8, 128}) {
		c.warps, defines["SMALL"] = 4, "1"
	}
	var err error
	if c.between, err = device.Alloc[float32](q, "what blocks find", many*heads*(128+8)); err != nil {
		return nil, err
	}
	if c.done, err = device.Upload(q, "blocks that are done", make([]uint32, many)); err != nil {
		return nil, err
	}
	for _, f := range []format{{8, 64}, {8, 128}, {4, 64}, {4, 128}} {
		defines["BITS"], defines["DIM"] = strconv.Itoa(f.bits), strconv.Itoa(f.dim)
		var k kernels
		if k.append, err = compiled(q, AppendSource, "append"+defines["BITS"], defines); err != nil {
			return nil, err
		}
		defines["RESIDENT"] = "1"
		if k.decode, err = compiled(q, DecodeSource, "decode", defines); err != nil {
			return nil, err
		}
		k.crowded = k.decode
		if f.bits == 4 { // two rings of 8 bits are too large for a processor
			defines["RESIDENT"] = "2"
			if k.crowded, err = compiled(q, DecodeSource, "decode", defines); err != nil {
				return nil, err
			}
		}
		c.kernels[f] = k
	}
	return c, nil
}

func compiled(q device.Queue, src device.Source, name string, defines map[string]string) (device.Kernel, error) {
	src.Defines = maps.Clone(defines)
	module, err := q.Compile(src)
	if err != nil {
		return nil, err
	}
	return module.Kernel(name)
}

// AppendInt8 adds a token.
func (c *Cache) AppendInt8(to Int8, k, v Halves, s attn.CacheShape, lengths attn.PerSequence) error {
	if err := CheckAppend(to, k, v, s, lengths); err != nil {
		return err
	}
	return c.queue.Launch(c.kernels[format{8, s.Dim}].append, onHeads(s), k, v, lengths.Device,
		to.K, to.V, to.KScales, to.VScales, s.MaxSeq)
}

// AppendInt4 adds a token, and closes the groups that it fills.
func (c *Cache) AppendInt4(to Int4, k, v Halves, s attn.CacheShape, lengths attn.PerSequence) error {
	if err := CheckAppend(to, k, v, s, lengths); err != nil {
		return err
	}
	return c.queue.Launch(c.kernels[format{4, s.Dim}].append, onHeads(s), k, v, lengths.Device,
		to.K, to.V, to.KScales, to.VScales, to.KLows, to.VLows, to.KOpen, to.VOpen, s.MaxSeq)
}

// onHeads has a block for each key head of each sequence, and a thread for each channel.
func onHeads(s attn.CacheShape) device.Launch {
	return device.Launch{Grid: device.D2(s.KVHeads, s.Batch), Block: device.D1(s.Dim)}
}

// DecodeInt8 is one step of decoding.
func (c *Cache) DecodeInt8(out, q Halves, from Int8, s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := CheckDecode(out, q, from, s, lengths); err != nil {
		return err
	}
	k, err := device.BufferOf[uint8](from.K.Memory())
	if err != nil {
		return err
	}
	v, err := device.BufferOf[uint8](from.V.Memory())
	if err != nil {
		return err
	}
	none := from.KScales // in place of what 8 bits do not have
	return c.decode(8, out, q, s, lengths, k, v, from.KScales, from.VScales, none, none, none, none)
}

// DecodeInt4 is one step of decoding.
func (c *Cache) DecodeInt4(out, q Halves, from Int4, s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := CheckDecode(out, q, from, s, lengths); err != nil {
		return err
	}
	return c.decode(4, out, q, s, lengths, from.K, from.V, from.KScales, from.VScales, from.KLows, from.VLows, from.KOpen, from.VOpen)
}

// decode launches a kernel whose grid depends on the shape alone, not on the lengths: these change while
// a recorded launch stays what it is.
func (c *Cache) decode(bits int, out, q Halves, s attn.DecodeShape, lengths attn.PerSequence, cache ...any) error {
	f := format{bits, s.Dim}
	groupSize := s.Heads / s.KVHeads
	blocks := s.Batch * s.KVHeads * ((groupSize + heads - 1) / heads)
	l := device.Launch{Grid: device.D2(blocks, parts(blocks, s.MaxSeq)), Block: device.D1(32 * c.warps), Shared: c.shared(f)}
	l.Early = true // it waits for its inputs by itself
	// 2^x takes one instruction, e^x two: log2(e) goes into the scale.
	scale := float32(math.Log2E / math.Sqrt(float64(s.Dim)))
	kernel := c.kernels[f].decode
	if blocks > many {
		kernel = c.kernels[f].crowded
	}
	args := append([]any{q}, cache...)
	return c.queue.Launch(kernel, l, append(args, lengths.Device, out, c.between, c.done, s.MaxSeq, s.Heads, s.KVHeads, scale)...)
}

// parts is how many blocks share the keys of a head: as many as fill the GPU, but each should have
// a tile for every warp.
func parts(blocks, slots int) int { return max(1, min(many/blocks, slots/256)) }

// shared is the bytes of shared memory that decode.cu lays out: a ring of tiles for each warp.
func (c *Cache) shared(f format) int {
	tile := 2*Group*f.dim*f.bits/8 + 4*Group
	if f.bits == 4 {
		tile += 4 * f.dim
	}
	return c.warps * stages * tile
}
