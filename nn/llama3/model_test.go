package llama3

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/lm"
	flash "flashlab/task4_flash"
	decode "flashlab/task5_decode"
	e2e "flashlab/task6_e2e"
)

// shapes are odd in every size, so that nothing fits a tile or a group.
var shapes = map[string]Config{
	"biased, scaled":   small,
	"SmolLM2's heads":  {Width: 72, Heads: 9, KVHeads: 3, Dim: 64, Layers: 1, Inner: 40, Positions: 29, Vocabulary: 51, Epsilon: 1e-5, Rotary: 100000, Tied: true, Begin: -1},
	"one key head":     {Width: 33, Heads: 5, KVHeads: 1, Dim: 10, Layers: 2, Inner: 21, Positions: 29, Vocabulary: 113, Epsilon: 1e-6, Rotary: 10000, MLPBias: true, Begin: -1},
	"as many":          {Width: 20, Heads: 3, KVHeads: 3, Dim: 6, Layers: 2, Inner: 23, Positions: 29, Vocabulary: 40, Epsilon: 1e-5, Rotary: 10000, Divisors: []float64{1, 2.5, 8}, Tied: true, Begin: -1},
	"divided by eight": {Width: 40, Heads: 4, KVHeads: 2, Dim: 16, Layers: 1, Inner: 23, Positions: 29, Vocabulary: 40, Epsilon: 1e-5, Rotary: 10000, Divisors: alike(8, 16), Begin: -1},
}

// build makes a model in one of the ways that attention can be done.
type build func(t *testing.T, d device.Device, w Weights) *Model

func plain(grouped bool) build {
	return func(t *testing.T, d device.Device, w Weights) *Model {
		l, err := nn.New(device.QueueOf(d))
		require.NoError(t, err)
		k, err := nn.PlainKernels(device.QueueOf(d), l)
		require.NoError(t, err)
		return made(t, d, l, w, Room{Grouped: grouped}, nn.NewLayer, k)
	}
}

// solutions are a student's kernels of tasks 4 and 5, and the layer of task 6.
func solutions(t *testing.T, d device.Device, w Weights) *Model {
	return solutionsIn(t, d, w, Room{})
}

func solutionsIn(t *testing.T, d device.Device, w Weights, r Room) *Model {
	q := device.QueueOf(d)
	l, err := nn.New(q)
	require.NoError(t, err)
	prefill, err := flash.New(q)
	require.NoError(t, err)
	step, err := decode.New(q)
	require.NoError(t, err)
	return made(t, d, l, w, r, e2e.New, attn.Kernels{Prefill: prefill, Decode: step, Rearranger: l})
}

func made(t *testing.T, d device.Device, l *nn.Layers, w Weights, r Room, layer attn.NewLayer, k attn.Kernels) *Model {
	m, err := NewModel(d, l, w, r, layer, k)
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func alike32(t *testing.T, want, got []float32, note string) {
	t.Helper()
	require.Len(t, got, len(want), note)
	var diff, size float64
	for i := range want {
		diff += math.Pow(float64(want[i]-got[i]), 2)
		size += float64(want[i]) * float64(want[i])
	}
	assert.Less(t, math.Sqrt(diff/size), 1e-5, note) // false for NaN
}

// TestModelAgreesWithPlainGo: every shape, in every way, behind prompts for one row, for few and for many, and behind each
// step that follows.
func TestModelAgreesWithPlainGo(t *testing.T) {
	for way, build := range map[string]build{"the course's, grouped": plain(true), "the course's, repeated": plain(false), "the solutions'": solutions} {
		d := attntest.Device(t)
		for shape, c := range shapes {
			if way == "the course's, repeated" && shape != "SmolLM2's heads" {
				continue // the solutions' has all of them repeated
			}
			note := way + ", " + shape
			w, err := Random(c, 7)
			require.NoError(t, err)
			m := build(t, d, w)
			r, err := NewReference(w)
			require.NoError(t, err)
			for _, n := range []int{1, 5, 19} {
				prompt := make([]int32, n)
				for i := range prompt {
					prompt[i] = int32((i*i + 3*i + 5) % c.Vocabulary)
				}
				require.NoError(t, m.Prefill(prompt), note)
				require.NoError(t, r.Prefill(prompt))
				for step := range 3 {
					got, err := m.Logits()
					require.NoError(t, err)
					alike32(t, r.logits, got, note)
					mine, err := m.Greedy()
					require.NoError(t, err)
					theirs, _ := r.Greedy()
					assert.Equal(t, theirs, mine, note)
					next := theirs
					if step%2 == 1 {
						next = int32(30 + step) // what the device did not pick
					}
					require.NoError(t, m.Step(next))
					require.NoError(t, r.Step(next))
					assert.Equal(t, r.Room(), m.Room())
				}
			}
			assert.NoError(t, m.Direct, "steps are recorded")
			assert.NotNil(t, m.graph)
			require.NoError(t, m.Close())
			attntest.Findings(t, d)
		}
	}
}

func TestEachPositionHasItsLogits(t *testing.T) {
	d := attntest.Device(t)
	w, err := Random(small, 7)
	require.NoError(t, err)
	m := plain(true)(t, d, w)
	r, err := NewReference(w)
	require.NoError(t, err)
	text := []int32{3, 1, 4, 1, 5, 9, 2}
	var want [][]float32
	require.NoError(t, r.Each(text, func(_ int, row []float32) error { want = append(want, append([]float32{}, row...)); return nil }))
	require.NoError(t, m.Each(text, func(i int, row []float32) error { alike32(t, want[i], row, ""); return nil }))
}

// TestAModelTellsHowFarItIs: after each layer, and a text that is too long is refused.
func TestAModelTellsHowFarItIs(t *testing.T) {
	d := attntest.Device(t)
	w, err := Random(small, 7)
	require.NoError(t, err)
	q := device.QueueOf(d)
	l, err := nn.New(q)
	require.NoError(t, err)
	k, err := nn.PlainKernels(q, l)
	require.NoError(t, err)
	m, err := NewModel(q, l, w, Room{Positions: 3, Grouped: true}, nn.NewLayer, k)
	require.NoError(t, err)
	defer m.Close()
	var told [][2]int
	m.Progress = func(done, all int) { told = append(told, [2]int{done, all}) }
	require.NoError(t, m.Prefill([]int32{1, 2}))
	require.NoError(t, m.Step(3))
	assert.Equal(t, [][2]int{{1, 2}, {2, 2}, {1, 2}, {2, 2}}, told)
	assert.Nil(t, m.graph, "nothing is recorded on a queue")
	assert.ErrorIs(t, m.Step(3), lm.ErrFull)
	assert.ErrorIs(t, m.Prefill([]int32{1, 2, 3, 4}), lm.ErrFull)
	assert.ErrorContains(t, m.Prefill(nil), "the prompt is empty")
	assert.ErrorContains(t, m.Prefill([]int32{113}), "the model knows 0 to 112")
}
