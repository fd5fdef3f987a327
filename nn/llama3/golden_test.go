package llama3

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sbinet/npyio"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/nn/lm"
	"flashlab/tensor"
	"flashlab/tensor/npy"
)

// bound is four times the largest error of these goldens as measured, relative to the logits'
// root mean square.
const bound = 1e-5

// TestTransformersAgrees holds the model in plain Go against goldens.py's.
func TestTransformersAgrees(t *testing.T) {
	for name, about := range map[string]string{
		"tied": "model.safetensors", "untied": "model.safetensors",
		"scaled": "model.safetensors.index.json", "biased": "model.safetensors.index.json",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			w, err := Open(os.DirFS(dir))
			require.NoError(t, err)
			defer w.Close()
			assert.Equal(t, about, w.About())
			r, err := NewReference(w)
			require.NoError(t, err)
			for n := range 4 {
				file := func(kind string) string { return filepath.Join(dir, fmt.Sprintf("%s%d.npy", kind, n)) }
				agrees(t, r, integers(t, file("prompt")), integers(t, file("greedy")), file("logits"))
			}
		})
	}
}

func agrees(t *testing.T, r *Reference, prompt, greedy []int32, logits string) {
	diff := difference(t, r, prompt, logits)
	t.Logf("%d tokens: error %.2g", len(prompt), diff.RMS/diff.WantRMS)
	assert.True(t, diff.Within(bound*diff.WantRMS), "%d tokens: error %.2g, allowed %.2g", len(prompt), diff.RMS/diff.WantRMS, bound)

	require.NotEmpty(t, greedy)
	var text []int32
	_, err := lm.Generate(r, lm.Generation{Prompt: prompt, Tokens: len(greedy), Stop: -1, Emit: func(token int32) error { text = append(text, token); return nil }})
	require.NoError(t, err)
	assert.Equal(t, greedy, text)
}

// difference compares the logits of the last rows.
func difference(t *testing.T, r *Reference, prompt []int32, logits string) tensor.Diff {
	f, err := os.Open(logits)
	require.NoError(t, err)
	defer f.Close()
	last, err := npy.Read(f, tensor.MaxElements)
	require.NoError(t, err)
	rows := last.Shape[0]
	require.Equal(t, []int{min(len(prompt), 4), r.Config().Vocabulary}, last.Shape)
	var got []float32
	require.NoError(t, r.Each(prompt, func(i int, row []float32) error {
		if i >= len(prompt)-rows {
			got = append(got, row...)
		}
		return nil
	}))
	want := make([]float64, len(last.Data))
	for i, v := range last.Data {
		want[i] = float64(v)
	}
	return tensor.Compare(got, want)
}

// mistaken are weights with another config.
type mistaken struct {
	Weights
	config Config
}

func (m mistaken) Config() Config { return m.config }

// TestGoldensTellMistakes: a model that reads its config wrongly is far beyond the bound.
func TestGoldensTellMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		model  string
		change func(*Config)
	}{
		"no scaling":      {"scaled", func(c *Config) { c.Scaling = nil }},
		"another factor":  {"scaled", func(c *Config) { c.Scaling.Factor = 4 }},
		"low as high":     {"scaled", func(c *Config) { c.Scaling.Low = 3.9 }},
		"another base":    {"tied", func(c *Config) { c.Rotary = 500000 }},
		"another epsilon": {"tied", func(c *Config) { c.Epsilon = 1e-3 }},
		"no biases":       {"biased", func(c *Config) { c.AttentionBias = false }},
		"nor in the MLP":  {"biased", func(c *Config) { c.MLPBias = false }},
		"the wrong head":  {"untied", func(c *Config) { c.Tied = true }},
	} {
		dir := filepath.Join("testdata", c.model)
		w, err := Open(os.DirFS(dir))
		require.NoError(t, err)
		config := w.Config()
		c.change(&config)
		r, err := NewReference(mistaken{w, config})
		require.NoError(t, err)
		diff := difference(t, r, integers(t, filepath.Join(dir, "prompt3.npy")), filepath.Join(dir, "logits3.npy"))
		assert.Greater(t, diff.RMS, 100*bound*diff.WantRMS, name)
		require.NoError(t, w.Close())
	}
}

func integers(t *testing.T, name string) (x []int32) {
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, npyio.Read(file, &x))
	return x
}
