package ways

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/device/sim"
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
	none := func(r Result) { assert.NotEmpty(t, r.Failed) }
	assert.ErrorContains(t, Run(d, w, OneKernels, none), "one kernel: a step as one kernel: it takes one sequence")
}

// TestOneKernelIsForLargeModels: on a GPU, where it was measured to be slower, it is left out: in halves alone.
func TestOneKernelIsForLargeModels(t *testing.T) {
	gpu := device.Info{Kind: device.CUDA}
	measured := func(heads, inner int) llama3.Config {
		return llama3.Config{Width: 64 * heads, Heads: heads, KVHeads: heads / 3, Dim: 64, Layers: 16, Inner: inner, Positions: 8192, Vocabulary: 8192, Epsilon: 1e-5, Rotary: 100000, Tied: true}
	}
	for name, c := range map[string]struct {
		llama3.Config
		megabytes string // of a layer that is too small
	}{
		"SmolLM2-135M": {measured(9, 1536), "7.1"}, "1152 wide": {measured(18, 3456), "31.0"},
		"1536 wide": {measured(24, 4608), ""}, "8B": {llama3.Sizes["8B"], ""},
	} {
		of, err := decoder.Of(c.Config)
		require.NoError(t, err)
		w := Workload{Config: of, Llama: c.Config}
		if c.megabytes == "" {
			assert.NoError(t, w.Worth(OneKernels[0], gpu), name)
		} else {
			assert.ErrorContains(t, w.Worth(OneKernels[0], gpu), "the graph is faster: a layer's matrices have "+c.megabytes+" MB, want 45 at least", name)
		}
		assert.NoError(t, w.Worth(OneKernels[1], gpu), "%s: four bits", name)
		assert.NoError(t, w.Worth(Ways[1], gpu), "a graph")
	}
	assert.NoError(t, tiny(t, 1, 33, 4).Worth(OneKernels[0], device.Info{Kind: device.Sim}), "a simulator tells no times")
}

// TestTheSheetByHand: b9's bytes of an 8B's step after 512 and 512 tokens, and what each way would bring by them; and of
// SmolLM2, whose rows of 576 take five groups.
func TestTheSheetByHand(t *testing.T) {
	at := func(c llama3.Config) Workload {
		of, err := decoder.Of(c)
		require.NoError(t, err)
		return Workload{Config: of, Llama: c, Batch: 1, Prompt: 512, Tokens: 512}
	}
	w := at(llama3.Sizes["8B"])
	weights := 32.0 * (4096*6144 + 4096*4096 + 3*4096*14336)
	ours, four, kivi := w.reads(Ways[1]), w.reads(Ways[3]), w.reads(Ways[2])
	assert.Equal(t, 2*weights, ours.matrices)
	assert.InDelta(t, weights*(64+3)/128, four.matrices, 1)
	assert.Equal(t, 2.0*128256*4096, four.head)
	assert.Equal(t, 32*8*768*128*4.0, ours.cache)
	assert.Equal(t, 32*8*768*(64+16+64+4.0), kivi.cache, "keys' scales are 4 bytes a channel and 32 tokens")
	assert.Contains(t, w.predicted(), "a step reads 13.96 GB of matrices, 1.05 GB of the head, 0.10 GB of the cache; + KIVI cache 1.00 ×; + W4A16 weights 3.14 ×; all 3.19 × as fast")

	w = at(llama3.Config{Width: 576, Heads: 9, KVHeads: 3, Dim: 64, Layers: 30, Inner: 1536, Positions: 8192, Vocabulary: 49152, Epsilon: 1e-5, Rotary: 100000, Tied: true})
	assert.InDelta(t, 30*(67.0/128)*(640*(960+576+2*1536)+1536*576), w.reads(Ways[3]).matrices, 1)

	r := Report{Workload: w, Results: []Result{{Way: Ways[1], Each: Spread{Median: 2}}, {Way: Ways[3], Each: Spread{Median: 1}}, {Way: OneKernels[1], Each: Spread{Median: 1}}, {Way: Ways[4], Failed: "no"}}}
	assert.Regexp(t, `^measured, as fast as our attention: \+ W4A16 weights 2\.00 × \(by bytes \d\.\d\d\)$`, r.measured())
	assert.Empty(t, Report{Workload: w, Results: r.Results[1:]}.measured(), "nothing to compare with")
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

// short is a shape whose rows end within a group of four bits, and whose heads are odd in number.
var short = llama3.Config{Width: 200, Heads: 3, KVHeads: 1, Dim: 64, Layers: 1, Inner: 136, Positions: 4096, Vocabulary: 300, Epsilon: 1e-5, Rotary: 100000, Tied: true, Begin: -1}

// TestFourBitsAreWhatTheySay: a model of four bits is the one whose halves are what these stand for. One
// row, and several; prompts and steps; rows of whole groups, and those that end within one.
func TestFourBitsAreWhatTheySay(t *testing.T) {
	for _, c := range []llama3.Config{Tiny, short} {
		for _, batch := range []int{1, 3} {
			fourBitsAreWhatTheySay(t, c, batch)
		}
	}
}

func fourBitsAreWhatTheySay(t *testing.T, config llama3.Config, batch int) {
	t.Helper()
	d, w := attntest.Device(t), tiny(t, batch, 5, 2)
	var err error
	w.Llama = config
	w.Config, err = decoder.Of(config)
	require.NoError(t, err)
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
			*m = a.dequantised(t, p, four)
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
	assert.Less(t, math.Sqrt(off/size), 0.005, "%v, batch %d", config, batch)
	require.NoError(t, a.close())
}

// dequantised is a matrix in halves, without what fills up its rows: which stands for zeros.
func (a *arena) dequantised(t *testing.T, p *parts, four fourMatrix) decoder.Matrix {
	t.Helper()
	whole, err := alloc[device.Float16](a, "whole groups", four.shape.K*four.shape.N)
	require.NoError(t, err)
	require.NoError(t, p.half.Dequantise(whole, four.weights, four.shape.N, four.shape.K))
	all, err := whole.CopyOut(a.device)
	require.NoError(t, err)
	var kept []device.Float16
	for from := 0; from < len(all); from += four.shape.K {
		kept = append(kept, all[from:from+four.inputs]...)
		for _, filled := range all[from+four.inputs : from+four.shape.K] {
			assert.Zero(t, filled&0x7fff, "what fills up a row")
		}
	}
	dense, err := alloc[device.Float16](a, "dense", len(kept))
	require.NoError(t, err)
	require.NoError(t, dense.CopyIn(a.device, kept))
	return decoder.Dense{Layers: p.half, W: dense, Inputs: four.inputs, Outputs: four.shape.N}
}

// TestAllWaysWithoutChecks: as `make ways DEVICE=sim` starts the simulator. There, too, who waits for another lets it run.
func TestAllWaysWithoutChecks(t *testing.T) {
	d, err := sim.Start(sim.Options{})
	require.NoError(t, err)
	defer d.Close()
	w := tiny(t, 1, 3, 2)
	var all []Result
	require.NoError(t, Run(d, w, slices.Concat(Ways, OneKernels), func(r Result) { all = append(all, r) }))
	require.Len(t, all, len(Ways)+len(OneKernels))
	for _, r := range all {
		assert.Empty(t, r.Failed, r.Way.Name)
		assert.Len(t, r.Tokens, 2, r.Way.Name)
	}
	assert.Equal(t, all[1].Tokens, all[5].Tokens, "one kernel writes what the graph writes")
}

// TestAWayThatFailsIsARow: the others run, and are printed; it says why it did not.
func TestAWayThatFailsIsARow(t *testing.T) {
	d, w := attntest.Device(t), tiny(t, 2, 3, 2)
	r := NewReport(d, w)
	require.NoError(t, Run(d, w, []Way{OneKernels[0], Ways[0]}, func(one Result) { r.Results = append(r.Results, one) }))
	require.Len(t, r.Results, 2)
	var text strings.Builder
	require.NoError(t, r.Table(&text))
	assert.Regexp(t, `\none kernel +failed, see below *\nhalves +-`, text.String())
	assert.Contains(t, text.String(), "\none kernel: a step as one kernel: it takes one sequence, and here are 2\n")
	assert.EqualValues(t, 1, r.Results[1].Same)
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
}
