package decode

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// What kernels.cu has: query heads and warps of a block.
const (
	heads = 4
	warps = 8
)

// many blocks keep a large GPU's memory busy: one for each of its processors.
const many = 132

// Decode holds the kernels, by the head's dimension, and scratch memory for what blocks find that
// share keys.
type Decode struct {
	queue           device.Queue
	float16, bfloat kernels16
	between         device.Buffer[float32]
}

type kernels16 map[int]device.Kernel

// New compiles the kernels for one device. The scratch memory is for the most blocks that ever
// share keys, so that no call allocates.
func New(q device.Queue) (*Decode, error) {
	d := &Decode{queue: q, float16: kernels16{}, bfloat: kernels16{}}
	var err error
	if d.between, err = device.Alloc[float32](q, "what blocks find", many*heads*(128+2)); err != nil {
		return nil, err
	}
	for _, dim := range []int{64, 128} {
		if err := d.float16.compile(q, dim, nil); err != nil {
			return nil, err
		}
		if err := d.bfloat.compile(q, dim, map[string]string{"BRAIN": "1"}); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (k kernels16) compile(q device.Queue, dim int, more map[string]string) error {
	src := Source
	src.Defines = map[string]string{"DIM": strconv.Itoa(dim)}
	for name, value := range more {
		src.Defines[name] = value
	}
	module, err := q.Compile(src)
	if err != nil {
		return err
	}
	k[dim], err = module.Kernel("decode")
	return err
}

// Float16 is one step of decoding.
func (d *Decode) Float16(out, q, k, v device.Buffer[device.Float16], s attn.DecodeShape, lengths attn.PerSequence) error {
	return run(d, d.float16, out, q, k, v, s, lengths)
}

// BFloat16 is the same for bfloat16.
func (d *Decode) BFloat16(out, q, k, v device.Buffer[device.BFloat16], s attn.DecodeShape, lengths attn.PerSequence) error {
	return run(d, d.bfloat, out, q, k, v, s, lengths)
}

// run launches a kernel whose grid depends on the shape alone, not on the lengths: these change while
// a recorded launch stays what it is.
func run[T device.Half](d *Decode, kernels kernels16, out, q, k, v device.Buffer[T], s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := Check(out, q, k, v, s, lengths); err != nil {
		return err
	}
	share := s.Heads / s.KVHeads
	groups := s.Batch * s.KVHeads * ((share + heads - 1) / heads)
	l := device.Launch{Grid: device.D2(groups, parts(groups, s.MaxSeq)), Block: device.D1(32 * warps)}
	// 2^x takes one instruction, e^x two: log2(e) goes into the scale.
	scale := float32(math.Log2E / math.Sqrt(float64(s.Dim)))
	return d.queue.Launch(kernels[s.Dim], l, q, k, v, lengths.Device, out, d.between, s.MaxSeq, s.Heads, s.KVHeads, scale)
}

// parts is how many blocks share the keys of a head: as many as fill the GPU, but each should have
// some keys for every group of threads.
func parts(groups, slots int) int { return max(1, min(many/groups, slots/256)) }
