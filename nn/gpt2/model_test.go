package gpt2

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/lm"
)

// small is odd in every size, so that nothing fits a tile.
var small = Config{Width: 51, Heads: 3, Layers: 2, Positions: 37, Vocabulary: 113, Inner: 203, Epsilon: 1e-5}

// onDevice is a random model there, with plain attention.
func onDevice(t *testing.T, c Config) (*Model, Weights) {
	d := attntest.Device(t)
	w, err := Random(c, 7)
	require.NoError(t, err)
	return newModel(t, d, w), w
}

func newModel(t testing.TB, d device.Device, w Weights) *Model {
	l, err := nn.New(device.QueueOf(d))
	require.NoError(t, err)
	k, err := nn.PlainKernels(device.QueueOf(d), l)
	require.NoError(t, err)
	m, err := New(d, l, w, nn.NewLayer, k)
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func same(t *testing.T, want, got []float32, note string) {
	t.Helper()
	require.Len(t, got, len(want), note)
	var diff, size float64
	for i := range want {
		diff += math.Pow(float64(want[i]-got[i]), 2)
		size += float64(want[i]) * float64(want[i])
	}
	assert.Less(t, math.Sqrt(diff/size), 1e-5, note) // false for NaN
}

// Halves that are there already are those of a model's own matrices.
func TestCutWeights(t *testing.T) {
	m, _ := onDevice(t, small)
	prompt := make([]int32, 20) // more rows than those that linear.cu takes
	require.NoError(t, m.Prefill(prompt))
	want, err := m.Logits()
	require.NoError(t, err)
	require.NoError(t, m.CutWeights())
	require.NoError(t, m.Prefill(prompt))
	got, err := m.Logits()
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// Prompts of the same length are a graph from the second on, and give the same.
func TestRecordPrompts(t *testing.T) {
	m, _ := onDevice(t, small)
	logits := func(tokens ...int32) []float32 {
		require.NoError(t, m.Prefill(tokens))
		token, err := m.Greedy()
		require.NoError(t, err)
		require.NoError(t, m.Step(token))
		got, err := m.Logits()
		require.NoError(t, err)
		return got
	}
	one, other, longer := logits(1, 2, 3), logits(4, 5, 6), logits(1, 2, 3, 4)
	m.RecordPrompts()
	for range 2 {
		for range 3 {
			require.Equal(t, one, logits(1, 2, 3))
			require.Equal(t, other, logits(4, 5, 6))
		}
		require.NotNil(t, m.prompt.graph)
		require.Equal(t, longer, logits(1, 2, 3, 4))
		require.Nil(t, m.prompt.graph)
	}
}

func TestModelAgreesWithPlainGo(t *testing.T) {
	m, w := onDevice(t, small)
	r, err := NewReference(w, nil)
	require.NoError(t, err)
	for _, prompt := range [][]int32{{5}, {1, 2}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2}} {
		require.NoError(t, m.Prefill(prompt))
		require.NoError(t, r.Prefill(prompt))
		for step := range 6 {
			got, err := m.Logits()
			require.NoError(t, err)
			same(t, r.logits, got, "")
			mine, err := m.Greedy()
			require.NoError(t, err)
			theirs, _ := r.Greedy()
			assert.Equal(t, theirs, mine)
			next := theirs
			if step%2 == 1 {
				next = int32(100 + step) // what the device did not pick
			}
			require.NoError(t, m.Step(next))
			require.NoError(t, r.Step(next))
			assert.Equal(t, r.Room(), m.Room())
		}
	}
	assert.NoError(t, m.Direct, "steps are recorded")
	assert.NotNil(t, m.graph)
}

func TestEachPositionHasItsLogits(t *testing.T) {
	m, w := onDevice(t, small)
	r, err := NewReference(w, nil)
	require.NoError(t, err)
	text := []int32{3, 1, 4, 1, 5, 9, 2}
	var want [][]float32
	require.NoError(t, r.Each(text, func(i int, logits []float32) error { want = append(want, logits); return nil }))
	require.NoError(t, m.Each(text, func(i int, logits []float32) error {
		same(t, want[i], logits, "")
		return nil
	}))
	require.NoError(t, m.Step(8))
	require.NoError(t, r.Step(8))
	got, err := m.Logits()
	require.NoError(t, err)
	same(t, r.logits, got, "a text may be gone on with")

	long := make([]int32, 2*small.Positions+5)
	for i := range long {
		long[i] = int32(i * i % small.Vocabulary)
	}
	a, err := lm.Perplexity(m, long)
	require.NoError(t, err)
	b, err := lm.Perplexity(r, long)
	require.NoError(t, err)
	assert.InEpsilon(t, b, a, 1e-4)
	_, err = lm.Perplexity(r, long[:1])
	assert.ErrorContains(t, err, "two tokens")
}

func TestTheReferenceDoesNotDependOnItsCache(t *testing.T) {
	w, err := Random(small, 3)
	require.NoError(t, err)
	r, err := NewReference(w, nil)
	require.NoError(t, err)
	text := []int32{9, 8, 7, 6, 5, 4}
	var whole [][]float32
	require.NoError(t, r.Each(text, func(_ int, l []float32) error { whole = append(whole, l); return nil }))
	require.NoError(t, r.Prefill(text[:2]))
	for i := 2; i < len(text); i++ {
		same(t, whole[i-1], r.logits, "")
		require.NoError(t, r.Step(text[i]))
	}
}

func TestWhatCannotBeGenerated(t *testing.T) {
	m, w := onDevice(t, small)
	r, err := NewReference(w, nil)
	require.NoError(t, err)
	for _, one := range []LM{m, r} {
		assert.ErrorContains(t, one.Prefill(nil), "empty")
		assert.ErrorIs(t, one.Prefill(make([]int32, 38)), lm.ErrFull)
		assert.ErrorContains(t, one.Prefill([]int32{0, 113}), "token 1 of the prompt is 113")
		require.NoError(t, one.Prefill(make([]int32, 37)))
		assert.Zero(t, one.Room())
		assert.ErrorIs(t, one.Step(1), lm.ErrFull)
	}
	require.NoError(t, m.Prefill([]int32{1}))
	assert.Error(t, m.Step(-1))
}

func TestGenerate(t *testing.T) {
	m, w := onDevice(t, small)
	r, err := NewReference(w, nil)
	require.NoError(t, err)
	write := func(one LM, g lm.Generation) (tokens []int32, timing lm.Timing) {
		g.Emit = func(token int32) error { tokens = append(tokens, token); return nil }
		timing, err := lm.Generate(one, g)
		require.NoError(t, err)
		return tokens, timing
	}
	g := lm.Generation{Prompt: []int32{1, 2, 3}, Tokens: 9, Stop: -1}
	want, timing := write(r, g)
	assert.Len(t, want, 9)
	assert.Len(t, timing.Each, 8)
	got, _ := write(m, g)
	assert.Equal(t, want, got)

	g.Sampler = nn.Sampler{Temperature: 1, TopK: 50, TopP: 0.95, Seed: 4}
	sampled, _ := write(r, g)
	assert.NotEqual(t, want, sampled)
	again, _ := write(r, g)
	assert.Equal(t, sampled, again)

	g = lm.Generation{Prompt: []int32{1, 2, 3}, Tokens: 100, Stop: -1}
	full, timing := write(r, g)
	assert.Len(t, full, 35) // the last one needs no position
	assert.Contains(t, timing.Why, "37 positions")
	g.Stop = want[4]
	stopped, timing := write(r, g)
	assert.Equal(t, want[:len(stopped)], stopped)
	assert.NotContains(t, stopped, g.Stop)
	assert.Contains(t, timing.Why, "ended the text")

	_, err = lm.Generate(r, lm.Generation{Prompt: []int32{1}, Tokens: 0})
	assert.Error(t, err)
	_, err = lm.Generate(r, lm.Generation{Prompt: []int32{1}, Tokens: 1, Sampler: nn.Sampler{TopP: 2}})
	assert.ErrorContains(t, err, "top-p")
}
