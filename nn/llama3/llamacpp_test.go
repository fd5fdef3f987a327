package llama3

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/open"
	"flashlab/device/sim"
	"flashlab/nn/gguf/gguftest"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/lm"
)

// llamaCpps are the goldens of llama.cpp itself (testdata/llamacpp.py): of a small random model, and of SmolLM2.
func llamaCpps(t *testing.T) (all struct{ Small, SmolLM2 golden }) {
	t.Helper()
	data, err := os.ReadFile("testdata/llamacpp.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &all))
	require.Len(t, all.Small.Cases, 3)
	require.Len(t, all.SmolLM2.Cases, 10)
	return all
}

// follows gives a model the tokens of a golden, each of which has to be the likeliest one, and is the largest difference of
// a logit.
func (g golden) follows(t *testing.T, r *Reference, count, tokens int) (largest float64) {
	t.Helper()
	seen := 0
	for _, c := range g.Cases[:count] {
		require.Len(t, c.Greedy, tokens)
		text := append(append([]int32{}, c.Tokens...), c.Greedy[:tokens-1]...)
		require.NoError(t, r.Each(text, func(at int, logits []float32) error {
			i := at - len(c.Tokens) + 1
			if i < 0 {
				return nil
			}
			best, err := lm.Best(logits)
			assert.Equal(t, c.Greedy[i], best, "%s: token %d, which leads by %v", c.Prompt, i, c.Margins[i])
			largest = max(largest, g.off(c.Logits[i], logits))
			seen++
			return err
		}))
	}
	assert.Equal(t, tokens*count, seen)
	return largest
}

// TestLlamaCppAgreesOnASmallModel: its ids of three texts, and 20 greedy tokens with logits behind each: in plain Go, and on
// the kernels of tasks 4 and 5 in the simulator.
func TestLlamaCppAgreesOnASmallModel(t *testing.T) {
	g := llamaCpps(t).Small
	m, err := OpenPath("testdata/small.gguf")
	require.NoError(t, err)
	defer m.Close()
	k, err := bpe.FromGGUF(m.(*GGUF).Metadata())
	require.NoError(t, err)
	r, err := NewReference(m)
	require.NoError(t, err)
	largest := g.follows(t, r, 3, 20)
	t.Logf("the largest difference of a logit is %.2g", largest)
	assert.Less(t, largest, smallBound)

	d, err := open.Device("sim", open.Options{Sim: sim.Options{}})
	require.NoError(t, err)
	defer d.Close()
	on := solutionsIn(t, d, m, Room{Positions: 64})
	for _, c := range g.Cases {
		assert.Equal(t, c.Tokens, k.Encode(c.Prompt), c.Prompt)
		require.NoError(t, on.Prefill(c.Tokens))
		for i := range 8 {
			logits, err := on.Logits()
			require.NoError(t, err)
			assert.Less(t, g.off(c.Logits[i], logits), smallBound, "%s: token %d", c.Prompt, i)
			best, err := on.Greedy()
			require.NoError(t, err)
			assert.Equal(t, c.Greedy[i], best, "%s: token %d, which leads by %v", c.Prompt, i, c.Margins[i])
			require.NoError(t, on.Step(best))
		}
	}
}

// smallBound and trainedBound are what logits may differ by: some ten times of what they do.
const smallBound, trainedBound = 1e-4, 1e-3

// TestLlamaCppsGoldensTellMistakes: a model that is read wrongly goes on otherwise.
func TestLlamaCppsGoldensTellMistakes(t *testing.T) {
	g := llamaCpps(t).Small
	m, err := OpenPath("testdata/small.gguf")
	require.NoError(t, err)
	defer m.Close()
	for name, change := range map[string]func(c *Config){
		"frequencies that nothing divides": func(c *Config) { c.Divisors = nil },
		"another base":                     func(c *Config) { c.Rotary = 500000 },
		"another epsilon":                  func(c *Config) { c.Epsilon = 1e-3 },
		"the table as the head":            func(c *Config) { c.Tied = true },
	} {
		config := m.Config()
		change(&config)
		r, err := NewReference(mistaken{m, config})
		require.NoError(t, err)
		largest := 0.0
		for _, c := range g.Cases {
			require.NoError(t, r.Prefill(c.Tokens))
			logits, err := r.Logits()
			require.NoError(t, err)
			largest = max(largest, g.off(c.Logits[0], logits))
		}
		assert.Greater(t, largest, 10*smallBound, name)
	}
}

// TestNumpyAndLlamaCppAgreeOnSmolLM2: two programs that share no code, on the trained model's weights, in float32: what nn is
// held against is right, and nobody needs the model to see it.
func TestNumpyAndLlamaCppAgreeOnSmolLM2(t *testing.T) {
	numpy, cpp := numpys(t), llamaCpps(t).SmolLM2
	require.Equal(t, numpy.Kept, cpp.Kept)
	largest := 0.0
	for i, c := range cpp.Cases {
		assert.Equal(t, numpy.Cases[i].Tokens, c.Tokens)
		assert.Equal(t, numpy.Cases[i].Greedy, c.Greedy, c.Prompt)
		for j, row := range c.Logits {
			for k, v := range row {
				largest = max(largest, math.Abs(v-numpy.Cases[i].Logits[j][k]))
			}
		}
	}
	t.Logf("the largest difference of a logit is %.2g", largest)
	assert.Less(t, largest, trainedBound)
}

// TestLlamaCppAgreesOnSmolLM2: the trained model, where its file is; two of the ten prompts, all with FLASHLAB_ALL=1.
func TestLlamaCppAgreesOnSmolLM2(t *testing.T) {
	m, err := OpenPath(gguftest.SmolLM2(t))
	require.NoError(t, err)
	defer m.Close()
	r, err := NewReference(m)
	require.NoError(t, err)
	count := 2
	if os.Getenv("FLASHLAB_ALL") != "" {
		count = 10
	}
	largest := llamaCpps(t).SmolLM2.follows(t, r, count, 50)
	t.Logf("%d tokens; the largest difference of a logit is %.2g", 50*count, largest)
	assert.Less(t, largest, trainedBound)
}
