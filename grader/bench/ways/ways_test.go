package ways

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn/half"
	"flashlab/nn/half/decoder"
	"flashlab/nn/llama3"
)

func tiny(t *testing.T, batch, prompt, tokens int) Workload {
	t.Helper()
	c, err := decoder.Of(Tiny)
	require.NoError(t, err)
	return Workload{Config: c, Llama: Tiny, Shape: "tiny", Batch: batch, Prompt: prompt, Tokens: tokens, Seed: 3}
}

// TestFiveWays: all of them run, and come to what they should.
func TestFiveWays(t *testing.T) {
	d, w := attntest.Device(t), tiny(t, 2, 33, 4)
	ways := Ways
	if os.Getenv("FLASHLAB_ALL") == "" {
		ways = []Way{Ways[0], Ways[1], Ways[4]} // the others' parts are in the last, too
	}
	r := NewReport(d, w)
	require.NoError(t, Run(d, w, ways, func(one Result) { r.Results = append(r.Results, one) }))
	attntest.Findings(t, d)
	require.Len(t, r.Results, len(ways))
	first, attention, all := r.Results[0], r.Results[1], r.Results[len(ways)-1]
	for _, x := range r.Results {
		require.Len(t, x.Tokens, w.Tokens, x.Way.Name)
		assert.True(t, x.Graph, x.Way.Name)
		assert.Greater(t, x.Perplexity, 1.0)
		assert.InDelta(t, math.Log(first.Perplexity), math.Log(x.Perplexity), 1, x.Way.Name)
	}
	assert.EqualValues(t, 1, first.Same)
	assert.InEpsilon(t, first.Perplexity, attention.Perplexity, 0.01, "another attention, the same numbers")
	assert.NotEqual(t, attention.Perplexity, r.Results[2].Perplexity, "4 bits are not halves")
	if len(ways) == len(Ways) {
		assert.InEpsilon(t, attention.Perplexity, r.Results[2].Perplexity, 0.2, "a cache of 4 bits")
	}
	assert.Less(t, all.Bytes, first.Bytes)

	var text strings.Builder
	r.Head(&text)
	require.NoError(t, r.Table(&text))
	for _, way := range ways {
		assert.Contains(t, text.String(), "\n"+way.Name)
	}
	assert.Contains(t, text.String(), "weights: random, from the seed 3")
	file := filepath.Join(t.TempDir(), "ways.json")
	require.NoError(t, r.WriteJSON(file))
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(written), `"Name": "our attention"`)
}

// TestOneKernel: it writes what the graph of the same parts writes, in halves and in four bits.
func TestOneKernel(t *testing.T) {
	d, w := attntest.Device(t), tiny(t, 1, 33, 4)
	for i, one := range OneKernels {
		require.NoError(t, w.CanBe(one, d.Info()))
		graph := []Way{Ways[1], Ways[3]}[i]
		var all []Result
		require.NoError(t, Run(d, w, []Way{graph, one}, func(r Result) { all = append(all, r) }))
		attntest.Findings(t, d)
		assert.Equal(t, all[0].Tokens, all[1].Tokens, one.Name)
		assert.InEpsilon(t, all[0].Perplexity, all[1].Perplexity, 0.01, one.Name)
		assert.NotEqual(t, all[0].Perplexity, all[1].Perplexity, "sums in another order")
		assert.True(t, all[1].Graph)
	}
	w = tiny(t, 2, 33, 4)
	assert.ErrorContains(t, w.CanBe(OneKernels[0], d.Info()), "one sequence, and here are 2")
	assert.ErrorContains(t, Run(d, w, OneKernels, nil), "one kernel: a step as one kernel: it takes one sequence")
}

// logits are those after a prompt, and after each of some steps.
func logits(t *testing.T, a *arena, m *decoder.Model, w Workload) (all []float32) {
	t.Helper()
	_, err := start(m, w)
	require.NoError(t, err)
	for step := range w.Tokens {
		if step > 0 {
			require.NoError(t, m.SetNext(make([]int32, w.Batch)))
			require.NoError(t, m.Step())
		}
		x, err := m.Logits().CopyOut(a.device)
		require.NoError(t, err)
		all = append(all, x...)
	}
	require.NoError(t, m.Close())
	return all
}

// TestFourBitsAreWhatTheySay: a model of four bits is the one whose halves are what these stand for. One
// row, and several; prompts and steps.
func TestFourBitsAreWhatTheySay(t *testing.T) {
	for _, batch := range []int{1, 3} {
		d, w := attntest.Device(t), tiny(t, batch, 5, 2)
		c := &counting{Device: d}
		p, err := newParts(device.QueueOf(c))
		require.NoError(t, err)
		a := &arena{c, map[uint64]device.Memory{}}
		weights, err := a.weights(p, w, Ways[3])
		require.NoError(t, err)
		back := weights
		back.Blocks = nil
		for _, b := range weights.Blocks {
			for _, m := range []*decoder.Matrix{&b.QKV, &b.Out, &b.GateUp, &b.Down} {
				four := (*m).(fourMatrix)
				assert.Equal(t, batch > 1, four.weights.Laid)
				dense, err := alloc[device.Float16](a, "dense", four.shape.K*four.shape.N)
				require.NoError(t, err)
				require.NoError(t, p.half.Dequantise(dense, four.weights, four.shape.N, four.shape.K))
				*m = decoder.Dense{Layers: p.half, W: dense, Inputs: four.shape.K, Outputs: four.shape.N}
			}
			back.Blocks = append(back.Blocks, b)
		}
		of := func(weights decoder.Weights) []float32 {
			attention, _, err := a.attention(p, w, Ways[0])
			require.NoError(t, err)
			m, err := decoder.New(c, p.half, p.nn, w.Config, w.Room(), weights, attention)
			require.NoError(t, err)
			return logits(t, a, m, w)
		}
		got, want := of(weights), of(back)
		var off, size float64
		for i := range want {
			off += math.Pow(float64(got[i]-want[i]), 2)
			size += math.Pow(float64(want[i]), 2)
		}
		assert.Less(t, math.Sqrt(off/size), 0.005, "batch %d", batch)
		require.NoError(t, a.close())
	}
}

// TestRandomWeightsAreGosOwn: what is made on the device is what llama3.Random makes.
func TestRandomWeightsAreGosOwn(t *testing.T) {
	d, w := attntest.Device(t), tiny(t, 1, 1, 1)
	c := &counting{Device: d}
	p, err := newParts(device.QueueOf(c))
	require.NoError(t, err)
	a := &arena{c, map[uint64]device.Memory{}}
	given := w
	given.Weights, err = llama3.Random(w.Llama, w.Seed)
	require.NoError(t, err)
	for _, m := range []stacked{stack(1, w.Hidden, llama3.Tensor{Name: llama3.Q, Shape: []int{w.Width()}}, llama3.Tensor{Name: llama3.K, Shape: []int{w.Slot()}})} {
		made, err := a.dense(p, source{w, c, p.nn}, m)
		require.NoError(t, err)
		read, err := a.dense(p, source{given, c, p.nn}, m)
		require.NoError(t, err)
		x, err := made.(decoder.Dense).W.CopyOut(c)
		require.NoError(t, err)
		y, err := read.(decoder.Dense).W.CopyOut(c)
		require.NoError(t, err)
		assert.Equal(t, y, x)
	}
	require.NoError(t, a.close())
	assert.Zero(t, len(a.memory))
}

func TestRefused(t *testing.T) {
	w := tiny(t, 1, 4000, 100)
	assert.ErrorContains(t, w.Check(), "4096 positions")
	w = tiny(t, 65, 1, 1)
	assert.ErrorContains(t, w.Check(), "at most 64 sequences")
	w = tiny(t, 2, 4, 4)
	w.MLP = 200
	f := fours{arena: &arena{}, parts: &parts{half: &half.Layers{}}}
	assert.ErrorContains(t, f.begin(w), "whole groups of 128")
}
