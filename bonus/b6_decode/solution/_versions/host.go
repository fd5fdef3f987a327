package decode

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// Decode holds the kernels, by the head's dimension, and scratch memory for what blocks find that
// share keys, and for how many are done. A rung's own file has its sizes.
type Decode struct {
	queue           device.Queue
	float16, bfloat kernels16
	between         device.Buffer[float32]
	done            device.Buffer[uint32] // zeros; each launch leaves them so
}

type kernels16 map[int]device.Kernel

// New compiles the kernels for one device. The scratch memory is for the most blocks that ever
// share keys, so that no call allocates.
func New(q device.Queue) (*Decode, error) {
	d := &Decode{queue: q, float16: kernels16{}, bfloat: kernels16{}}
	if many > 0 {
		var err error
		if d.between, err = device.Alloc[float32](q, "what blocks find", many*heads*(128+2)); err != nil {
			return nil, err
		}
		if d.done, err = device.Upload(q, "blocks that are done", make([]uint32, many)); err != nil {
			return nil, err
		}
	}
	for _, dim := range []int{64, 128} {
		if err := d.float16.compile(q, map[string]string{"DIM": strconv.Itoa(dim)}, dim); err != nil {
			return nil, err
		}
		if err := d.bfloat.compile(q, map[string]string{"DIM": strconv.Itoa(dim), "BRAIN": "1"}, dim); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (k kernels16) compile(q device.Queue, defines map[string]string, dim int) error {
	src := Source
	src.Defines = defines
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
	groupSize := s.Heads / s.KVHeads
	groups := s.Batch * s.KVHeads * ((groupSize + heads - 1) / heads)
	// As many blocks share the keys of a head as fill the GPU, but each should have some keys for every
	// group of threads.
	parts := max(1, min(many/groups, s.MaxSeq/256))
	l := device.Launch{Grid: device.D2(groups, parts), Block: device.D1(32 * warps), Shared: shared}
	args := []any{q, k, v, lengths.Device, out}
	if many > 0 {
		args = append(args, d.between, d.done)
	}
	// 2^x takes one instruction, e^x two: log2(e) goes into the scale.
	scale := float32(math.Log2E / math.Sqrt(float64(s.Dim)))
	return d.queue.Launch(kernels[s.Dim], l, append(args, s.MaxSeq, s.Heads, s.KVHeads, scale)...)
}
