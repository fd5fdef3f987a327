package gpt2_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/gpt2"
	"flashlab/nn/lm"
)

// besides is a simulator that does aside what a GPU does: nothing runs meanwhile, so it may.
type besides struct {
	device.Device
	copies int
}

func (b *besides) NewEvent() (device.Event, error) { return past{}, nil }
func (b *besides) CopyOutAside(dst []byte, src device.Memory) error {
	b.copies++
	return b.CopyOut(dst, src)
}

type past struct{}

func (past) Record() error                             { return nil }
func (past) Passed() (bool, error)                     { return true, nil }
func (past) Since(device.Event) (time.Duration, error) { return 0, nil }
func (past) Close() error                              { return nil }

// counted is a model whose steps with a token that is known are counted.
type counted struct {
	*gpt2.Model
	steps int
}

func (c *counted) Step(token int32) error {
	c.steps++
	return c.Model.Step(token)
}

func TestAStepIsQueuedBeforeItsTokenIsKnown(t *testing.T) {
	d := &besides{Device: attntest.Device(t)}
	w, err := gpt2.Random(odd, 3)
	require.NoError(t, err)
	l, err := nn.New(device.QueueOf(d))
	require.NoError(t, err)
	k, err := nn.PlainKernels(device.QueueOf(d), l)
	require.NoError(t, err)
	inner, err := gpt2.New(d, l, w, nn.NewLayer, k)
	require.NoError(t, err)
	t.Cleanup(func() { _ = inner.Close() })
	m := &counted{Model: inner}
	write := func(way string, prompt, tokens int, stop int32) (written []int32, why string) {
		require.NoError(t, m.StepBy(way))
		text := make([]int32, prompt)
		for i := range text {
			text[i] = int32(5 * i % odd.Vocabulary)
		}
		m.steps, d.copies = 0, 0
		timing, err := lm.Generate(m, lm.Generation{Prompt: text, Tokens: tokens, Stop: stop, Emit: func(token int32) error {
			written = append(written, token)
			return nil
		}})
		require.NoError(t, err)
		return written, timing.Why
	}
	const by = "persistent,blocks=5,slot=204,slots=4"
	want, _ := write("graph", 17, 6, -1)
	assert.Equal(t, 1, m.steps, "with the first token: until then nobody had asked for more")
	assert.Equal(t, 4, d.copies, "nobody steps with the last")
	for _, way := range []string{"graph", by} {
		got, _ := write(way, 17, 6, -1)
		assert.Equal(t, want, got)
		assert.Equal(t, 0, m.steps)
		assert.Equal(t, 5, d.copies)
	}

	// A text that ends has one step too many, which the next one does not see.
	at := 1
	for slices.Contains(want[:at], want[at]) {
		at++
		require.Less(t, at, len(want)-1, "%v: no token of these ends the text later than with the first: take another seed", want)
	}
	ended, why := write(by, 17, 6, want[at])
	assert.Len(t, ended, at)
	assert.Equal(t, "the model ended the text", why)
	assert.Equal(t, want[:len(ended)], ended)
	again, _ := write(by, 17, 6, -1)
	assert.Equal(t, want, again)

	// Until all positions are used up.
	full, why := write(by, odd.Positions-2, 9, -1)
	assert.Equal(t, "the model has 130 positions", why)
	graph, _ := write("graph", odd.Positions-2, 9, -1)
	assert.Equal(t, graph, full)

	// One way goes on from what another has queued.
	require.NoError(t, m.Prefill([]int32{3, 4}))
	var plain []int32
	for range 6 {
		token, err := m.Greedy()
		require.NoError(t, err)
		require.NoError(t, m.Step(token))
		plain = append(plain, token)
	}
	require.NoError(t, m.Prefill([]int32{3, 4}))
	for i, token := range plain {
		require.NoError(t, m.StepBy([]string{by, "graph"}[i/2%2]))
		got, stepped, err := m.GreedyOn()
		require.NoError(t, err)
		assert.True(t, stepped)
		assert.Equal(t, token, got)
	}
}
