package main

import (
	"errors"
	"slices"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/tasks/task6/sizes"
)

// tally counts what layers ask for. It is here, between them and what they are
// given, that one sees which kernel is used for what.
type tally struct {
	calls map[string]uint64
	queue *tracked // that the layers hold
}

func newTally() *tally { return &tally{calls: map[string]uint64{}} }

// watch makes layers that are counted.
func (t *tally) watch(newLayer attn.NewLayer) attn.NewLayer {
	return func(q device.Queue, s attn.LayerShape, p attn.Projections, k attn.Kernels, c attn.Cache) (attn.Layer, error) {
		if t.queue == nil {
			t.queue = &tracked{Queue: q}
		}
		w := &watched{tally: t, cache: c, given: p, kernels: k}
		kernels := attn.Kernels{Prefill: prefill{w}, Decode: decoder{w}, Rearranger: k.Rearranger}
		inner, err := newLayer(t.queue, s, projections{w}, kernels, c)
		if err == nil && inner == nil {
			err = errors.New("the function New returned neither a layer nor an error")
		}
		w.inner = inner
		return w, err
	}
}

// watched is one layer.
type watched struct {
	*tally
	inner   attn.Layer
	cache   attn.Cache
	given   attn.Projections
	kernels attn.Kernels
	// Of the pass that runs.
	pass    string
	step    attn.Step
	decoded bool
}

func (w *watched) count(call string) { w.calls[sizes.CallName(w.pass, call)]++ }

func (w *watched) countIf(is bool, call string) {
	if is {
		w.count(call)
	}
}

func (w *watched) Forward(out, x device.Buffer[float32], s attn.Step) error {
	switch {
	case s.Count > 1:
		w.pass = sizes.PromptPass
	case s.Before.Host[0] == 0:
		w.pass = sizes.FirstPass
	default:
		w.pass = sizes.StepPass
	}
	w.step, w.decoded = s, false
	w.step.Before.Host, w.step.After.Host = slices.Clone(s.Before.Host), slices.Clone(s.After.Host)
	w.count(sizes.CallForward)
	w.queue.in(w.pass)
	defer w.queue.out()
	return w.inner.Forward(out, x, s)
}

// projections, prefill and decoder pass on what they are asked, and count it.
type (
	projections struct{ *watched }
	prefill     struct{ *watched }
	decoder     struct{ *watched }
)

func (p projections) QKV(q, k, v, x device.Buffer[float32], s attn.Step) error {
	p.count(sizes.CallQKV)
	return p.given.QKV(q, k, v, x, s)
}

func (p projections) Out(out, y device.Buffer[float32], s attn.Step) error {
	p.count(sizes.CallOut)
	return p.given.Out(out, y, s)
}

func (p prefill) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	p.count(sizes.CallPrefill)
	return p.kernels.Prefill.Run(out, q, k, v, s)
}

func (d decoder) Update(c attn.Cache, k, v device.Buffer[float32], count int, at attn.PerSequence) error {
	d.count(sizes.CallUpdate)
	d.countIf(d.decoded, sizes.LateUpdate)
	d.countIf(!within(c, d.cache), sizes.OtherCache)
	d.countIf(count != d.step.Count, sizes.WrongCount)
	d.countIf(!same(at, d.step.Before), sizes.WrongSlots)
	return d.kernels.Decode.Update(c, k, v, count, at)
}

func (d decoder) Decode(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	d.count(sizes.CallDecode)
	d.decoded = true
	d.countIf(!within(c, d.cache), sizes.OtherCache)
	d.countIf(!same(lengths, d.step.After), sizes.WrongKeys)
	return d.kernels.Decode.Decode(out, q, c, s, lengths)
}

// same leaves counts of a part of the batch alone: a layer may go through its
// sequences one by one.
func same(a, b attn.PerSequence) bool {
	return len(a.Host) != len(b.Host) || slices.Equal(a.Host, b.Host)
}

// within tells whether a cache is the given one, or a part of it.
func within(c, given attn.Cache) bool {
	in := func(part, whole device.Memory) bool {
		return part.Addr >= whole.Addr && part.Addr+uint64(part.Bytes) <= whole.Addr+uint64(whole.Bytes)
	}
	return in(c.K.Memory(), given.K.Memory()) && in(c.V.Memory(), given.V.Memory())
}
