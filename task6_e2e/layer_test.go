package e2e

// The public checks: `go test ./task6_e2e`. They compare your layer with a plain
// one; `make grade TASK=6` has more of them, and whole models.

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
)

func TestPrompt(t *testing.T) {
	b := start(t, 2, 5)
	b.same(5, 0, "QKV, SplitHeads of q, k and v, Prefill with the causal mask, MergeHeads, Out")
	if b.decodes > 0 || b.prefills != 1 {
		t.Errorf("the prefill kernel was called %d times, the decoding one %d times; want 1 and 0", b.prefills, b.decodes)
	}
	attntest.Findings(t, b.d)
}

func TestDecoding(t *testing.T) {
	b := start(t, 2, 5)
	b.same(5, 0, "TestPrompt comes first")
	b.same(1, 5, "is the cache updated before it is read, by prompts too? A token sees itself: s.After")
	b.same(1, 6, "does each token go into its own slot, s.Before?")
	b.same(1, 7, "s.Before and s.After are those of the step")
	if b.decodes != 3 || b.prefills != 1 {
		t.Errorf("the prefill kernel was called %d times, the decoding one %d times; want 1 and 3", b.prefills, b.decodes)
	}
	attntest.Findings(t, b.d)
}

func TestPromptOfOneToken(t *testing.T) {
	b := start(t, 1, 1)
	b.same(1, 0, "a prompt may have a single token; it belongs into the cache like any other")
	b.same(1, 1, "the first token is not in the cache; or this one came with the prompts' kernel, which does not look there")
	attntest.Findings(t, b.d)
}

func TestSecondSequence(t *testing.T) {
	b := start(t, 2, 5)
	b.same(5, 0, "TestPrompt comes first")
	b.same(1, 5, "TestDecoding comes first")
	b.same(3, 0, "a new prompt: go by s alone, not by what was seen before")
	b.same(1, 3, "slots beyond s.After still hold the first sequence")
	attntest.Findings(t, b.d)
}

// TestRecorded replays a decoding step, as a model does.
func TestRecorded(t *testing.T) {
	b := start(t, 2, 4)
	b.same(4, 0, "TestPrompt comes first")
	s := b.step(1, 4)
	x := attntest.Input(t, b.d, "x", b.numbers(2*b.hidden, 7, 1))
	out := attntest.Output(t, b.d, "out", x.Len())
	step, err := b.d.Record(func(device.Queue) error { return b.yours.Forward(out, x, s) })
	if err != nil {
		hint := ""
		if errors.Is(err, device.ErrNotRecordable) {
			hint = "\n  hint: allocate in New, with room for MaxRows rows; Forward may only launch"
		}
		t.Fatalf("Forward of a decoding step cannot be recorded: %v%s", err, hint)
	}
	defer func() { require.NoError(t, step.Close()) }()
	for before := 4; before < 7; before++ {
		s := b.step(1, before)
		want := b.run(b.plain, x, s)
		require.NoError(t, step.Launch())
		got, err := out.CopyOut(b.d)
		require.NoError(t, err)
		for i := range want {
			if d := want[i] - got[i]; !(d <= 1e-4 && d >= -1e-4) {
				t.Fatalf("a recorded step, replayed with %d tokens before: element %d is %v, want %v\n  hint: when it is replayed, only device memory has changed: s.Before.Device, s.After.Device",
					before, i, got[i], want[i])
			}
		}
	}
}
