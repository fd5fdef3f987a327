package main

import (
	"errors"
	"fmt"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/tasks/talk"
	"flashlab/grader/tasks/task6/sizes"
	"flashlab/grader/tasks/task6/tint"
	"flashlab/nn"
	flash "flashlab/task4_flash"
	decode "flashlab/task5_decode"
	e2e "flashlab/task6_e2e"
)

// kit is what models are built from.
type kit struct {
	layers *nn.Layers
	plain  attn.Kernels // the course's own
	own    attn.Kernels // the student's, of tasks 4 and 5
	calls  *calls
}

// calls counts what the layer calls, by the kind of pass: the points are for the
// student's own kernels.
type calls struct {
	pass  string // the one that goes on
	count map[string]uint64
}

func (c *calls) add(call string) { c.count[sizes.CallName(c.pass, call)]++ }

// newPlain compiles the course's part.
func newPlain(q device.Queue) (k kit, err error) {
	if k.layers, err = nn.New(q); err != nil {
		return k, fmt.Errorf("the kernels of nn: %w", err)
	}
	if k.plain, err = nn.PlainKernels(q, k.layers); err != nil {
		return k, fmt.Errorf("the kernels of nn: %w", err)
	}
	return k, nil
}

// newKit compiles the student's as well.
func newKit(q device.Queue) (kit, error) {
	k, err := newPlain(q)
	if err != nil {
		return k, err
	}
	f, err := flash.New(q)
	if err != nil {
		return k, mend(4, err)
	}
	d, err := decode.New(q)
	if err != nil {
		return k, mend(5, err)
	}
	k.calls = &calls{count: map[string]uint64{}}
	k.own = attn.Kernels{Prefill: prefill{f, k.calls}, Decode: decoder{d, k.calls}, Rearranger: k.layers}
	return k, nil
}

// dirs are the tasks that GPT-2 runs on.
var dirs = map[int]string{4: "task4_flash", 5: "task5_decode", 6: "task6_e2e"}

// mend names the task that an error is of, unless it is named already.
func mend(task int, err error) error {
	return talk.Mend(talk.Task{Name: strconv.Itoa(task), Dir: dirs[task], Inside: task < 6}, err)
}

// prefill is task 4's kernel.
type prefill struct {
	kernel attn.Kernel
	*calls
}

func (p prefill) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	p.add(sizes.CallPrefill)
	return mend(4, p.kernel.Run(out, q, k, v, s))
}

// decoder is task 5's kernels.
type decoder struct {
	kernels attn.Decoder
	*calls
}

func (d decoder) Update(c attn.Cache, k, v device.Buffer[float32], count int, at attn.PerSequence) error {
	d.add(sizes.CallUpdate)
	return mend(5, d.kernels.Update(c, k, v, count, at))
}

func (d decoder) Decode(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	d.add(sizes.CallDecode)
	return mend(5, d.kernels.Decode(out, q, c, s, lengths))
}

// projections are the model's.
type projections struct {
	attn.Projections
	*calls
}

func (p projections) QKV(q, k, v, x device.Buffer[float32], s attn.Step) error {
	p.add(sizes.CallQKV)
	return p.Projections.QKV(q, k, v, x, s)
}

func (p projections) Out(out, y device.Buffer[float32], s attn.Step) error {
	p.add(sizes.CallOut)
	return p.Projections.Out(out, y, s)
}

// layer is task 6's.
type layer struct {
	attn.Layer
	*calls
}

// newLayer is task 6's constructor, with what it makes watched.
func (c *calls) newLayer(q device.Queue, s attn.LayerShape, p attn.Projections, k attn.Kernels, cache attn.Cache) (attn.Layer, error) {
	l, err := e2e.New(tint.Queue(q), s, projections{p, c}, k, cache)
	if err == nil && l == nil {
		err = errors.New("its New returned neither a layer nor an error")
	}
	return layer{l, c}, mend(6, err)
}

func (l layer) Forward(out, x device.Buffer[float32], s attn.Step) error {
	switch {
	case s.Count > 1:
		l.pass = sizes.PromptPass
	case s.Before.Host[0] == 0:
		l.pass = sizes.FirstPass
	default:
		l.pass = sizes.StepPass
	}
	l.add(sizes.CallForward)
	return mend(6, l.Layer.Forward(out, x, s))
}
