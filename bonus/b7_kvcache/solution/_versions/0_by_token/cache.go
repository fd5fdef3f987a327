package kvcache

import (
	"maps"
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// What decode.cu has: query heads and warps of a block.
const (
	heads = 1
	warps = 4
)

// Cache holds the kernels.
type Cache struct {
	queue   device.Queue
	kernels map[format]kernels
}

// format is what a kernel is compiled for.
type format struct{ bits, dim int }

type kernels struct{ append, decode device.Kernel }

// New compiles the kernels for one device.
func New(q device.Queue) (*Cache, error) {
	c := &Cache{queue: q, kernels: map[format]kernels{}}
	defines := map[string]string{}
	var err error
	for _, f := range []format{{8, 64}, {8, 128}, {4, 64}, {4, 128}} {
		defines["BITS"], defines["DIM"] = strconv.Itoa(f.bits), strconv.Itoa(f.dim)
		var k kernels
		if k.append, err = compiled(q, AppendSource, "append", defines); err != nil {
			return nil, err
		}
		if k.decode, err = compiled(q, DecodeSource, "decode", defines); err != nil {
			return nil, err
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
	none := to.KScales // in place of what 8 bits do not have
	return c.queue.Launch(c.kernels[format{8, s.Dim}].append, onHeads(s), k, v, lengths.Device,
		to.K, to.V, to.KScales, to.VScales, none, none, s.MaxSeq)
}

// AppendInt4 adds a token, by a scale and a low of its own. No group is ever open.
func (c *Cache) AppendInt4(to Int4, k, v Halves, s attn.CacheShape, lengths attn.PerSequence) error {
	if err := CheckAppend(to, k, v, s, lengths); err != nil {
		return err
	}
	return c.queue.Launch(c.kernels[format{4, s.Dim}].append, onHeads(s), k, v, lengths.Device,
		to.K, to.V, to.KScales, to.VScales, to.KLows, to.VLows, s.MaxSeq)
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
	return c.decode(8, out, q, s, lengths, k, v, from.KScales, from.VScales, none, none)
}

// DecodeInt4 is one step of decoding.
func (c *Cache) DecodeInt4(out, q Halves, from Int4, s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := CheckDecode(out, q, from, s, lengths); err != nil {
		return err
	}
	return c.decode(4, out, q, s, lengths, from.K, from.V, from.KScales, from.VScales, from.KLows, from.VLows)
}

// decode launches a kernel whose grid depends on the shape alone, not on the lengths: these change while
// a recorded launch stays what it is.
func (c *Cache) decode(bits int, out, q Halves, s attn.DecodeShape, lengths attn.PerSequence, cache ...any) error {
	f := format{bits, s.Dim}
	share := s.Heads / s.KVHeads
	blocks := s.Batch * s.KVHeads * ((share + heads - 1) / heads)
	l := device.Launch{Grid: device.D1(blocks), Block: device.D1(32 * warps)}
	// 2^x takes one instruction, e^x two: log2(e) goes into the scale.
	scale := float32(math.Log2E / math.Sqrt(float64(s.Dim)))
	args := append([]any{q}, cache...)
	return c.queue.Launch(c.kernels[f].decode, l, append(args, lengths.Device, out, s.MaxSeq, s.Heads, s.KVHeads, scale)...)
}
