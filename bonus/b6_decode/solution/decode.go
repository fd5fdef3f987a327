package decode

import (
	"maps"
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// What kernels.cu has: query heads of a block, keys of a warp's tile, and tiles of its ring.
const (
	heads  = 8
	keys   = 16
	stages = 2
)

// many blocks keep a large GPU's memory busy: one for each of its processors.
const many = 132

// Decode holds the kernels, by the head's dimension, and scratch memory for what blocks find that
// share keys, and for how many are done. No other Decode has the same: two queues may run these
// kernels at once, each with a Decode of its own.
type Decode struct {
	queue           device.Queue
	warps           int // of a block
	float16, bfloat kernels16
	between         device.Buffer[float32]
	done            device.Buffer[uint32] // zeros; each launch leaves them so
}

type kernels16 map[int]device.Kernel

// New compiles the kernels for one device. The scratch memory is for the most blocks that ever
// share keys, so that no call allocates.
func New(q device.Queue) (*Decode, error) { return prepared(q, map[string]string{}) }

func prepared(q device.Queue, defines map[string]string) (*Decode, error) {
	d := &Decode{queue: q, warps: 8, float16: kernels16{}, bfloat: kernels16{}}
	if q.Info().MaxShared < d.shared(128) {
		d.warps, defines["SMALL"] = 4, "1"
	}
	var err error
	if d.between, err = device.Alloc[float32](q, "what blocks find", many*heads*(128+8)); err != nil {
		return nil, err
	}
	if d.done, err = device.Upload(q, "blocks that are done", make([]uint32, many)); err != nil {
		return nil, err
	}
	for _, dim := range []int{64, 128} {
		defines["DIM"] = strconv.Itoa(dim)
		if d.float16[dim], err = compiled(q, defines); err != nil {
			return nil, err
		}
		brain := maps.Clone(defines)
		brain["BRAIN"] = "1"
		if d.bfloat[dim], err = compiled(q, brain); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func compiled(q device.Queue, defines map[string]string) (device.Kernel, error) {
	src := Source
	src.Defines = maps.Clone(defines)
	module, err := q.Compile(src)
	if err != nil {
		return nil, err
	}
	return module.Kernel("decode")
}

// Float16 is one step of decoding.
func (d *Decode) Float16(out, q, k, v device.Buffer[device.Float16], s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := Check(out, q, k, v, s, lengths); err != nil {
		return err
	}
	return run(d, d.float16, out, q, k, v, s, lengths)
}

// BFloat16 is the same for bfloat16.
func (d *Decode) BFloat16(out, q, k, v device.Buffer[device.BFloat16], s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := Check(out, q, k, v, s, lengths); err != nil {
		return err
	}
	return run(d, d.bfloat, out, q, k, v, s, lengths)
}

// Paged is Decode for a cache in pages.
type Paged struct{ decode *Decode }

// NewPaged compiles the kernels for one device.
func NewPaged(q device.Queue) (*Paged, error) {
	d, err := prepared(q, map[string]string{"PAGED": "1"})
	return &Paged{d}, err
}

// Float16 is one step of decoding.
func (p *Paged) Float16(out, q, k, v device.Buffer[device.Float16], table device.Buffer[int32], s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := CheckPaged(out, q, k, v, table, s, lengths); err != nil {
		return err
	}
	return run(p.decode, p.decode.float16, out, q, k, v, s, lengths, table)
}

// BFloat16 is the same for bfloat16.
func (p *Paged) BFloat16(out, q, k, v device.Buffer[device.BFloat16], table device.Buffer[int32], s attn.DecodeShape, lengths attn.PerSequence) error {
	if err := CheckPaged(out, q, k, v, table, s, lengths); err != nil {
		return err
	}
	return run(p.decode, p.decode.bfloat, out, q, k, v, s, lengths, table)
}

// run launches a kernel whose grid depends on the shape alone, not on the lengths: these change while
// a recorded launch stays what it is.
func run[T device.Half](d *Decode, kernels kernels16, out, q, k, v device.Buffer[T], s attn.DecodeShape, lengths attn.PerSequence, table ...any) error {
	groupSize := s.Heads / s.KVHeads
	groups := s.Batch * s.KVHeads * ((groupSize + heads - 1) / heads)
	l := device.Launch{Grid: device.D2(groups, parts(groups, s.MaxSeq)), Block: device.D1(32 * d.warps), Shared: d.shared(s.Dim)}
	l.Early = true // it waits for its inputs by itself
	// 2^x takes one instruction, e^x two: log2(e) goes into the scale.
	scale := float32(math.Log2E / math.Sqrt(float64(s.Dim)))
	args := append([]any{q, k, v, lengths.Device}, table...)
	return d.queue.Launch(kernels[s.Dim], l, append(args, out, d.between, d.done, s.MaxSeq, s.Heads, s.KVHeads, scale)...)
}

// parts is how many blocks share the keys of a head: as many as fill the GPU, but each should have
// some tiles for every warp.
func parts(groups, slots int) int { return max(1, min(many/groups, slots/256)) }

// shared is the bytes of shared memory that kernels.cu lays out: a ring of tiles for each warp.
func (d *Decode) shared(dim int) int { return d.warps * stages * 2 * keys * dim * 2 }
