package gpt2

import "flashlab/device"

// recordedPrompt is the pass over a prompt as a graph: its kernels take less time than queuing them one by one.
type recordedPrompt struct {
	wanted bool
	tokens int // of the last prompt
	graph  device.Graph
}

// RecordPrompts has a prompt recorded that is as long as the one before, which takes milliseconds; and launched as a graph
// as long as prompts keep that length. It changes nothing where there are no graphs, or where the layers do what none can hold.
func (m *Model) RecordPrompts() { m.prompt.wanted = m.device != nil }

// readPrompt queues the pass over a prompt, and all that follows it.
func (m *Model) readPrompt(tokens int) (err error) {
	p := &m.prompt
	switch {
	case !p.wanted:
		return m.queuePrompt(tokens, nil)
	case p.tokens != tokens:
		if err := p.forget(); err != nil {
			return err
		}
		p.tokens = tokens
		return m.queuePrompt(tokens, nil)
	case p.graph == nil:
		if p.graph, err = m.device.Record(func(device.Queue) error { return m.queuePrompt(tokens, nil) }); err != nil {
			p.wanted = false
			return m.queuePrompt(tokens, nil)
		}
	}
	if p.graph.Launch() == nil {
		return nil
	}
	if err := p.forget(); err != nil { // such as when the layers' scratch has grown for others
		return err
	}
	return m.queuePrompt(tokens, nil)
}

// queuePrompt leaves the first token in tokens, and moves on by as many as the prompt has; f, if there is one, sees the
// logits of each position.
func (m *Model) queuePrompt(tokens int, f func(int, []float32) error) error {
	x, err := m.pass(tokens)
	if err != nil {
		return err
	}
	if f != nil {
		if err := m.eachRow(x, tokens, f); err != nil {
			return err
		}
	}
	last, _ := x.Slice((tokens-1)*m.config.Width, tokens*m.config.Width)
	if err := m.head(last); err != nil {
		return err
	}
	return m.nn.GoOn(m.before.Device, m.after.Device, m.tokens, tokens) // nobody need wait for it, as for a copy
}

func (p *recordedPrompt) forget() error {
	graph := p.graph
	p.tokens, p.graph = 0, nil
	if graph == nil {
		return nil
	}
	return graph.Close()
}
