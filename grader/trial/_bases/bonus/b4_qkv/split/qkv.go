package qkv

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
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

// QKV holds the kernels of both types.
type QKV struct {
	queue           device.Queue
	float16, bfloat kernels16
	scratch         device.Memory // for a projection
}

type kernels16 struct {
	split   device.Kernel
	project map[tile]device.Kernel
}

// New compiles the kernels for one device.
func New(q device.Queue) (*QKV, error) {
	t := &QKV{queue: q}
	module, err := q.Compile(Source)
	if err != nil {
		return nil, err
	}
	if err := t.float16.from(module); err != nil {
		return nil, err
	}
	src := Source
	src.Defines = map[string]string{"BRAIN": "1"}
	if module, err = q.Compile(src); err != nil {
		return nil, err
	}
	return t, t.bfloat.from(module)
}

func (k *kernels16) from(m device.Module) (err error) {
	if k.split, err = m.Kernel("split"); err != nil {
		return err
	}
	k.project = map[tile]device.Kernel{}
	for _, t := range []tile{small, large} {
		if k.project[t], err = m.Kernel(t.name); err != nil {
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
	return split(t.queue, t.float16.split, to, projection, bias, p)
}

func split[T device.Half](queue device.Queue, kernel device.Kernel, to Parts[T], projection, bias device.Buffer[T], p Projection) error {
	biased := bias.Len() > 0
	if !biased {
		bias = projection // which is not read as a bias
	}
	l := device.Launch{Grid: device.D2(over(p.Outputs(), 8*threads), over(p.Rows(), each)), Block: device.D1(threads)}
	return queue.Launch(kernel, l, projection, bias, to.Q, to.K, to.V, p.Rows(), p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim, p.TokensFirst, biased)
}

// Float16 writes x · W + bias as q, k and v.
func (t *QKV) Float16(to Parts[device.Float16], x Halves, w Weights[device.Float16], p Projection) error {
	return run(t, t.float16, to, x, w, p)
}

// BFloat16 is the same for bfloat16.
func (t *QKV) BFloat16(to Parts[device.BFloat16], x device.Buffer[device.BFloat16], w Weights[device.BFloat16], p Projection) error {
	return run(t, t.bfloat, to, x, w, p)
}

func run[T device.Half](it *QKV, kernels kernels16, to Parts[T], x device.Buffer[T], w Weights[T], p Projection) error {
	if err := Check(p, to, x, w); err != nil {
		return err
	}
	bias := w.Bias
	if !w.Biased() {
		bias = x // which is not read as a bias
	}
	projection, err := room[T](it, p.Rows()*p.Outputs())
	if err != nil {
		return err
	}
	// Two of the larger tile's blocks fit on a processor; with fewer, some would have nothing to do.
	t := large
	if over(p.Rows(), t.rows)*over(p.Outputs(), t.columns) < 2*it.queue.Info().Processors {
		t = small
	}
	l := device.Launch{Grid: device.D2(over(p.Rows(), t.rows), over(p.Outputs(), t.columns)), Block: device.D1(32 * t.warps), Shared: t.shared()}
	if err := it.queue.Launch(kernels.project[t], l, x, w.W, bias, projection, p.Rows(), p.Hidden, p.Outputs(), w.Biased()); err != nil {
		return err
	}
	return split(it.queue, kernels.split, to, projection, device.Buffer[T]{}, p)
}

// room is scratch memory for so many numbers, which is kept for the next call.
func room[T device.Half](it *QKV, n int) (device.Buffer[T], error) {
	if it.scratch.Bytes < 2*int64(n) {
		if it.scratch.Bytes > 0 {
			if err := it.queue.Free(it.scratch); err != nil {
				return device.Buffer[T]{}, err
			}
		}
		b, err := device.Alloc[uint16](it.queue, "projection", n)
		if err != nil {
			return device.Buffer[T]{}, err
		}
		it.scratch = b.Memory()
	}
	m := it.scratch
	m.Bytes = 2 * int64(n)
	return device.BufferOf[T](m)
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
