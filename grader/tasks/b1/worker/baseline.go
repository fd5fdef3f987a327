package main

import (
	"fmt"
	"math"
	"strconv"

	"flashlab/attn"
	rope "flashlab/bonus/b1_rope"
	"flashlab/device"
	"flashlab/grader/grading/worker"
	flash "flashlab/task4_flash"
)

// Threads of a block, and heads that one angle of a thread is for.
const (
	rotateBlock = 256
	rotateHeads = 8
)

// twoSteps is what the fused kernel is timed beside: rotated copies of q and k, written by a kernel
// of their own, and then the kernel of task 4 that the same submission has.
type twoSteps struct {
	*worker.Job
	rotation rope.Rotation
	start    attn.PerSequence

	flash  *worker.Made[*flash.Flash] // nil before the first run
	rotate device.Kernel
	q, k   device.Buffer[float32]
}

// prepare compiles and allocates, in a run that does not count.
func (t *twoSteps) prepare(in worker.Buffers) error {
	m, err := t.Queue.Compile(device.Source{Folder: "grader/tasks/b1/worker", Name: "rotate.cu",
		Defines: map[string]string{"HEADS": strconv.Itoa(rotateHeads)}})
	if err != nil {
		return err
	}
	if t.rotate, err = m.Kernel("rotate"); err != nil {
		return err
	}
	// They are called what task 4's inputs are, and its code gets the queue that it gets there: if it could tell where it
	// is, it could be slow here alone.
	if t.q, err = device.Alloc[float32](t.Device, in[0].Name(), in[0].Len()); err != nil {
		return err
	}
	if t.k, err = device.Alloc[float32](t.Device, in[1].Name(), in[1].Len()); err != nil {
		return err
	}
	t.flash = worker.Once(flash.New)
	return nil
}

func (t *twoSteps) run(out, in worker.Buffers) error {
	if t.rotate == nil {
		if err := t.prepare(in); err != nil {
			return fmt.Errorf("task 4's kernel: %w", err)
		}
	}
	s := t.Attention()
	if s.Causal && s.SeqK != s.SeqQ {
		return fmt.Errorf("the mask of task 4 does not fit %v", s) // it knows no positions
	}
	if err := t.turn(t.q, in[0], s, s.SeqQ, true); err != nil {
		return err
	}
	if err := t.turn(t.k, in[1], s, s.SeqK, false); err != nil {
		return err
	}
	kernel, err := t.flash.Get(t.Queue)
	if err != nil {
		return fmt.Errorf("task 4's kernel: %w", err)
	}
	return worker.StubIn("task4_flash/attention.go", "Run", kernel.Run(out[0], t.q, t.k, in[2], s))
}

// turn writes x [batch, heads, seq, dim] to y, rotated. Only queries begin at start.
func (t *twoSteps) turn(y, x device.Buffer[float32], s attn.Shape, seq int, queries bool) error {
	lanes := s.Batch * seq * s.Dim / 8
	l := device.Launch{Grid: device.D2((lanes+rotateBlock-1)/rotateBlock, (s.Heads+rotateHeads-1)/rotateHeads), Block: device.D1(rotateBlock)}
	return t.Queue.Launch(t.rotate, l, x, y, t.start.Device, queries, s.Batch, s.Heads, seq, s.Dim, t.rotation.Neighbours, math.Log2(t.rotation.Base))
}

func (t *twoSteps) close() {
	for _, b := range []device.Buffer[float32]{t.q, t.k} {
		if b.Len() > 0 {
			_ = b.Free(t.Device)
		}
	}
}
