package main

import (
	"fmt"
	"maps"
	"slices"

	"flashlab/attn"
	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	"flashlab/grader/tasks/task6/tint"
	"flashlab/grader/tasks/task7/sizes"
	"flashlab/nn"
	"flashlab/nn/gpt2"
	"flashlab/nn/llama"
	"flashlab/nn/lm"
	task "flashlab/task7_gpt2"
	"flashlab/tensor"
)

// logits runs a random model on the student's layer and kernels; and, where the grader asks for
// three outputs, on the layer with the course's kernels, and with only the decoding of these.
// Where the first is wrong, the others tell whose mistake it is.
func logits(m *worker.Made[kit]) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		k, err := m.Get(j.Queue)
		if err != nil {
			return nil, err
		}
		config := sizes.GPT2(j.Problem)
		if err := config.Check(); err != nil {
			return nil, err
		}
		w := weights{config, j}
		clear(k.calls.count)
		tokens := narrow(problem.Tokens(j.In[0].Data, config.Vocabulary))
		mixed := k.plain
		mixed.Prefill = k.own.Prefill
		out := &problem.Answer{}
		for i, kernels := range []attn.Kernels{k.own, k.plain, mixed}[:len(j.Outputs)] {
			rows, err := forced(j, k, w, kernels, tokens)
			if err != nil {
				return nil, err
			}
			t, err := tensor.Of(rows, j.Outputs[i].Shape...)
			if err != nil {
				return nil, err
			}
			out.Tensors = append(out.Tensors, t)
			if i == 0 {
				out.Counts = maps.Clone(k.calls.count)
			}
		}
		return out, nil
	}
}

// weights are random ones of the case's seed, which this process need not know.
type weights struct {
	config gpt2.Config
	job    *worker.Job
}

func (w weights) Config() gpt2.Config { return w.config }
func (w weights) About() string       { return "a random model" }

func (w weights) Fill(to nn.Floats, t gpt2.Tensor) error {
	stream, scale, shift := t.Random()
	return w.job.Fill(to, remote.Values{Input: remote.Random, Stream: stream, Scale: scale, Shift: shift})
}

// Read is asked for nowhere: what fills itself is not read.
func (w weights) Read(t gpt2.Tensor) ([]float32, error) {
	return nil, fmt.Errorf("%s: these weights are on the device alone", t.Name)
}

// forced are the logits behind a prompt and behind each token that follows it in
// the case. Another text comes first, so that the cache is not fresh.
func forced(j *worker.Job, k kit, w gpt2.Weights, kernels attn.Kernels, tokens []int32) ([]float32, error) {
	factors, err := tinted(j, w.Config())
	if err != nil {
		return nil, err
	}
	defer func() { _ = factors.Close() }()
	m, err := gpt2.New(j.Device, k.layers, w, k.calls.newLayer, factors.Kernels(kernels))
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Close() }()
	before := slices.Clone(tokens)
	slices.Reverse(before)
	prompt := j.Sizes["prompt"]
	if _, err := follow(m, before, prompt); err != nil {
		return nil, err
	}
	return follow(m, tokens, prompt)
}

// tinted makes kernels' results follow the case's factors, which a result that comes from elsewhere lacks.
func tinted(j *worker.Job, c gpt2.Config) (*tint.Tint, error) {
	return tint.New(j.Queue, c.Width/c.Heads, func(to nn.Floats, w llama.Weight) error {
		return j.Fill(to, remote.Values{Input: remote.Random, Stream: w.Stream, Scale: w.Scale, Shift: w.Base})
	})
}

func follow(m *gpt2.Model, tokens []int32, prompt int) ([]float32, error) {
	if err := m.Prefill(tokens[:prompt]); err != nil {
		return nil, err
	}
	all, err := m.Logits()
	if err != nil {
		return nil, err
	}
	for _, token := range tokens[prompt:] {
		if err := m.Step(token); err != nil {
			return nil, err
		}
		row, err := m.Logits()
		if err != nil {
			return nil, err
		}
		all = append(all, row...)
	}
	return all, nil
}

// text generates greedily with the course's own model.
func text(m *worker.Made[kit]) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		k, err := m.Get(j.Queue)
		if err != nil {
			return nil, err
		}
		w, err := gpt2.Bundled(task.Model())
		if err != nil {
			return nil, err
		}
		factors, err := tinted(j, w.Config())
		if err != nil {
			return nil, err
		}
		defer func() { _ = factors.Close() }()
		model, err := gpt2.New(j.Device, k.layers, w, k.calls.newLayer, factors.Kernels(k.own))
		if err != nil {
			return nil, err
		}
		defer func() { _ = model.Close() }()
		var prompt []int32
		for _, v := range j.In[0].Data {
			prompt = append(prompt, int32(v))
		}
		var got []float32
		_, err = lm.Generate(model, lm.Generation{Prompt: prompt, Tokens: j.Sizes["tokens"], Stop: -1,
			Emit: func(token int32) error { got = append(got, float32(token)); return nil }})
		if err != nil {
			return nil, err
		}
		t, err := tensor.Of(got, j.Outputs[0].Shape...)
		return &problem.Answer{Tensors: []*tensor.Tensor{t}, Counts: j.Counts}, err
	}
}

func narrow(x []int) []int32 {
	y := make([]int32, len(x))
	for i, v := range x {
		y[i] = int32(v)
	}
	return y
}
