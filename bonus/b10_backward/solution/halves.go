package backward

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// What halves.cu has: rows whose sums a block owns, and its threads.
const (
	ownHalves     = 64
	halvesThreads = 128
)

// Halves holds the kernels of both types, by the head's dimension.
type Halves struct {
	queue           device.Queue
	float16, bfloat map[int]passes
}

// passes are the two kernels of a file.
type passes struct{ keys, queries device.Kernel }

// NewHalves compiles the kernels for one device.
func NewHalves(q device.Queue) (*Halves, error) {
	t := &Halves{queue: q, float16: map[int]passes{}, bfloat: map[int]passes{}}
	for _, dim := range []int{64, 128} {
		src := HalvesSource
		src.Defines = map[string]string{"DIM": strconv.Itoa(dim)}
		var err error
		if t.float16[dim], err = compile(q, src); err != nil {
			return nil, err
		}
		src.Defines = map[string]string{"DIM": strconv.Itoa(dim), "BRAIN": "1"}
		if t.bfloat[dim], err = compile(q, src); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func compile(q device.Queue, src device.Source) (k passes, err error) {
	m, err := q.Compile(src)
	if err != nil {
		return k, err
	}
	if k.keys, err = m.Kernel("keys"); err != nil {
		return k, err
	}
	k.queries, err = m.Kernel("queries")
	return k, err
}

// Float16 writes the gradients of a loss by q, k and v.
func (t *Halves) Float16(to Gradients[device.Float16], from Forward[device.Float16], dOut device.Buffer[device.Float16], s attn.Shape) error {
	return inHalves(t.queue, t.float16, to, from, dOut, s)
}

// BFloat16 is the same for bfloat16.
func (t *Halves) BFloat16(to Gradients[device.BFloat16], from Forward[device.BFloat16], dOut device.Buffer[device.BFloat16], s attn.Shape) error {
	return inHalves(t.queue, t.bfloat, to, from, dOut, s)
}

func inHalves[T device.Half](q device.Queue, by map[int]passes, to Gradients[T], from Forward[T], dOut device.Buffer[T], s attn.Shape) error {
	if err := Check(to, from, dOut, s); err != nil {
		return err
	}
	// 2^x takes one instruction, e^x two: log2(e) goes into the scale.
	k, scale, group := by[s.Dim], math.Log2E/math.Sqrt(float64(s.Dim)), s.Heads/s.KVHeads
	all := func(rows, heads int) device.Launch {
		return device.Launch{Grid: device.D2((rows+ownHalves-1)/ownHalves, heads), Block: device.D1(halvesThreads), Shared: halvesShared(s.Dim)}
	}
	err := q.Launch(k.keys, all(s.SeqK, s.Batch*s.KVHeads), from.Q, from.K, from.V, from.Out, from.LSE, dOut,
		to.DK, to.DV, s.SeqQ, s.SeqK, group, s.Causal, scale)
	if err != nil {
		return err
	}
	return q.Launch(k.queries, all(s.SeqQ, s.Batch*s.Heads), from.Q, from.K, from.V, from.Out, from.LSE, dOut,
		to.DQ, s.SeqQ, s.SeqK, group, s.Causal, scale)
}

// halvesShared is the bytes that halves.cu lays out: two stages of three tiles, lse of both, and D.
func halvesShared(dim int) int { return 2*3*2*ownHalves*dim + 3*4*ownHalves }
