package halves

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/tensor"
)

// What kernels.cu has: queries and threads of a block, and keys of a tile.
const (
	rows    = 128
	threads = 128
	keys    = 64
)

// What hopper.cu has: threads of a warpgroup, queries of one that computes, keys of a tile, tiles of them under way,
// and boxes: their columns, and the rows of the output's.
const (
	warpgroup  = 128
	hopperRows = 64
	hopperKeys = 128
	stages     = 2
	columns    = 64
	outRows    = 16
)

// Halves holds the kernels, by the head's dimension: hopper.cu's on a GPU of Hopper's kind, else kernels.cu's.
type Halves struct {
	queue           device.Queue
	hopper          bool
	float16, bfloat kernels16
}

type kernels16 map[int]device.Kernel

// New compiles the kernels for one device. No other GPU has wgmma, older or newer.
func New(q device.Queue) (*Halves, error) { return newFor(q, q.Info().Arch == "sm_90") }

func newFor(q device.Queue, hopper bool) (*Halves, error) {
	t := &Halves{queue: q, hopper: hopper, float16: kernels16{}, bfloat: kernels16{}}
	src := Source
	if hopper {
		src = HopperSource
	}
	for _, dim := range []int{64, 128} {
		if err := t.float16.compile(q, src, dim, nil); err != nil {
			return nil, err
		}
		if err := t.bfloat.compile(q, src, dim, map[string]string{"BRAIN": "1"}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (k kernels16) compile(q device.Queue, src device.Source, dim int, more map[string]string) error {
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
	return run(t, t.float16, tensor.Float16, out, q, k, v, s)
}

// BFloat16 is the same for bfloat16.
func (t *Halves) BFloat16(out, q, k, v device.Buffer[device.BFloat16], s attn.Shape) error {
	return run(t, t.bfloat, tensor.BFloat16, out, q, k, v, s)
}

func run[T device.Half](t *Halves, kernels kernels16, of tensor.Type, out, q, k, v device.Buffer[T], s attn.Shape) error {
	if err := Check(out, q, k, v, s); err != nil {
		return err
	}
	// 2^x takes one instruction, e^x two: log2(e) goes into the scale.
	scale := float32(math.Log2E / math.Sqrt(float64(s.Dim)))
	if t.hopper {
		return onHopper(t.queue, kernels[s.Dim], of, out, q, k, v, s, scale)
	}
	l := device.Launch{Grid: device.D2((s.SeqQ+rows-1)/rows, s.Batch*s.Heads), Block: device.D1(threads), Shared: shared(s.Dim)}
	return t.queue.Launch(kernels[s.Dim], l, q, k, v, out, s.SeqQ, s.SeqK, s.Heads/s.KVHeads, s.Causal, scale)
}

// shared is the bytes of shared memory that kernels.cu lays out: tiles of q, k and v.
func shared(dim int) int { return 2 * dim * (rows + 2*keys) }

// onHopper launches hopper.cu's kernel: a block for each processor, where there are tiles enough. The copy engine moves
// boxes of a head's rows.
func onHopper[T device.Half](queue device.Queue, kernel device.Kernel, of tensor.Type, out, q, k, v device.Buffer[T], s attn.Shape, scale float32) error {
	var args []any
	for _, one := range []struct {
		tensor   device.Buffer[T]
		seq, box int
	}{{q, s.SeqQ, hopperRows}, {k, s.SeqK, hopperKeys}, {v, s.SeqK, hopperKeys}, {out, s.SeqQ, outRows}} {
		sizes := []int{s.Dim, one.seq, one.tensor.Len() / (s.Dim * one.seq)}
		m, err := device.NewTensorMap(one.tensor.Memory(), of, sizes, []int{columns, one.box, 1}, 2*columns)
		if err != nil {
			return err
		}
		args = append(args, m)
	}
	queries, heads := computing(s.Dim)*hopperRows, s.Batch*s.Heads
	blocks := min(queue.Info().Processors, (s.SeqQ+queries-1)/queries*heads)
	l := device.Launch{Grid: device.D1(blocks), Block: device.D1((computing(s.Dim) + 1) * warpgroup), Shared: sharedOnHopper(s.Dim)}
	return queue.Launch(kernel, l, append(args, s.SeqQ, s.SeqK, heads, s.Heads/s.KVHeads, s.Causal, scale)...)
}

// computing is how many warpgroups of a block compute; one more asks for tiles.
func computing(dim int) int { return 4 - dim/64 }

// sharedOnHopper is the bytes that hopper.cu lays out: tiles of q and out, and under way of k and v. 1024 are for barriers,
// and as many may be skipped, since tiles begin at multiples of that.
func sharedOnHopper(dim int) int {
	return 2*dim*(2*computing(dim)*hopperRows+2*stages*hopperKeys) + 2*1024
}
