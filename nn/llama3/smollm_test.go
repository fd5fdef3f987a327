package llama3

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/open"
	"flashlab/device/sim"
	"flashlab/nn/gguf/gguftest"
)

// golden is what numpy's float32 model goes on with (testdata/smollm.py).
type golden struct {
	Kept  []int
	Cases []struct {
		Prompt         string
		Tokens, Greedy []int32
		Margins        []float64
		Logits         [][]float64
	}
}

func numpys(t *testing.T) (g golden) {
	t.Helper()
	data, err := os.ReadFile("testdata/smollm.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &g))
	require.Len(t, g.Cases, 10)
	return g
}

// off is the largest difference of the logits that were kept.
func (g golden) off(want []float64, got []float32) (largest float64) {
	for k, id := range g.Kept {
		largest = max(largest, math.Abs(want[k]-float64(got[id])))
	}
	return largest
}

// TestSmolLM2 holds the trained model, read from its file, against numpy's: prompts with 50 greedy tokens each, and some
// logits behind each of these. The tokens are given, and each has to be the likeliest one.
func TestSmolLM2(t *testing.T) {
	path := gguftest.SmolLM2(t)
	g := numpys(t)
	m, err := OpenPath(path)
	require.NoError(t, err)
	defer m.Close()
	assert.Equal(t, "30 layers, 576 wide, 9 heads × 64 on 3 of keys and values, MLP 1536, 49152 tokens, 8192 positions, 134.5 million weights", m.Config().String())
	assert.Contains(t, m.About(), "SmolLM2-135M-Instruct.Q4_1.gguf, weights already rounded to Q4_1 (78 %), Q8_0 (21 %)")
	r, err := NewReference(m)
	require.NoError(t, err)
	count := 2
	if os.Getenv("FLASHLAB_ALL") != "" {
		count = len(g.Cases)
	}
	largest := g.follows(t, r, count, 50)
	t.Logf("%d tokens; the largest difference of a logit is %.2g", 50*count, largest)
	assert.Less(t, largest, trainedBound)
}

// TestSmolLM2OnADevice: the same on a student's kernels: the beginning of one answer in the simulator, without its checks, and
// all of them on a GPU.
func TestSmolLM2OnADevice(t *testing.T) {
	path := gguftest.SmolLM2(t)
	if os.Getenv("FLASHLAB_ALL") == "" {
		t.Skip("it takes a minute in the simulator: FLASHLAB_ALL=1 runs it")
	}
	g := numpys(t)
	d, err := open.Device("auto", open.Options{Sim: sim.Options{Memory: 8 << 30}})
	require.NoError(t, err)
	defer d.Close()
	cases, tokens := g.Cases, 50
	if d.Info().Kind == device.Sim {
		cases, tokens = cases[:1], 4
	}
	w, err := OpenPath(path)
	require.NoError(t, err)
	defer w.Close()
	m := solutionsIn(t, d, w, Room{Positions: 128})
	for _, c := range cases {
		require.NoError(t, m.Prefill(c.Tokens))
		for i := range tokens {
			logits, err := m.Logits()
			require.NoError(t, err)
			assert.Less(t, g.off(c.Logits[i], logits), 2e-3, "%s: token %d", c.Prompt, i)
			best, err := m.Greedy()
			require.NoError(t, err)
			assert.Equal(t, c.Greedy[i], best, "%s: token %d, which leads by %v", c.Prompt, i, c.Margins[i])
			require.NoError(t, m.Step(best))
		}
	}
}
