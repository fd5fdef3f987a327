// Command worker talks, for `make chat KERNELS=halves`: a Llama on a submission's attention in halves of bonus tasks b2
// and b6, within the layer of task 6. All else stays float32.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"flashlab/attn"
	halves "flashlab/bonus/b2_halves"
	decode "flashlab/bonus/b6_decode"
	"flashlab/device"
	"flashlab/grader/tasks/talk"
	"flashlab/grader/tasks/talk/halved"
	"flashlab/grader/tasks/task6/tint"
	"flashlab/nn"
	e2e "flashlab/task6_e2e"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "chat" {
		fmt.Fprintln(os.Stderr, "it can do chat")
		os.Exit(1)
	}
	if err := talker.Main(os.Args[2:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(os.Stderr, "chat: %v\n", err)
		}
		os.Exit(1)
	}
}

var talker = talk.Program{Kernels: []string{"halves"}, Make: func(q device.Queue, _ string) (m talk.Made, err error) {
	m.About = "the kernels of b2 and b6, in halves, and the layer of task 6; weights, projections and MLP in float32"
	if m.Layers, err = nn.New(q); err != nil {
		return m, fmt.Errorf("the kernels of nn: %w", err)
	}
	h, err := halves.New(q)
	if err != nil {
		return m, mend(b2, err)
	}
	d, err := decode.New(q)
	if err != nil {
		return m, mend(b6, err)
	}
	own, err := begun(q, prompts{h}, steps{d})
	if err != nil {
		return m, err
	}
	m.Kernels = attn.Kernels{Rearranger: m.Layers}
	m.NewLayer = own.Layer(newLayer)
	return m, nil
}}

var (
	b2 = talk.Task{Name: "b2", Dir: "bonus/b2_halves", Inside: true}
	b6 = talk.Task{Name: "b6", Dir: "bonus/b6_decode", Inside: true}
	t6 = talk.Task{Name: "6", Dir: "task6_e2e"}
)

func mend(t talk.Task, err error) error { return talk.Mend(t, err) }

// begun asks each for attention to a single key, so that a stub is told before the weights are read.
func begun(q device.Queue, p prompts, s steps) (*halved.Attention, error) {
	one, err := device.Upload(q, "one token", make([]device.Float16, 4*64))
	if err != nil {
		return nil, err
	}
	lengths, err := device.Upload(q, "its length", []int32{1})
	if err != nil {
		return nil, err
	}
	var parts [4]device.Buffer[device.Float16]
	for i := range parts {
		parts[i], _ = one.Slice(64*i, 64*(i+1)) // it has four
	}
	if err := p.Float16(parts[0], parts[1], parts[2], parts[3], attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: 1, Dim: 64, Causal: true}); err != nil {
		return nil, err
	}
	shape := attn.DecodeShape{Heads: 1, CacheShape: attn.CacheShape{Batch: 1, MaxSeq: 1, KVHeads: 1, Dim: 64}}
	if err := s.Float16(parts[0], parts[1], parts[2], parts[3], shape, attn.PerSequence{Host: []int{1}, Device: lengths}); err != nil {
		return nil, err
	}
	return halved.New(q, p, s)
}

// prompts is b2's attention.
type prompts struct{ own *halves.Halves }

func (p prompts) Float16(out, q, k, v device.Buffer[device.Float16], s attn.Shape) error {
	return mend(b2, p.own.Float16(out, q, k, v, s))
}

// steps is b6's decoding.
type steps struct{ own *decode.Decode }

func (s steps) Float16(out, q, k, v device.Buffer[device.Float16], shape attn.DecodeShape, lengths attn.PerSequence) error {
	return mend(b6, s.own.Float16(out, q, k, v, shape, lengths))
}

// newLayer is task 6's constructor.
func newLayer(q device.Queue, s attn.LayerShape, p attn.Projections, k attn.Kernels, c attn.Cache) (attn.Layer, error) {
	l, err := e2e.New(tint.Queue(q), s, p, k, c)
	if err == nil && l == nil {
		err = errors.New("its New returned neither a layer nor an error")
	}
	return layer{l}, mend(t6, err)
}

type layer struct{ attn.Layer }

func (l layer) Forward(out, x device.Buffer[float32], s attn.Step) error {
	return mend(t6, l.Layer.Forward(out, x, s))
}
