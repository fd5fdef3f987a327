package kvcache

// What the public checks run on: a cache on a device, and what it should hold.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// rig is a cache of one of the two formats on a device, and beside it what it should hold.
type rig struct {
	t       *testing.T
	d       device.Device
	it      *Cache
	s       attn.DecodeShape
	bits    int
	eight   Int8
	four    Int4
	k, v    [][]float32 // tokens of each sequence as they came, [KVHeads, Dim] each
	lengths attn.PerSequence
}

func newRig(t *testing.T, bits, batch, heads, kvHeads, slots, dim int) *rig {
	t.Helper()
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	require.NoError(t, err, "New failed")
	s := attn.DecodeShape{Heads: heads, CacheShape: attn.CacheShape{Batch: batch, MaxSeq: slots, KVHeads: kvHeads, Dim: dim}}
	r := &rig{t: t, d: d, it: it, s: s, bits: bits, k: make([][]float32, batch), v: make([][]float32, batch)}
	all, tokens, groups := s.Elements(), batch*kvHeads*slots, batch*kvHeads*(slots/Group)*dim
	if bits == 8 {
		r.eight = Int8{dirty[int8](r, "K", all), dirty[int8](r, "V", all), r.halves("KScales", tokens), r.halves("VScales", tokens)}
	} else {
		open := batch * kvHeads * Group * dim
		r.four = Int4{dirty[uint8](r, "K", all/2), dirty[uint8](r, "V", all/2), r.halves("KScales", groups), r.halves("KLows", groups),
			r.halves("VScales", tokens), r.halves("VLows", tokens), r.halves("KOpen", open), r.halves("VOpen", open)}
	}
	r.lengths.Device = dirty[int32](r, "lengths", batch)
	r.set(make([]int, batch))
	return r
}

// dirty is a buffer whose bits are all 1, as a cache may be that was used before: NaN in halves.
func dirty[T device.Scalar](r *rig, name string, n int) device.Buffer[T] {
	r.t.Helper()
	b, err := device.Alloc[T](r.d, name, n)
	require.NoError(r.t, err)
	ones, err := device.BufferOf[uint8](b.Memory())
	require.NoError(r.t, err)
	require.NoError(r.t, ones.CopyIn(r.d, slices.Repeat([]byte{255}, ones.Len())))
	r.t.Cleanup(func() { _ = b.Free(r.d) })
	return b
}

func (r *rig) halves(name string, n int) Halves { return dirty[device.Float16](r, name, n) }

func (r *rig) upload(name string, x []float32) Halves {
	r.t.Helper()
	b := r.halves(name, len(x))
	y := make([]device.Float16, len(x))
	for i, v := range x {
		y[i] = device.ToFloat16(v)
	}
	require.NoError(r.t, b.CopyIn(r.d, y))
	return b
}

// set makes these the lengths, on the host and on the device.
func (r *rig) set(lengths []int) {
	r.t.Helper()
	r.lengths.Host = lengths
	var n []int32
	for _, x := range lengths {
		n = append(n, int32(x))
	}
	require.NoError(r.t, r.lengths.Device.CopyIn(r.d, n))
}

// random are halves, large ones and some outliers of channel 3 among them.
func random(seed uint64, n, dim int) []float32 {
	x := make([]float32, n)
	if err := tensor.Fill(x, tensor.Normal, seed, 0, 0); err != nil {
		panic(err) // a count below 0
	}
	for i := range x {
		if i%dim == 3 {
			x[i] += 20
		}
	}
	tensor.Float16.Round(x)
	return x
}

// append adds a token to every sequence.
func (r *rig) append(k, v []float32) {
	r.t.Helper()
	var err error
	a, b := r.upload("k", k), r.upload("v", v)
	if r.bits == 8 {
		err = r.it.AppendInt8(r.eight, a, b, r.s.CacheShape, r.lengths)
	} else {
		err = r.it.AppendInt4(r.four, a, b, r.s.CacheShape, r.lengths)
	}
	r.done(fmt.Sprintf("AppendInt%d", r.bits), err)
	slot := r.s.Slot()
	for i := range r.k {
		r.k[i], r.v[i] = append(r.k[i], k[i*slot:(i+1)*slot]...), append(r.v[i], v[i*slot:(i+1)*slot]...)
	}
	next := slices.Clone(r.lengths.Host)
	for i := range next {
		next[i]++
	}
	r.set(next)
}

func (r *rig) done(call string, err error) {
	r.t.Helper()
	if errors.Is(err, attn.ErrNotImplemented) {
		r.t.Fatalf("not implemented: %s in cache.go is still the stub (README.md says where to start)", call)
	}
	if err == nil {
		err = r.d.Sync()
	}
	if err != nil {
		attntest.Fatal(r.t, r.d, "%s, %v: %v", call, r.s.CacheShape, err)
	}
	attntest.Findings(r.t, r.d)
}

// number is element x of a token's key or value, as the cache reads it back.
func (r *rig) number(of [][]float32, sequence, token, head, x int) float32 {
	at := func(token, x int) float32 { return of[sequence][token*r.s.Slot()+head*r.s.Dim+x] }
	var row []float32
	place := x
	switch first := token / Group * Group; {
	case r.bits == 4 && first+Group > len(of[sequence])/r.s.Slot():
		return at(token, x)
	case r.bits == 4 && &of[0] == &r.k[0]:
		place = token - first
		for t := range Group {
			row = append(row, at(first+t, x))
		}
	default:
		for c := range r.s.Dim {
			row = append(row, at(token, c))
		}
	}
	if r.bits == 8 {
		codes := make([]int8, len(row))
		scale := quant.Symmetric8(codes, row)
		return quant.Number8(codes[place], scale)
	}
	codes := make([]uint8, len(row))
	scale, low := quant.Asymmetric4(codes, row)
	return quant.Number4(codes[place], scale, low)
}

// decode compares one step with float64.
func (r *rig) decode(size float32, hint string) {
	r.t.Helper()
	n := r.s.Batch * r.s.Heads * r.s.Dim
	x := random(99, n, r.s.Dim)
	for i := range x {
		x[i] = device.ToFloat16(x[i] * size).Float32()
	}
	q, out := r.upload("q", x), r.halves("out", n)
	var err error
	if r.bits == 8 {
		err = r.it.DecodeInt8(out, q, r.eight, r.s, r.lengths)
	} else {
		err = r.it.DecodeInt4(out, q, r.four, r.s, r.lengths)
	}
	r.done(fmt.Sprintf("DecodeInt%d", r.bits), err)
	r.compare(out, x, hint)
}

// compare holds what came out for the queries x against float64.
func (r *rig) compare(out Halves, x []float32, hint string) {
	r.t.Helper()
	got, err := out.CopyOut(r.d)
	require.NoError(r.t, err)
	for row := range r.s.Batch * r.s.Heads {
		want := r.want(x[row*r.s.Dim:(row+1)*r.s.Dim], row/r.s.Heads, row%r.s.Heads/(r.s.Heads/r.s.KVHeads))
		for c, w := range want {
			if g := float64(got[row*r.s.Dim+c].Float32()); !(math.Abs(g-w) <= 4e-3*(1+math.Abs(w))) { // true for NaN
				r.t.Fatalf("INT%d, %v, lengths %v: sequence %d, head %d, number %d: got %v, want %.5f\n  hint: %s",
					r.bits, r.s, r.lengths.Host, row/r.s.Heads, row%r.s.Heads, c, g, w, hint)
			}
		}
	}
}

// want is the attention of one query in float64.
func (r *rig) want(q []float32, sequence, head int) []float64 {
	out, scores, largest, sum := make([]float64, len(q)), []float64{}, math.Inf(-1), 0.0
	for token := range r.lengths.Host[sequence] {
		var dot float64
		for x, y := range q {
			dot += float64(y) * float64(r.number(r.k, sequence, token, head, x))
		}
		scores = append(scores, dot/math.Sqrt(float64(len(q))))
		largest = max(largest, scores[token])
	}
	for token, s := range scores {
		p := math.Exp(s - largest)
		sum += p
		for x := range out {
			out[x] += p * float64(r.number(r.v, sequence, token, head, x))
		}
	}
	for x := range out {
		if sum > 0 {
			out[x] /= sum
		}
	}
	return out
}

// fill appends n tokens to every sequence.
func (r *rig) fill(n int) {
	r.t.Helper()
	for range n {
		seed := uint64(2 * len(r.k[0]))
		r.append(random(seed+1, r.s.Batch*r.s.Slot(), r.s.Dim), random(seed+2, r.s.Batch*r.s.Slot(), r.s.Dim))
	}
}

// fillLonger is fill where the first sequence is the shorter one.
func (r *rig) fillLonger(n int) {
	r.t.Helper()
	for i := range n {
		r.append(random(uint64(900+2*i), r.s.Batch*r.s.Slot(), r.s.Dim), random(uint64(901+2*i), r.s.Batch*r.s.Slot(), r.s.Dim))
	}
}

// bytes are all of the cache.
func (r *rig) bytes() (all []byte) {
	r.t.Helper()
	places := []device.Memory{r.eight.K.Memory(), r.eight.V.Memory(), r.eight.KScales.Memory(), r.eight.VScales.Memory()}
	if r.bits == 4 {
		c := r.four
		places = []device.Memory{c.K.Memory(), c.V.Memory(), c.KScales.Memory(), c.VScales.Memory(), c.KLows.Memory(), c.VLows.Memory(), c.KOpen.Memory(), c.VOpen.Memory()}
	}
	for _, p := range places {
		b, err := device.BufferOf[uint8](p)
		require.NoError(r.t, err)
		x, err := b.CopyOut(r.d)
		require.NoError(r.t, err)
		all = append(all, x...)
	}
	return all
}
