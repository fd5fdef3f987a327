package gpt2

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/sbinet/npyio"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/lm"
	"flashlab/tensor"
	"flashlab/tensor/npy"
)

// task is the folder of task 7, with the course's own model and what transformers
// makes of it (goldens.py).
const task = "../../task7_gpt2"

// golden is what transformers makes of one prompt.
type golden struct {
	prompt, greedy []int32
	logits         *tensor.Tensor // [positions, vocabulary]
}

// goldens reads all of one model's, or skips the test.
func goldens(t *testing.T, name string) (all []golden) {
	dir := filepath.Join(task, "testdata", name)
	for n := 0; ; n++ {
		file, err := os.Open(filepath.Join(dir, fmt.Sprintf("logits%d.npy", n)))
		if os.IsNotExist(err) {
			break
		}
		require.NoError(t, err)
		defer file.Close()
		g := golden{prompt: integers(t, filepath.Join(dir, fmt.Sprintf("prompt%d.npy", n))), greedy: integers(t, filepath.Join(dir, fmt.Sprintf("greedy%d.npy", n)))}
		g.logits, err = npy.Read(file, tensor.MaxElements)
		require.NoError(t, err)
		all = append(all, g)
	}
	if len(all) == 0 {
		t.Skipf("%s is not there: task7_gpt2/goldens.py makes it", dir)
	}
	return all
}

func integers(t *testing.T, name string) (x []int32) {
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, npyio.Read(file, &x))
	return x
}

// TestTransformersAgrees holds both models of this package against PyTorch's. The
// simulator has time for a part only.
func TestTransformersAgrees(t *testing.T) {
	for name, dir := range map[string]string{"small": "testdata/small", "bundled": "model"} {
		t.Run(name, func(t *testing.T) {
			all := goldens(t, name)
			w, err := Open(os.DirFS(filepath.Join(task, dir)))
			require.NoError(t, err)
			defer w.Close()
			r, err := NewReference(w, nil)
			require.NoError(t, err)
			for _, g := range all {
				agrees(t, r, g, len(g.greedy))
			}
			d := attntest.Device(t)
			if name == "bundled" && skipped(d) {
				t.Skip("make test-all compares the rest")
			}
			m := newModel(t, d, w)
			tokens := 40
			if name == "bundled" && d.Info().Kind == device.Sim {
				all, tokens = all[:1], 6
			}
			for _, g := range all {
				agrees(t, m, g, min(tokens, len(g.greedy)))
			}
		})
	}
}

// skipped tells that the bundled model takes too long here for `make test`.
func skipped(d device.Device) bool {
	return d.Info().Kind == device.Sim && os.Getenv("FLASHLAB_ALL") == ""
}

// agrees compares the logits of a prompt, and so many greedy tokens after it.
func agrees(t *testing.T, m LM, g golden, tokens int) {
	width := m.Config().Vocabulary
	require.Equal(t, []int{len(g.prompt), width}, g.logits.Shape)
	var got []float32
	require.NoError(t, m.Each(g.prompt, func(_ int, row []float32) error { got = append(got, row...); return nil }))
	want := make([]float64, len(got))
	for i, v := range g.logits.Data {
		want[i] = float64(v)
	}
	diff := tensor.Compare(got, want)
	assert.Less(t, diff.RMS, 1e-3*diff.WantRMS)
	if tokens == 0 {
		return
	}
	var text []int32
	_, err := lm.Generate(m, lm.Generation{Prompt: g.prompt, Tokens: tokens, Stop: -1, Emit: func(token int32) error { text = append(text, token); return nil }})
	require.NoError(t, err)
	assert.Equal(t, g.greedy[:tokens], text)
}

// TestPerplexities: the model on the device wavers as much as the one in plain Go,
// on a text that neither was trained on.
func TestPerplexities(t *testing.T) {
	dir := os.DirFS(filepath.Join(task, "model"))
	text, err := os.ReadFile(filepath.Join(task, "model", "heldout.txt"))
	if os.IsNotExist(err) {
		t.Skip("the course's own model is not there: task7_gpt2/train.py makes it")
	}
	require.NoError(t, err)
	w, err := Open(dir)
	require.NoError(t, err)
	k, err := bpe.Load(dir)
	require.NoError(t, err)
	tokens := k.Encode(string(text[:min(len(text), 8000)]))
	d := attntest.Device(t)
	if skipped(d) {
		t.Skip("make test-all compares perplexities")
	}
	if d.Info().Kind == device.Sim {
		tokens = tokens[:10]
	}
	m := newModel(t, d, w)
	r, err := NewReference(w, nil)
	require.NoError(t, err)
	want, err := lm.Perplexity(r, tokens)
	require.NoError(t, err)
	got, err := lm.Perplexity(m, tokens)
	require.NoError(t, err)
	assert.InEpsilon(t, want, got, 1e-3)
	assert.False(t, math.IsNaN(want))
}
