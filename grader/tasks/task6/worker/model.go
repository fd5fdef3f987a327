package main

import (
	"fmt"
	"slices"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	"flashlab/grader/tasks/task6/sizes"
	"flashlab/grader/tasks/task6/tint"
	"flashlab/nn/llama"
	"flashlab/tensor"
)

// modelOp runs a model with a student's layers: tokens come from the case, not
// from the logits, so that a small difference does not grow.
func modelOp(g *worker.Made[given], newLayer attn.NewLayer) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		kernels, err := g.Get(j.Queue)
		if err != nil {
			return nil, err
		}
		t := newTally()
		defer func() { t.queue.free() }()
		factors, err := tint.New(j.Queue, sizes.Llama(j.Problem).Dim(), weights(j))
		if err != nil {
			return nil, err
		}
		defer func() { _ = factors.Close() }()
		m, err := llama.NewFilled(j.Queue, kernels.layers, sizes.Llama(j.Problem), weights(j), poisonedCache(j.Device, t.watch(newLayer)), factors.Kernels(kernels.kernels))
		if err != nil {
			return nil, worker.Stub("New", err)
		}
		defer func() { _ = m.Close() }()
		prompts := []int{j.Sizes["prompt"]}
		if second := j.Sizes["second"]; second > 0 {
			prompts = append(prompts, second)
		}
		tokens := tokensOf(j, m.Vocabulary)
		var logits [][]float32 // each [batch, vocabulary]
		for _, prompt := range prompts {
			n := prompt + j.Sizes["steps"]
			got, err := generate(m, tokens[:n], prompt)
			if err != nil {
				return nil, worker.Stub("Forward", err)
			}
			logits, tokens = append(logits, got...), tokens[n:]
			m.Reset()
		}
		out, err := tensor.Of(bySequence(logits, m.Vocabulary), j.Outputs[0].Shape...)
		return &problem.Answer{Tensors: []*tensor.Tensor{out}, Counts: t.calls}, err
	}
}

// weights are random ones of the case's seed, which this process need not know.
func weights(j *worker.Job) llama.Filler {
	return func(to llama.Floats, w llama.Weight) error {
		return j.Fill(to, remote.Values{Input: remote.Random, Stream: w.Stream, Scale: w.Scale, Shift: w.Base})
	}
}

// poisonedCache has caches begin as NaN: nobody may read what nobody wrote.
func poisonedCache(d device.Device, newLayer attn.NewLayer) attn.NewLayer {
	return func(q device.Queue, s attn.LayerShape, p attn.Projections, k attn.Kernels, c attn.Cache) (attn.Layer, error) {
		for _, b := range []device.Buffer[float32]{c.K, c.V} {
			if err := d.Poison(b.Memory()); err != nil {
				return nil, err
			}
		}
		return newLayer(q, s, p, k, c)
	}
}

// tokensOf are a case's tokens, [tokens][batch].
func tokensOf(j *worker.Job, vocabulary int) [][]int32 {
	x := j.In[0]
	tokens := make([][]int32, x.Shape[1])
	for i, v := range x.Data {
		at := i % x.Shape[1]
		tokens[at] = append(tokens[at], int32(problem.Token(v, vocabulary)))
	}
	return tokens
}

// generate gives the logits after a prompt and after each token that follows.
func generate(m *llama.Model, tokens [][]int32, prompt int) (all [][]float32, err error) {
	prompts := make([][]int32, m.Batch)
	for _, t := range tokens[:prompt] {
		for b := range prompts {
			prompts[b] = append(prompts[b], t[b])
		}
	}
	if err := m.Prefill(prompts); err != nil {
		return nil, during(fmt.Sprintf("a prompt of %d tokens", prompt), err)
	}
	for _, next := range append(slices.Clone(tokens[prompt:]), nil) {
		logits, err := m.Logits()
		if err != nil {
			return nil, err
		}
		all = append(all, logits)
		if next == nil {
			break
		}
		if err := m.SetNext(next); err != nil {
			return nil, err
		}
		at := m.Position()
		if err := m.Step(); err != nil {
			return nil, during(fmt.Sprintf("a decoded token with %d before it", at), err)
		}
	}
	return all, nil
}

// bySequence turns [passes][batch × vocabulary] into [batch, passes, vocabulary].
func bySequence(passes [][]float32, vocabulary int) []float32 {
	var all []float32
	for at := 0; at < len(passes[0]); at += vocabulary {
		for _, p := range passes {
			all = append(all, p[at:at+vocabulary]...)
		}
	}
	return all
}
