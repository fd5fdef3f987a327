package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/figure"
)

func drawn(f figure.Figure, files ...string) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return draws(bytes.NewReader(text), files)
}

func TestAFigureBecomesPictures(t *testing.T) {
	f := figure.Figure{Title: "title", X: "x", Y: "y", Room: true, Legend: "left"}
	for _, x := range []float64{2, 4} {
		f.Add("tiles", figure.Line, figure.Point{X: x, Y: 200 / x, Word: "word"})
		f.Add("once", figure.Dashes, figure.Point{X: x, Y: 1})
		f.Add("kernels", figure.Dots, figure.Point{X: x, Y: 3})
	}
	dir := filepath.Join(t.TempDir(), "new")
	png, svg := filepath.Join(dir, "p.png"), filepath.Join(dir, "p.svg")
	require.NoError(t, drawn(f, png, svg))
	for name, magic := range map[string]string{png: "\x89PNG", svg: "<?xml"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(data, []byte(magic)), name)
	}
	assert.Error(t, drawn(f, filepath.Join(dir, "p.doc")))
}

func TestFiguresThatCannotBeDrawn(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:             "nothing to draw",
		`{"Titel": "x"}`: `unknown field "Titel"`,
		`{"Series": [{"Name": "a", "Points": [{"X": 1, "Y": 0}]}]}`:     "a: (1, 0): want two positive numbers",
		`{"Bars": [{"Name": "SDPA", "Value": 2, "Low": 0, "High": 3}]}`: "three positive numbers",
		`printed by a student`: "the figure:",
	} {
		assert.ErrorContains(t, draws(bytes.NewReader([]byte(text)), []string{filepath.Join(t.TempDir(), "p.png")}), want)
	}
}

func TestTicks(t *testing.T) {
	labels := func(low, high float64) (all []string) {
		for _, tick := range (powers{2}).Ticks(low, high) {
			all = append(all, tick.Label)
		}
		return all
	}
	assert.Equal(t, []string{"2", "4", "8", "16"}, labels(2, 16))
	assert.Equal(t, []string{"0.5", "", "2", "", "8", "", "32", "", "128", "", "512", "", "2048"}, labels(0.5, 2048))
	assert.Equal(t, []string{"2.1", "2.2", "2.3"}, labels(2.03, 2.38))
	assert.Equal(t, []string{"0.1", "0.2", "0.3", "0.4"}, labels(0.081, 0.45))
	assert.Equal(t, []string{"2", "4", "6", "8"}, labels(1.4, 9.3))
}

func TestBars(t *testing.T) {
	bars := []figure.Bar{{Name: "SDPA", Label: "one", Value: 2, Low: 1.9, High: 2.2}, {Name: "cuBLAS", Label: "one", Value: 3, Low: 3, High: 3}, {Name: "SDPA", Label: "two", Value: 0.5, Low: 0.4, High: 0.6}}
	assert.NoError(t, drawn(figure.Figure{Bars: bars}, filepath.Join(t.TempDir(), "p.svg")))
}
