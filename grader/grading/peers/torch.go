// Package peers asks other programs to do what a worker does: PyTorch, timed in turns with it.
package peers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/wire"
)

// Torch is bench/peers/peer.py, running: PyTorch, which does one run at a time on the
// same inputs. One who speaks for it is asked in turn with the worker.
type Torch struct {
	About  string // "PyTorch 2.11.0"
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte
	failed error
}

// answerTime is what one answer may take: a large case is filled in it.
const answerTime = 120 * time.Second

// StartTorch starts it; the error says why there is none.
func StartTorch(ctx context.Context, root string) (*Torch, error) {
	python, err := exec.LookPath("python3")
	if err != nil {
		return nil, errors.New("there is no python3")
	}
	t := &Torch{lines: make(chan []byte, 1)}
	t.cmd = exec.CommandContext(ctx, python, filepath.Join(root, "bench", "peers", "peer.py"))
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				close(t.lines)
				return
			}
			t.lines <- line
		}
	}()
	var hello struct{ About string }
	if err := t.ask(map[string]any{"op": "hello"}, &hello); err != nil {
		t.Close()
		return nil, fmt.Errorf("python3 has no PyTorch that works here: %w", err)
	}
	t.About = hello.About
	return t, nil
}

// ask sends a request and waits for its answer.
func (t *Torch) ask(what map[string]any, answer any) error {
	if t.failed != nil {
		return t.failed
	}
	line, err := json.Marshal(what)
	if err != nil {
		return err
	}
	if _, err := t.in.Write(append(line, '\n')); err != nil {
		t.failed = fmt.Errorf("the peer has ended: %w", err)
		return t.failed
	}
	select {
	case line, open := <-t.lines:
		if !open {
			t.failed = errors.New("the peer has ended")
			return t.failed
		}
		var refused struct{ Error string }
		if err := json.Unmarshal(line, &refused); err != nil {
			t.failed = fmt.Errorf("the peer's answer: %w", err)
			return t.failed
		}
		if refused.Error != "" {
			return errors.New(refused.Error)
		}
		return json.Unmarshal(line, answer)
	case <-time.After(answerTime):
		t.failed = fmt.Errorf("the peer did not answer within %v", answerTime)
		t.Close()
		return t.failed
	}
}

// Close ends it.
func (t *Torch) Close() {
	_ = t.in.Close()
	_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
	_ = t.cmd.Wait()
}

// Kind is something that PyTorch, or a package beside it, can do with a workload.
type Kind struct {
	Name string // in reports
	// Own tells that its weights or its cache are its own, in a format of its own: its output is not the case's, and the
	// peer holds it against the same product in float32 by itself.
	Own bool
}

// Kinds are what PyTorch is asked for, by the names that rubrics use.
var Kinds = map[string]Kind{
	"matmul": {Name: "torch.matmul"}, "softmax": {Name: "torch.softmax"}, "sdpa": {Name: "SDPA"}, "half": {Name: "SDPA, float16"}, "math": {Name: "SDPA, math"},
	"multihead": {Name: "nn.Multihead"}, "flash": {Name: "FlashAttention-2"}, "cudnn": {Name: "cuDNN"}, "fa4": {Name: "FlashAttention-4"},
	"sage": {Name: "SageAttention 1"}, "rotated": {Name: "rotation in PyTorch, SDPA"}, "cached": {Name: "cuDNN, a cache of halves", Own: true},
	"joined": {Name: "one linear layer, PyTorch"}, "three": {Name: "three linear layers, PyTorch"},
	"int4pack": {Name: "torchao's int4 (PyTorch)", Own: true}, "bitsandbytes": {Name: "bitsandbytes, NF4", Own: true}, "humming": {Name: "humming", Own: true},
}

func (t *Torch) Racers(_ context.Context, w race.Workload, c problem.Problem) (all []race.Racer) {
	for _, kind := range w.Peers {
		all = append(all, &FromTorch{t: t, kind: kind, c: c})
	}
	return all
}

// End gives the memory of a workload back.
func (t *Torch) End() { _ = t.ask(map[string]any{"op": "end"}, &struct{}{}) }

// FromTorch is one thing that PyTorch can do with a workload.
type FromTorch struct {
	t    *Torch
	kind string
	c    problem.Problem
}

func (p *FromTorch) Name() string { return Kinds[p.kind].Name }

func (p *FromTorch) Checked() bool { return !Kinds[p.kind].Own }

func (p *FromTorch) Run(turn wire.Turn) (r timing.Run) {
	failed := func(err error) timing.Run {
		return timing.Run{Took: wire.Took{Error: &wire.Error{Class: wire.Failed, Text: err.Error()}}}
	}
	// All kinds share the tensors of the case, where there is one already.
	if err := p.t.ask(map[string]any{"op": "case", "kind": p.kind, "case": p.c.Op, "sizes": p.c.Sizes, "causal": p.c.Causal, "inputs": p.inputs()}, &struct{}{}); err != nil {
		return failed(err)
	}
	start := time.Now()
	if err := p.t.ask(map[string]any{"op": "run", "seed": turn.Seed, "fills": turn.Fills}, &r.Took); err != nil {
		return failed(err)
	}
	r.Wall = time.Since(start)
	return r
}

func (p *FromTorch) inputs() (all []map[string]any) {
	for _, t := range p.c.Inputs {
		all = append(all, map[string]any{"shape": t.Shape, "stream": t.Stream, "type": t.Type.String()})
	}
	return all
}

func (p *FromTorch) Pieces(from []int, size int) ([]float32, *wire.Error) {
	var rows struct{ Values []float32 }
	if err := p.t.ask(map[string]any{"op": "rows", "from": from, "size": size}, &rows); err != nil {
		return nil, &wire.Error{Class: wire.Failed, Text: err.Error()}
	}
	if len(rows.Values) != size*len(from) {
		return nil, &wire.Error{Class: wire.Failed, Text: fmt.Sprintf("the peer sent %d values, want %d", len(rows.Values), size*len(from))}
	}
	return rows.Values, nil
}

func (*FromTorch) Guest() {}
