// Command task6 runs a submission of task 6 for the grader, with the kernels of
// package nn: a mistake in task 4 or 5 costs nothing here. With the argument e2e
// it measures a model, for `make e2e KERNELS=given`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/worker"
	"flashlab/grader/tasks/task6/pace"
	"flashlab/nn"
	e2e "flashlab/task6_e2e"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "e2e" {
		if err := pace.Main(os.Stdout, os.Args[2:], parts); err != nil {
			if !errors.Is(err, flag.ErrHelp) {
				fmt.Fprintln(os.Stderr, "e2e:", err)
			}
			os.Exit(1)
		}
		return
	}
	g := worker.Once(newGiven)
	op := func(run func(r *layerRun) error) worker.Op { return layerOp(g, e2e.New, run) }
	worker.Main(map[string]worker.Op{
		"prompt":        op(runSteps),
		"layer":         op(runSteps),
		"ragged":        op(runSteps),
		"right_kernels": op(runSteps),
		"recorded":      op(runRecorded),
		"model":         modelOp(g, e2e.New),
		"fresh":         modelOp(g, e2e.New),
	})
}

// given is what the layers are built from.
type given struct {
	layers  *nn.Layers
	kernels attn.Kernels
}

func newGiven(q device.Queue) (g given, err error) {
	if g.layers, err = nn.New(q); err != nil {
		return g, fmt.Errorf("the kernels of nn: %w", err)
	}
	if g.kernels, err = nn.PlainKernels(q, g.layers); err != nil {
		return g, fmt.Errorf("the kernels of nn: %w", err)
	}
	return g, nil
}

// parts are those of a model that is measured.
func parts(q device.Queue) (pace.Parts, error) {
	g, err := newGiven(q)
	return pace.Parts{Layers: g.layers, Layer: newLayer, Kernels: g.kernels, About: "the layer of task 6 on the course's kernels"}, err
}

func newLayer(q device.Queue, s attn.LayerShape, p attn.Projections, k attn.Kernels, c attn.Cache) (attn.Layer, error) {
	l, err := e2e.New(q, s, p, k, c)
	return layer{l}, worker.Stub("New", err)
}

// layer says which function is the stub.
type layer struct{ attn.Layer }

func (l layer) Forward(out, x device.Buffer[float32], s attn.Step) error {
	return worker.Stub("Forward", l.Layer.Forward(out, x, s))
}
