package main

import (
	"fmt"
	"slices"
	"time"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/tasks/talk"
	"flashlab/nn"
	"flashlab/nn/gpt2"
	"flashlab/nn/lm"
)

// runner is a model that can write, and what to say of it.
type runner struct {
	gpt2.LM
	about  string
	memory *talk.Counting // nil in plain Go
	model  *gpt2.Model
	close  func()
}

// runner makes the model as the flags ask.
func (c choices) runner(w gpt2.Weights) (*runner, error) {
	d, err := talk.OpenDevice(c.device)
	if err != nil {
		return nil, err
	}
	made, k, about, err := c.parts(device.QueueOf(d))
	if err == nil {
		var m *gpt2.Model
		if m, err = gpt2.New(d, k.layers, w, made, k.own); err == nil && c.step != "graph" {
			about += "; a step by " + c.step
			err = m.StepBy(c.step)
		}
		if err == nil && d.Info().Kind == device.CUDA {
			m.RecordPrompts()
			err = m.CutWeights() // for prompts, which nobody waits for in the simulator
		}
		if err == nil {
			return &runner{m, fmt.Sprintf("on %s, with %s", d.Info().Name, about), d, m, func() { _ = m.Close(); _ = d.Close() }}, nil
		}
	}
	_ = d.Close()
	return nil, err
}

// parts are what the layers' attention is made of.
func (c choices) parts(q device.Queue) (attn.NewLayer, kit, string, error) {
	if c.kernels == "given" {
		k, err := newPlain(q)
		k.own = k.plain
		return nn.NewLayer, k, "the course's own kernels", err
	}
	k, err := newKit(q)
	return k.calls.newLayer, k, "the kernels of tasks 4 and 5 and the layer of task 6", err
}

// inGo is the model in plain Go; without an attention, with its own.
func inGo(w gpt2.Weights, attend gpt2.Attend) (*runner, error) {
	m, err := gpt2.NewReference(w, attend)
	if err != nil {
		return nil, err
	}
	return &runner{LM: m, about: "in plain Go", close: func() {}}, nil
}

// warm runs a few tokens on a GPU before any are timed: it loads kernels when they
// are first launched, and the second prompt of a length and the second step are recorded.
func (r *runner) warm(prompt []int32) error {
	if r.memory == nil || r.memory.Info().Kind != device.CUDA {
		return nil
	}
	for range 2 {
		if _, err := lm.Generate(r.LM, lm.Generation{Prompt: prompt, Tokens: 4, Stop: -1, Emit: func(int32) error { return nil }}); err != nil {
			return err
		}
	}
	return nil
}

// report says how long it took.
func (r *runner) report(t lm.Timing, prompt int) {
	if t.Why != "" {
		fmt.Printf("(ended: %s)\n", t.Why)
	}
	fmt.Printf("\nprompt of %d tokens, first token after %s", prompt, talk.Short(t.First))
	if n := len(t.Each); n > 0 {
		times := slices.Sorted(slices.Values(t.Each))
		var sum time.Duration
		for _, one := range times {
			sum += one
		}
		fmt.Printf("; then %s a token (mean; median %s, 95 %% within %s), %.4g tokens/s",
			talk.Short(sum/time.Duration(n)), talk.Short(times[n/2]), talk.Short(times[min(n*95/100, n-1)]), float64(n)/sum.Seconds())
	}
	fmt.Println()
	if r.memory == nil {
		return
	}
	fmt.Printf("device memory: %.1f MB", float64(r.memory.Most)/1e6)
	if r.memory.Info().Kind == device.Sim {
		fmt.Print("; times are this machine's, not a GPU's")
	}
	if r.model.Direct != nil {
		fmt.Printf("\na decoding step is not recorded as a graph: %v", r.model.Direct)
	}
	fmt.Println()
}
