package main

import (
	"errors"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	"flashlab/grader/tasks/task6/sizes"
	"flashlab/nn"
	"flashlab/nn/llama"
)

// paced times task 6's model: the student's layer on the student's kernels of tasks 4
// and 5, beside the course's layer on its plain kernels. A run is a prompt and steps.
func paced(m *worker.Made[kit]) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		if !j.Timed {
			return nil, errors.New("this worker times the model; task 6's own grades it")
		}
		var own, plain *llama.Model
		defer func() {
			for _, m := range []*llama.Model{own, plain} {
				if m != nil {
					_ = m.Close()
				}
			}
		}()
		ours := func(k kit, out, in worker.Buffers) (err error) {
			if own == nil {
				if own, err = llama.New(j.Device, k.layers, sizes.Llama(j.Problem), j.Seed, k.calls.newLayer, k.own); err != nil {
					return err
				}
			}
			return pass(j, own, out[0], in[0])
		}
		base := func(out, in worker.Buffers) error {
			if plain == nil {
				// Compiled again, on a queue that nobody closes: the kit's is the submission's.
				k, err := newPlain(j.Queue)
				if err != nil {
					return err
				}
				if plain, err = llama.New(j.Device, k.layers, sizes.Llama(j.Problem), j.Seed, nn.NewLayer, k.plain); err != nil {
					return err
				}
			}
			return pass(j, plain, out[0], in[0])
		}
		return nil, m.Beside(j, ours, base)
	}
}

// pass takes tokens [batch, prompt + steps], as uniform numbers, and writes logits
// [batch, 1 + steps, vocabulary]. They travel by the host, as those of one who samples
// would.
func pass(j *worker.Job, m *llama.Model, logits, tokens device.Buffer[float32]) error {
	x, err := tokens.CopyOut(j.Device)
	if err != nil {
		return err
	}
	prompt, steps := j.Sizes["prompt"], j.Sizes["steps"]
	each := prompt + steps // tokens of a sequence
	prompts := make([][]int32, m.Batch)
	for b := range prompts {
		for _, v := range x[b*each : b*each+prompt] {
			prompts[b] = append(prompts[b], int32(problem.Token(v, m.Vocabulary)))
		}
	}
	m.Reset()
	if err := m.Prefill(prompts); err != nil {
		return stub(err)
	}
	for i := range steps + 1 {
		row, err := m.Logits()
		if err != nil {
			return err
		}
		for b := range m.Batch {
			at := (b*(steps+1) + i) * m.Vocabulary
			place, err := logits.Slice(at, at+m.Vocabulary)
			if err != nil {
				return err
			}
			if err := place.CopyIn(j.Device, row[b*m.Vocabulary:(b+1)*m.Vocabulary]); err != nil {
				return err
			}
		}
		if i == steps {
			break
		}
		next := make([]int32, m.Batch)
		for b := range next {
			next[b] = int32(problem.Token(x[b*each+prompt+i], m.Vocabulary))
		}
		if err := m.SetNext(next); err != nil {
			return err
		}
		if err := m.Step(); err != nil {
			return stub(err)
		}
	}
	return nil
}

// stub keeps the one sentence for code that is not written yet.
func stub(err error) error {
	if errors.Is(err, attn.ErrNotImplemented) {
		return attn.ErrNotImplemented
	}
	return err
}
