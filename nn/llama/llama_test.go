package llama

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn"
)

var small = Config{Hidden: 24, Heads: 3, Layers: 2, Vocabulary: 37, MLP: 40, MaxSeq: 12, Prompt: 5, Batch: 2}

// start makes a model on a device that can record (or not).
func start(t *testing.T, d device.Device, c Config, record bool) *Model {
	t.Helper()
	q := device.QueueOf(d)
	l, err := nn.New(q)
	require.NoError(t, err)
	k, err := nn.PlainKernels(q, l)
	require.NoError(t, err)
	if record {
		q = d
	}
	m, err := New(q, l, c, 7, nn.NewLayer, k)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	return m
}

// TestRecordedStepsAreTheSame: greedy tokens and logits do not depend on whether
// steps are recorded.
func TestRecordedStepsAreTheSame(t *testing.T) {
	d := attntest.Device(t)
	var all [2][][]float32
	for i, record := range []bool{false, true} {
		m := start(t, d, small, record)
		for range 2 { // after Reset the graph goes on
			require.NoError(t, m.Prefill([][]int32{{1, 2, 3}, {36, 0, 5}}))
			for range 5 {
				require.NoError(t, m.Step())
				logits, err := m.Logits()
				require.NoError(t, err)
				all[i] = append(all[i], logits)
			}
			assert.Equal(t, 8, m.Position())
			m.Reset()
		}
		assert.Equal(t, record, m.Recorded())
		attntest.Findings(t, d)
	}
	assert.Equal(t, all[0], all[1])
	assert.Equal(t, all[0][:5], all[0][5:], "the same prompt again")
}

func TestGreedy(t *testing.T) {
	m := start(t, attntest.Device(t), small, true)
	require.NoError(t, m.Prefill([][]int32{{1, 2, 3, 4, 5}, {9, 8, 7, 6, 5}}))
	for range 3 {
		logits, err := m.Logits()
		require.NoError(t, err)
		next, err := m.Next()
		require.NoError(t, err)
		for b, token := range next {
			best, largest := 0, math.Inf(-1)
			for i, v := range logits[b*m.Vocabulary : (b+1)*m.Vocabulary] {
				if float64(v) > largest {
					best, largest = i, float64(v)
				}
			}
			assert.EqualValues(t, best, token)
		}
		require.NoError(t, m.Step())
	}
}

func TestWhatIsRefused(t *testing.T) {
	m := start(t, attntest.Device(t), small, false)
	assert.ErrorContains(t, m.Step(), "Prefill comes first")
	assert.ErrorContains(t, m.Prefill([][]int32{{1}}), "1 prompts, want one for each of 2")
	assert.ErrorContains(t, m.Prefill([][]int32{{1}, {1, 2}}), "prompt 1 has 2 tokens, the first has 1")
	assert.ErrorContains(t, m.Prefill([][]int32{{}, {}}), "a prompt of 0 tokens")
	six := []int32{1, 2, 3, 4, 5, 6}
	assert.ErrorContains(t, m.Prefill([][]int32{six, six}), "a prompt of 6 tokens, want 1 to 5")
	require.NoError(t, m.Prefill([][]int32{six[:5], six[1:]}))
	assert.ErrorContains(t, m.Prefill([][]int32{six[:5], six[1:]}), "Reset comes first")
	for range small.MaxSeq - 5 {
		require.NoError(t, m.Step())
	}
	assert.ErrorContains(t, m.Step(), "the cache is full: it has 12 slots")
}

func TestConfig(t *testing.T) {
	for _, change := range []func(c *Config){
		func(c *Config) { c.Heads = 5 }, func(c *Config) { c.Hidden = 27 }, func(c *Config) { c.Prompt = 13 },
		func(c *Config) { c.Layers = 0 }, func(c *Config) { c.Heads = 0 },
	} {
		c := small
		change(&c)
		assert.Error(t, c.Check())
		_, err := New(nil, nil, c, 1, nn.NewLayer, attn.Kernels{})
		assert.Error(t, err)
	}
	weights, cache, _ := Sizes["full"].Bytes()
	assert.InDelta(t, 26e9, float64(weights), 0.3e9)
	assert.EqualValues(t, 2*4*24*4*Sizes["full"].MaxSeq*4096, cache)
}

// A weight's values keep what passes through them near 1.
func TestWeights(t *testing.T) {
	streams := map[uint32]bool{}
	for _, w := range small.Weights() {
		assert.False(t, streams[w.Stream], w.Name)
		streams[w.Stream] = true
		values, err := w.Values(1)
		require.NoError(t, err)
		var sum, squares float64
		for _, v := range values {
			sum += float64(v)
			squares += float64(v-w.Base) * float64(v-w.Base)
		}
		assert.InDelta(t, float64(w.Base), sum/float64(len(values)), 0.2, w.Name)
		assert.InDelta(t, float64(w.Scale)*deviation, math.Sqrt(squares/float64(len(values))), 0.5*float64(w.Scale), w.Name)
	}
}

func TestFitting(t *testing.T) {
	for free, want := range map[int64]string{80 << 30: "full", 24 << 30: "large", 8 << 30: "medium", 1 << 30: "small"} {
		name, err := Fitting(free)
		require.NoError(t, err)
		assert.Equal(t, want, name)
	}
	_, err := Fitting(1 << 20)
	assert.ErrorContains(t, err, `the smallest model, "small", takes`)
	for name, c := range Sizes {
		assert.NoError(t, c.Check(), name)
		t.Logf("%s: %.1f GB", name, float64(c.Total())/1e9)
	}
}
