package qkv

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/tensor"
)

// threads of a block of split, each for eight columns of so many rows.
const threads, each = 128, 8

// tile is one of kernels.cu's kernels: rows and columns of a block's tile, and its warps.
type tile struct {
	name                 string
	rows, columns, warps int
}

// The larger tile reads half as much; the smaller one keeps more processors busy.
var small, large = tile{"project64", 64, 64, 4}, tile{"project128", 128, 128, 8}

// shared is the bytes of shared memory that kernels.cu lays out: three stages of 64 numbers of hidden.
func (t tile) shared() int { return 3 * 2 * 64 * (t.rows + t.columns) }

// What hopper.cu has: threads of a block, and numbers of a line of a stage.
const hopperThreads, slice = 3 * 128, 64

// hopperTile is what hopper.cu is compiled for: columns of a block's tile, of 128 · tall rows; stages of it; and rows of
// tiles that are taken column by column.
type hopperTile struct{ columns, tall, stages, group int }

var hopperTiles = []hopperTile{{160, 2, 4, 8}, {128, 2, 4, 8}, {160, 1, 5, 16}, {128, 1, 6, 16}, {64, 1, 9, 16}}

// shared is the bytes that hopper.cu lays out: stages, whose boxes of w are whole, two barriers for each, and
// what is skipped so that they begin at a multiple of 1024.
func (t hopperTile) shared() int {
	return t.stages*(2*slice*(t.rows()+over(t.columns, slice)*slice)+16) + 1024
}

func (t hopperTile) rows() int { return 128 * t.tall }

// count is how many tiles there are of the outputs.
func (t hopperTile) count(p Projection) int {
	return over(p.Rows(), t.rows()) * over(p.Outputs(), t.columns)
}

// time is that of the processor with the most tiles, in units of one product of two lines. Reading a line, which others'
// products hide, counts for a little: large tiles read less.
func (t hopperTile) time(p Projection, processors int) int {
	return over(t.count(p), processors) * (t.rows()*t.columns + 4*(t.rows()+t.columns))
}

// fastest is the tile that is done first.
func fastest(p Projection, processors int) hopperTile {
	return slices.MinFunc(hopperTiles, func(a, b hopperTile) int { return a.time(p, processors) - b.time(p, processors) })
}

// QKV holds the kernels of both types.
type QKV struct {
	queue           device.Queue
	split           device.Kernel
	float16, bfloat kernels16
}

// kernels16 are those of a type, and on a GPU of Hopper's kind hopper.cu's.
type kernels16 struct {
	of     tensor.Type
	tiles  map[tile]device.Kernel
	hopper map[hopperTile]device.Kernel
}

// New compiles the kernels for one device. No other GPU has wgmma, older or newer.
func New(q device.Queue) (*QKV, error) { return newFor(q, q.Info().Arch == "sm_90") }

func newFor(q device.Queue, hopper bool) (*QKV, error) {
	t := &QKV{queue: q, float16: kernels16{of: tensor.Float16}, bfloat: kernels16{of: tensor.BFloat16}}
	brain := map[string]string{"BRAIN": "1"}
	if hopper {
		if err := t.float16.forHopper(q, nil); err != nil {
			return nil, err
		}
		if err := t.bfloat.forHopper(q, brain); err != nil {
			return nil, err
		}
	}
	module, err := q.Compile(Source)
	if err != nil {
		return nil, err
	}
	if t.split, err = module.Kernel("split"); err != nil {
		return nil, err
	}
	if err := t.float16.from(module); err != nil {
		return nil, err
	}
	src := Source
	src.Defines = brain
	if module, err = q.Compile(src); err != nil {
		return nil, err
	}
	return t, t.bfloat.from(module)
}

func (k *kernels16) from(m device.Module) (err error) {
	k.tiles = map[tile]device.Kernel{}
	for _, t := range []tile{small, large} {
		if k.tiles[t], err = m.Kernel(t.name); err != nil {
			return err
		}
	}
	return nil
}

func (k *kernels16) forHopper(q device.Queue, macros map[string]string) error {
	k.hopper = map[hopperTile]device.Kernel{}
	for _, t := range hopperTiles {
		src := HopperSource
		src.Defines = map[string]string{"COLUMNS": strconv.Itoa(t.columns), "TALL": strconv.Itoa(t.tall), "STAGES": strconv.Itoa(t.stages), "GROUP": strconv.Itoa(t.group)}
		maps.Copy(src.Defines, macros)
		module, err := q.Compile(src)
		if err != nil {
			return err
		}
		if k.hopper[t], err = module.Kernel("project"); err != nil {
			return err
		}
	}
	return nil
}

// Split adds the bias to a projection [Rows, Outputs], and writes it as q, k and v.
func (t *QKV) Split(to Parts[device.Float16], projection, bias Halves, p Projection) error {
	if err := CheckSplit(p, to, projection, bias); err != nil {
		return err
	}
	biased := bias.Len() > 0
	if !biased {
		bias = projection // which is not read as a bias
	}
	l := device.Launch{Grid: device.D2(over(p.Outputs(), 8*threads), over(p.Rows(), each)), Block: device.D1(threads)}
	return t.queue.Launch(t.split, l, projection, bias, to.Q, to.K, to.V, p.Rows(), p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim, p.TokensFirst, biased)
}

// Float16 writes x · W + bias as q, k and v.
func (t *QKV) Float16(to Parts[device.Float16], x Halves, w Weights[device.Float16], p Projection) error {
	return run(t.queue, t.float16, to, x, w, p)
}

// BFloat16 is the same for bfloat16.
func (t *QKV) BFloat16(to Parts[device.BFloat16], x device.Buffer[device.BFloat16], w Weights[device.BFloat16], p Projection) error {
	return run(t.queue, t.bfloat, to, x, w, p)
}

func run[T device.Half](queue device.Queue, kernels kernels16, to Parts[T], x device.Buffer[T], w Weights[T], p Projection) error {
	if err := Check(p, to, x, w); err != nil {
		return err
	}
	bias := w.Bias
	if !w.Biased() {
		bias = x // which is not read as a bias
	}
	if kernels.hopper != nil {
		return onHopper(queue, kernels, to, x, w, bias, p)
	}
	// Two of the larger tile's blocks fit on a processor; with fewer, some would have nothing to do.
	t := large
	if over(p.Rows(), t.rows)*over(p.Outputs(), t.columns) < 2*queue.Info().Processors {
		t = small
	}
	l := device.Launch{Grid: device.D2(over(p.Rows(), t.rows), over(p.Outputs(), t.columns)), Block: device.D1(32 * t.warps), Shared: t.shared()}
	return queue.Launch(kernels.tiles[t], l, x, w.W, bias, to.Q, to.K, to.V, p.Rows(), p.Hidden, p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim, p.TokensFirst, w.Biased())
}

// onHopper launches hopper.cu's kernel: a block for each processor, where there are tiles enough. The copy engine moves
// boxes of a tile's rows of x, and of 64 rows of W.
func onHopper[T device.Half](queue device.Queue, kernels kernels16, to Parts[T], x device.Buffer[T], w Weights[T], bias device.Buffer[T], p Projection) error {
	processors := queue.Info().Processors
	t := fastest(p, processors)
	xMap, err := device.NewTensorMap(x.Memory(), kernels.of, []int{p.Hidden, p.Rows()}, []int{slice, t.rows()}, 2*slice)
	if err != nil {
		return err
	}
	wMap, err := device.NewTensorMap(w.W.Memory(), kernels.of, []int{p.Outputs(), p.Hidden}, []int{slice, slice}, 2*slice)
	if err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1(min(t.count(p), processors)), Block: device.D1(hopperThreads), Shared: t.shared(), Early: true}
	return queue.Launch(kernels.hopper[t], l, xMap, wMap, bias, to.Q, to.K, to.V, p.Rows(), p.Hidden, p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim, p.TokensFirst, w.Biased())
}

func over(n, each int) int { return (n + each - 1) / each }

// FusedQKVAttention is an attention layer up to its output's projection.
type FusedQKVAttention struct {
	qkv       *QKV
	config    Config
	weights   Weights[device.Float16]
	attention Attention
	parts     Parts[device.Float16] // for MaxRows rows
}

// NewFusedQKVAttention makes a layer, with room for c.MaxRows rows.
func (t *QKV) NewFusedQKVAttention(c Config, w Weights[device.Float16], a Attention) (*FusedQKVAttention, error) {
	p := c.of(1, c.MaxRows)
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := sizes(p, []sized[device.Float16]{{"W", w.W, p.Hidden * p.Outputs()}}, w.Bias); err != nil {
		return nil, err
	}
	l := &FusedQKVAttention{qkv: t, config: c, weights: w, attention: a}
	for _, part := range []struct {
		name string
		to   *Halves
		n    int
	}{{"q", &l.parts.Q, c.Heads}, {"k", &l.parts.K, c.KVHeads}, {"v", &l.parts.V, c.KVHeads}} {
		var err error
		if *part.to, err = device.Alloc[device.Float16](t.queue, part.name, c.MaxRows*part.n*c.Dim); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// of is the projection of a call.
func (c Config) of(batch, seq int) Projection {
	return Projection{Batch: batch, Seq: seq, Hidden: c.Hidden, Heads: c.Heads, KVHeads: c.KVHeads, Dim: c.Dim}
}

// Forward writes the attention of x [batch · seq, Hidden] to out [batch, Heads, seq, Dim].
func (l *FusedQKVAttention) Forward(out, x Halves, batch, seq int) error {
	c := l.config
	p := c.of(batch, seq)
	if err := p.check(); err != nil {
		return err
	}
	if p.Rows() > c.MaxRows {
		return fmt.Errorf("attention of %d sequences of %d tokens: the layer has room for %d rows", batch, seq, c.MaxRows)
	}
	var to Parts[device.Float16]
	for _, part := range []struct {
		to   *Halves
		from Halves
		n    int
	}{{&to.Q, l.parts.Q, c.Heads}, {&to.K, l.parts.K, c.KVHeads}, {&to.V, l.parts.V, c.KVHeads}} {
		var err error
		if *part.to, err = part.from.Slice(0, p.Rows()*part.n*c.Dim); err != nil {
			return err
		}
	}
	s := attn.Shape{Batch: batch, Heads: c.Heads, KVHeads: c.KVHeads, SeqQ: seq, SeqK: seq, Dim: c.Dim, Causal: c.Causal}
	if err := attn.CheckOf(s, out, to.Q, to.K, to.V); err != nil {
		return err
	}
	if err := l.qkv.Float16(to, x, l.weights, p); err != nil {
		return err
	}
	return l.attention(out, to.Q, to.K, to.V, s)
}

// free gives back what the layer allocated.
func (l *FusedQKVAttention) free() error {
	for _, b := range []Halves{l.parts.Q, l.parts.K, l.parts.V} {
		if err := b.Free(l.qkv.queue); err != nil {
			return err
		}
	}
	return nil
}

// FusedQKVAttention is the layer as a function.
func (t *QKV) FusedQKVAttention(out, x Halves, w Weights[device.Float16], a Attention, c Config, batch, seq int) error {
	c.MaxRows = batch * seq
	l, err := t.NewFusedQKVAttention(c, w, a)
	if err != nil {
		return err
	}
	if err := l.Forward(out, x, batch, seq); err != nil {
		_ = l.free() // the call's own error says more
		return err
	}
	return l.free()
}
