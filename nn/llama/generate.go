package llama

import (
	"errors"
	"fmt"
	"slices"

	"flashlab/attn"
	"flashlab/device"
)

// Reset forgets all sequences. The cache keeps what is in it: nobody may read
// beyond what the next sequences have put there.
func (m *Model) Reset() {
	m.before.Host = make([]int, m.Batch)
	m.after.Host = make([]int, m.Batch)
}

// Prefill takes the prompts, one for each sequence and all of one length. Then
// the logits are those after the prompts' last tokens.
func (m *Model) Prefill(prompts [][]int32) error {
	if len(prompts) != m.Batch {
		return fmt.Errorf("prefill: %d prompts, want one for each of %d sequences", len(prompts), m.Batch)
	}
	count := len(prompts[0])
	if m.before.Host[0] != 0 {
		return errors.New("prefill: there are sequences already: Reset comes first")
	}
	if count < 1 || count > m.Prompt {
		return fmt.Errorf("prefill: a prompt of %d tokens, want 1 to %d", count, m.Prompt)
	}
	var tokens []int32
	for b, p := range prompts {
		if len(p) != count {
			return fmt.Errorf("prefill: prompt %d has %d tokens, the first has %d: all must be of one length", b, len(p), count)
		}
		tokens = append(tokens, p...)
	}
	room, err := m.prompt.Slice(0, len(tokens))
	if err != nil {
		return err
	}
	if err := room.CopyIn(m.queue, tokens); err != nil {
		return err
	}
	for _, c := range []struct {
		attn.PerSequence
		n int
	}{{m.before, 0}, {m.after, count}} {
		for b := range c.Host {
			c.Host[b] = c.n
		}
		if err := c.Device.CopyIn(m.queue, slices.Repeat([]int32{int32(c.n)}, m.Batch)); err != nil {
			return err
		}
	}
	if err := m.pass(room, count); err != nil {
		m.Reset()
		return err
	}
	m.moveOn(count)
	return nil
}

// Step takes one more token for each sequence: those that Next holds, which are
// the most likely ones unless SetNext has said otherwise. The work is the
// same in every step, and all that changes is in device memory. So the second step
// is recorded as a graph (the first may still allocate), which is launched from
// then on. If recording is refused, Direct says why, and steps go on without a
// graph.
func (m *Model) Step() error {
	switch at := m.before.Host[0]; {
	case at == 0:
		return errors.New("step: there is no sequence yet: Prefill comes first")
	case at == m.MaxSeq:
		return fmt.Errorf("step: the cache is full: it has %d slots", m.MaxSeq)
	}
	if err := m.decode(); err != nil {
		return err
	}
	m.moveOn(1)
	return nil
}

func (m *Model) decode() error {
	one := func(device.Queue) error { return m.pass(m.next, 1) }
	if m.device == nil || !m.warm || m.Direct != nil {
		m.warm = true
		return one(nil)
	}
	if m.step == nil {
		step, err := m.device.Record(one)
		if errors.Is(err, device.ErrNotRecordable) {
			m.Direct = err
			return one(nil)
		}
		if err != nil {
			return fmt.Errorf("record a decoding step: %w", err)
		}
		m.step = step
	}
	return m.step.Launch()
}

// moveOn does on this side what pass has queued for the device's.
func (m *Model) moveOn(count int) {
	for b := range m.before.Host {
		m.before.Host[b] += count
		m.after.Host[b] = m.before.Host[b] + 1
	}
}

// Position is the number of tokens of each sequence.
func (m *Model) Position() int { return m.before.Host[0] }

// Recorded tells whether steps run as a graph by now.
func (m *Model) Recorded() bool { return m.step != nil }

// Next fetches the tokens to go on with: -1 where the logits hold a NaN.
func (m *Model) Next() ([]int32, error) { return m.next.CopyOut(m.queue) }

// SetNext makes the next step go on with other tokens.
func (m *Model) SetNext(tokens []int32) error { return m.next.CopyIn(m.queue, tokens) }

// Logits fetches the logits after the last pass, [Batch, Vocabulary].
func (m *Model) Logits() ([]float32, error) { return m.logits.CopyOut(m.queue) }
