package codes

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/tensor"
)

// What attention.cu has: queries and threads of a block, and keys of a tile.
const (
	rows    = 128
	threads = 128
	keys    = 64
)

// What hopper.cu has: threads of a warpgroup, queries of one that computes, keys of a tile, tiles of them under way, and
// boxes of v and out: their columns, of 128 bytes, and the rows of out's.
const (
	warpgroup  = 128
	groupRows  = 64
	hopperKeys = 128
	stages     = 2
	boxColumns = 64
	outRows    = 16
)

// What quantise.cu has: threads of a block that walks over a tensor, and at most so many of these; threads
// of a block that makes codes of 64 rows; and the columns that a block of means has.
const (
	walkers = 256
	walks   = 1024
	coders  = 128
	columns = 16
)

// Int8 holds the kernels, by the head's dimension, and scratch memory. By block, attention is hopper.cu's on a GPU of
// Hopper's kind, else attention.cu's.
type Int8 struct {
	queue   device.Queue
	hopper  bool
	kernels map[int]kernels
	extents device.Buffer[int32] // [3, 2]: how far q, k and v go above and below 0
	sums    device.Buffer[int32] // of each row's codes, of any one tensor
}

type kernels struct {
	extents, tensorCodes, means, blockCodes device.Kernel
	perTensor, byBlock                      device.Kernel
}

// New compiles the kernels for one device. No other GPU has wgmma, older or newer.
func New(q device.Queue) (*Int8, error) { return newFor(q, q.Info().Arch == "sm_90") }

func newFor(q device.Queue, hopper bool) (*Int8, error) {
	t := &Int8{queue: q, hopper: hopper, kernels: map[int]kernels{}}
	byBlock := Attention
	if hopper {
		byBlock = Hopper
	}
	for _, dim := range []int{64, 128} {
		var k kernels
		macros := map[string]string{"DIM": strconv.Itoa(dim)}
		if err := compile(q, Quantise, macros, named{"extents", &k.extents}, named{"tensorCodes", &k.tensorCodes},
			named{"means", &k.means}, named{"blockCodes", &k.blockCodes}); err != nil {
			return nil, err
		}
		if err := compile(q, byBlock, macros, named{"attention", &k.byBlock}); err != nil {
			return nil, err
		}
		macros["TENSOR"] = "1"
		if err := compile(q, Attention, macros, named{"attention", &k.perTensor}); err != nil {
			return nil, err
		}
		t.kernels[dim] = k
	}
	var err error
	t.extents, err = device.Alloc[int32](q, "extents of q, k and v", 6)
	return t, err
}

type named struct {
	name string
	to   *device.Kernel
}

func compile(q device.Queue, src device.Source, macros map[string]string, all ...named) error {
	src.Defines = macros
	module, err := q.Compile(src)
	if err != nil {
		return err
	}
	for _, k := range all {
		if *k.to, err = module.Kernel(k.name); err != nil {
			return err
		}
	}
	return nil
}

// PerTensor writes attention of q, k and v to out, and their codes.
func (t *Int8) PerTensor(out, q, k, v device.Buffer[device.Float16], to TensorCodes, s attn.Shape) error {
	if err := to.Check(out, q, k, v, s); err != nil {
		return err
	}
	if err := t.room(max(s.QElements(), s.KVElements()) / s.Dim); err != nil {
		return err
	}
	if err := t.queue.Set(t.extents.Memory(), 0); err != nil {
		return err
	}
	kernels := t.kernels[s.Dim]
	for i, x := range []struct {
		from device.Buffer[device.Float16]
		to   device.Buffer[int8]
	}{{q, to.Q}, {v, to.V}, {k, to.K}} { // k last: its sums stay
		tensor := []int{0, 2, 1}[i]
		extent, err := t.extents.Slice(2*tensor, 2*tensor+2)
		if err != nil {
			return err
		}
		affine, err := to.Affine.Slice(2*tensor, 2*tensor+2)
		if err != nil {
			return err
		}
		pieces := x.from.Len() / 8
		l := device.Launch{Grid: device.D1(min(over(pieces, walkers), walks)), Block: device.D1(walkers)}
		if err := t.queue.Launch(kernels.extents, l, x.from, pieces, extent); err != nil {
			return err
		}
		l.Grid = device.D1(over(pieces, walkers))
		if err := t.queue.Launch(kernels.tensorCodes, l, x.from, pieces, extent, x.to, affine, t.sums); err != nil {
			return err
		}
	}
	return t.queue.Launch(kernels.perTensor, launch(s), to.Q, to.K, to.V, out, to.Affine, t.sums,
		s.SeqQ, s.SeqK, s.Heads/s.KVHeads, s.Causal, scale(s))
}

// room makes sure of memory for the sums of so many rows.
func (t *Int8) room(rows int) error {
	if t.sums != (device.Buffer[int32]{}) {
		if t.sums.Len() >= rows {
			return nil
		}
		if err := t.sums.Free(t.queue); err != nil {
			return err
		}
	}
	var err error
	t.sums, err = device.Alloc[int32](t.queue, "sums of rows of codes", rows)
	return err
}

// ByBlock writes attention of q, k and v to out, and the codes of q and k.
func (t *Int8) ByBlock(out, q, k, v device.Buffer[device.Float16], to BlockCodes, s attn.Shape) error {
	if err := to.Check(out, q, k, v, s); err != nil {
		return err
	}
	kernels := t.kernels[s.Dim]
	l := device.Launch{Grid: device.D2(s.Dim/columns, s.Batch*s.KVHeads), Block: device.D1(walkers)}
	if err := t.queue.Launch(kernels.means, l, k, s.SeqK, to.Mean); err != nil {
		return err
	}
	l = device.Launch{Grid: device.D2(Blocks(s.SeqQ), s.Batch*s.Heads), Block: device.D1(coders)}
	if err := t.queue.Launch(kernels.blockCodes, l, q, s.SeqQ, to.Mean, false, to.Q, to.QScale); err != nil {
		return err
	}
	l.Grid = device.D2(Blocks(s.SeqK), s.Batch*s.KVHeads)
	if err := t.queue.Launch(kernels.blockCodes, l, k, s.SeqK, to.Mean, true, to.K, to.KScale); err != nil {
		return err
	}
	if t.hopper {
		return t.onHopper(kernels.byBlock, out, v, to, s)
	}
	return t.queue.Launch(kernels.byBlock, launch(s), to.Q, to.K, v, out, to.QScale, to.KScale,
		s.SeqQ, s.SeqK, s.Heads/s.KVHeads, s.Causal, scale(s))
}

// onHopper launches hopper.cu's kernel: a block for each processor, where there are tiles enough. The copy engine moves
// boxes of a head's rows: whole ones of codes, and 64 columns of halves.
func (t *Int8) onHopper(kernel device.Kernel, out, v device.Buffer[device.Float16], to BlockCodes, s attn.Shape) error {
	var args []any
	for _, one := range []struct {
		tensor                   device.Memory
		of                       tensor.Type
		seq, heads, columns, box int
	}{
		{to.Q.Memory(), tensor.Int8, s.SeqQ, s.Batch * s.Heads, s.Dim, groupRows},
		{to.K.Memory(), tensor.Int8, s.SeqK, s.Batch * s.KVHeads, s.Dim, hopperKeys},
		{v.Memory(), tensor.Float16, s.SeqK, s.Batch * s.KVHeads, boxColumns, hopperKeys},
		{out.Memory(), tensor.Float16, s.SeqQ, s.Batch * s.Heads, boxColumns, outRows},
	} {
		bytes := s.Dim // of a box's row
		if one.of == tensor.Float16 {
			bytes = 2 * boxColumns
		}
		m, err := device.NewTensorMap(one.tensor, one.of, []int{s.Dim, one.seq, one.heads}, []int{one.columns, one.box, 1}, bytes)
		if err != nil {
			return err
		}
		args = append(args, m)
	}
	computing, heads := 4-s.Dim/64, s.Batch*s.Heads // warpgroups of a block that compute; one more asks for tiles
	// A number of a row of q and out is a code and a half; so is one of k and v, under way. 1024 bytes are for barriers, and as
	// many may be skipped, since tiles begin at multiples of that.
	shared := 3*s.Dim*(computing*groupRows+stages*hopperKeys) + 2*1024
	blocks := min(t.queue.Info().Processors, over(s.SeqQ, computing*groupRows)*heads)
	l := device.Launch{Grid: device.D1(blocks), Block: device.D1((computing + 1) * warpgroup), Shared: shared}
	return t.queue.Launch(kernel, l, append(args, to.QScale, to.KScale, s.SeqQ, s.SeqK, heads, s.Heads/s.KVHeads, s.Causal, scale(s))...)
}

// launch has a block for each 128 queries, with tiles of q, of k and, in halves, of v.
func launch(s attn.Shape) device.Launch {
	return device.Launch{Grid: device.D2(over(s.SeqQ, rows), s.Batch*s.Heads), Block: device.D1(threads), Shared: s.Dim * (rows + keys + 2*keys)}
}

// scale is that of the scores. 2^x takes one instruction, e^x two: log2(e) goes into it.
func scale(s attn.Shape) float32 { return float32(math.Log2E / math.Sqrt(float64(s.Dim))) }

func over(n, each int) int { return (n + each - 1) / each }
