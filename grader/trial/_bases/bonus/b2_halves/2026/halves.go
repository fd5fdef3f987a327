package halves

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// What kernels.cu has: queries and threads of a block, and keys of a tile.
const (
	rows    = 128
	threads = 128
	keys    = 64
)

// Halves holds the kernels, by the head's dimension.
type Halves struct {
	queue           device.Queue
	float16, bfloat kernels16
}

type kernels16 map[int]device.Kernel

// New compiles the kernels for one device.
func New(q device.Queue) (*Halves, error) {
	t := &Halves{queue: q, float16: kernels16{}, bfloat: kernels16{}}
	for _, dim := range []int{64, 128} {
		if err := t.float16.compile(q, dim, nil); err != nil {
			return nil, err
		}
		if err := t.bfloat.compile(q, dim, map[string]string{"BRAIN": "1"}); err != nil {
			return nil, err
		}
	}
	return t, nil
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
	k[dim], err = module.Kernel("attention")
	return err
}

// Float16 writes softmax(q·kᵀ/√Dim)·v to out.
func (t *Halves) Float16(out, q, k, v device.Buffer[device.Float16], s attn.Shape) error {
	return run(t.queue, t.float16, out, q, k, v, s)
}

// BFloat16 is the same for bfloat16.
func (t *Halves) BFloat16(out, q, k, v device.Buffer[device.BFloat16], s attn.Shape) error {
	return run(t.queue, t.bfloat, out, q, k, v, s)
}

func run[T device.Half](queue device.Queue, kernels kernels16, out, q, k, v device.Buffer[T], s attn.Shape) error {
	if err := Check(out, q, k, v, s); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D2((s.SeqQ+rows-1)/rows, s.Batch*s.Heads), Block: device.D1(threads), Shared: shared(s.Dim)}
	// 2^x takes one instruction, e^x two: log2(e) goes into the scale.
	scale := float32(math.Log2E / math.Sqrt(float64(s.Dim)))
	return queue.Launch(kernels[s.Dim], l, q, k, v, out, s.SeqQ, s.SeqK, s.Heads/s.KVHeads, s.Causal, scale)
}

// shared is the bytes of shared memory that kernels.cu lays out: tiles of q, k and v.
func shared(dim int) int { return 2 * dim * (rows + 2*keys) }
