package decoder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/nn/half"
	"flashlab/nn/llama3"
)

// poisonStep fills whatever a step as one kernel writes anew with NaN that nobody has written. What has tags stays: a
// number with an old tag is as good as none.
func (r *rig) poisonStep(m *Model) {
	for _, b := range []device.Memory{m.logits.Memory(), m.one.best.Memory(), m.one.bestAt.Memory()} {
		require.NoError(r, r.d.Poison(b))
	}
}

// goOn writes some tokens after a prompt, by one kernel each, and holds logits against float64's.
func (r *rig) goOn(m *Model, prompt, tokens int) {
	r.Helper()
	m.Reset()
	var text []int32
	for i := range prompt {
		text = append(text, int32((i*31+5)%r.numbers.Vocabulary))
	}
	require.NoError(r, m.Prefill([][]int32{text}))
	for step := range tokens {
		next, err := m.Next()
		require.NoError(r, err)
		if step == 1 { // one that is not the likeliest
			next[0] = 7
			require.NoError(r, m.SetNext(next))
		}
		text = append(append([]int32{}, text...), next[0])
		r.poisonStep(m)
		require.NoError(r, m.Step())
		r.near(m, [][]int32{text})
		r.places(m, len(text))
	}
}

// odd is a multiple of 8 in what it has to be, and of nothing else.
func odd(layers int) llama3.Config {
	c := small
	c.Layers, c.Positions, c.Epsilon = layers, 130, 0.3 // so large that it shows if a norm lacks it
	return c
}

func TestAStepAsOneKernel(t *testing.T) {
	for _, c := range []struct {
		name    string
		shape   llama3.Config
		how     Persistent
		prompts []int
	}{
		{"one_block", odd(2), Persistent{Blocks: 1, Warps: 5, Segment: 40, Slots: 3, Sums: 64}, []int{1, 17}},
		{"two_blocks", odd(2), Persistent{Blocks: 2, Warps: 4, Segment: 48, Slots: 2, Splits: 1}, []int{1, 2, 40}},
		{"five_blocks", odd(2), Persistent{Blocks: 5, Flight: 7}, []int{1, 2, 17, 113}},
		{"thirteen_blocks", odd(2), Persistent{Blocks: 13, Warps: 3, Segment: 64, Slots: 5, Flight: 1, Splits: 5}, []int{15, 16, 17, 113}},
		{"one_layer", odd(1), Persistent{Blocks: 7, Warps: 6, Segment: 24}, []int{17}}, // the same phases write, launch by launch
		{"heads_of_128", llama3.Config{Width: 264, Heads: 4, KVHeads: 1, Dim: 128, Layers: 2, Inner: 520, Positions: 90, Vocabulary: 301, Epsilon: 1e-5, Rotary: 10000, Begin: -1},
			Persistent{Blocks: 6, Warps: 3, Segment: 256, Slots: 4}, []int{70}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := startWith(t, c.shape)
			m := r.model(r.d, Room{1, c.shape.Positions, c.shape.Positions})
			require.NoError(t, m.Persist(r.cache, c.how))
			for _, prompt := range c.prompts {
				r.goOn(m, prompt, 3)
			}
		})
	}
}

// TestABrokenTokenInOneKernel: one that there is not becomes NaN, which no later step hides, and Next says −1.
func TestABrokenTokenInOneKernel(t *testing.T) {
	r := startWith(t, odd(1))
	m := r.model(r.d, Room{1, 6, 4})
	require.NoError(t, m.Persist(r.cache, Persistent{}))
	require.NoError(t, m.Prefill([][]int32{{3, 9}}))
	for i, token := range []int32{999, -1, 3} {
		require.NoError(t, m.SetNext([]int32{token}))
		require.NoError(t, m.Step())
		next, err := m.Next()
		require.NoError(t, err)
		assert.Equal(t, []int32{-1}, next, "after %d", token)
		r.places(m, 3+i)
	}
}

// TestEqualLogitsInOneKernel: the lowest of equal tokens is next, as Argmax has it.
func TestEqualLogitsInOneKernel(t *testing.T) {
	r := startWith(t, odd(1))
	head := make([]device.Float16, r.weights.Head.Len())
	require.NoError(t, r.weights.Head.CopyIn(r.d, head))
	m := r.model(r.d, Room{1, 4, 4})
	require.NoError(t, m.Persist(r.cache, Persistent{Blocks: 5}))
	require.NoError(t, m.Prefill([][]int32{{3, 9}}))
	require.NoError(t, m.SetNext([]int32{11}))
	require.NoError(t, m.Step())
	next, err := m.Next()
	require.NoError(t, err)
	assert.Equal(t, []int32{0}, next)
}

func TestWhatOneKernelRefuses(t *testing.T) {
	r := start(t)
	m := r.model(r.d, Room{1, 4, 4})
	for want, p := range map[string]Persistent{
		"want a warp for each segment": {Warps: 2, Segment: 40},
		"multiples of 8":               {Segment: 20},
		"bytes of shared memory":       {Slots: 10000},
		"5 slots are being filled":     {Slots: 4, Flight: 5},
		"room for 8 sums":              {Sums: 8},
		"33 parts":                     {Splits: 33},
		"100 blocks":                   {Blocks: 100},
	} {
		assert.ErrorContains(t, m.Persist(r.cache, p), want)
	}
	for bits, change := range map[int]func(c *Config){16: func(c *Config) { c.Vocabulary = 1 }, 4: func(c *Config) { c.Hidden = 8 }} {
		c := r.numbers.Config
		change(&c)
		assert.ErrorContains(t, CanPersist(c, Room{1, 4, 4}, bits, r.d.Info()), "0 blocks: want 1 to 0", "%d bits", bits)
	}
	two := r.model(r.d, Room{2, 4, 4})
	assert.ErrorContains(t, two.Persist(r.cache, Persistent{}), "it takes one sequence, and here are 2")
	r.weights.Blocks[1].Out = struct{ Matrix }{r.weights.Blocks[1].Out}
	other := r.model(r.d, Room{1, 4, 4})
	assert.ErrorContains(t, other.Persist(r.cache, Persistent{}), "it takes weights in halves")
	assert.NoError(t, other.Prefill([][]int32{{1}}), "a model that was refused goes on as before")
}

// quantised is a matrix of four bits, which prompts read as the halves that it stands for.
type quantised struct {
	Dense
	four half.Four
}

func (q quantised) Four() half.Four { return q.four }

// roundedToFour leaves in a matrix what its four bits stand for.
func roundedToFour(t require.TestingT, d device.Device, m Dense) quantised {
	q, all := quantised{Dense: m}, m.W.Len()
	var err error
	q.four.Codes, err = device.Alloc[uint8](d, "codes", all/2)
	require.NoError(t, err)
	q.four.Scales, err = device.Alloc[device.Float16](d, "scales", all/fourGroup)
	require.NoError(t, err)
	q.four.Zeros, err = device.Alloc[uint8](d, "zeros", all/fourGroup)
	require.NoError(t, err)
	require.NoError(t, m.Layers.Quantise(q.four, m.W, m.Outputs, m.Inputs))
	require.NoError(t, m.Layers.Dequantise(m.W, q.four, m.Outputs, m.Inputs))
	lay(t, d, &q.four, m.Outputs, m.Inputs)
	return q
}

// lay gives weights the order that half.Dequantise tells of, in tiles of 16 outputs.
func lay(t require.TestingT, d device.Device, w *half.Four, outputs, inputs int) {
	codes, err := w.Codes.CopyOut(d)
	require.NoError(t, err)
	scales, err := w.Scales.CopyOut(d)
	require.NoError(t, err)
	zeros, err := w.Zeros.CopyOut(d)
	require.NoError(t, err)
	laid, groups := make([]uint8, len(codes)), inputs/fourGroup
	laidScales, laidZeros := make([]device.Float16, len(scales)), make([]uint8, len(zeros))
	for output := range outputs {
		first, of := output/tile, output%tile // of: the row of its tile
		for i := range inputs {
			code := codes[output*(inputs/2)+i/2] >> (4 * (i % 2)) & 15
			lane := of%8*4 + i%32/8
			word := ((first*(inputs/64)+i/64)*32+lane)*4 + i%64/32*2 + i%8/4
			bit := i%2*16 + i%4/2*8 + of/8*4
			laid[word*4+bit/8] |= code << (bit % 8)
		}
		for g := range groups {
			at := (first*groups+g)*tile + of%8*2 + of/8
			laidScales[at], laidZeros[at] = scales[output*groups+g], zeros[output*groups+g]
		}
	}
	require.NoError(t, w.Codes.CopyIn(d, laid))
	require.NoError(t, w.Scales.CopyIn(d, laidScales))
	require.NoError(t, w.Zeros.CopyIn(d, laidZeros))
	w.Laid = true
}

// toFour makes the matrices of layers four bits.
func (r *rig) toFour() {
	r.Helper()
	for i := range r.weights.Blocks {
		b, n := &r.weights.Blocks[i], &r.numbers.blocks[i]
		for _, m := range []struct {
			matrix  *Matrix
			numbers *[]float32
		}{{&b.QKV, &n.qkv}, {&b.Out, &n.out}, {&b.GateUp, &n.gateUp}, {&b.Down, &n.down}} {
			q := roundedToFour(r, r.d, (*m.matrix).(Dense))
			halves, err := q.W.CopyOut(r.d)
			require.NoError(r, err)
			for j, x := range halves {
				(*m.numbers)[j] = x.Float32()
			}
			*m.matrix = q
		}
	}
}

// TestFourBitsInOneKernel: rows of one chunk and of several, shares of several rounds, more blocks than parts.
func TestFourBitsInOneKernel(t *testing.T) {
	shape := llama3.Config{Width: 256, Heads: 4, KVHeads: 2, Dim: 64, Layers: 2, Inner: 640, Positions: 60, Vocabulary: 113, Epsilon: 0.3, Rotary: 10000, Begin: -1}
	r := startWith(t, shape)
	r.toFour()
	for _, p := range []Persistent{{Blocks: 7, Groups: 2, Splits: 2}, {Blocks: 3, Warps: 3, Segment: 256, Sums: 3 * tile}, {Blocks: 16, Groups: 3, Flight: 1}} {
		m := r.model(r.d, Room{1, shape.Positions, shape.Positions})
		require.NoError(t, m.Persist(r.cache, p))
		r.goOn(m, 1, 2)
		r.goOn(m, 33, 2)
	}
	assert.ErrorContains(t, r.model(r.d, Room{1, 4, 4}).Persist(r.cache, Persistent{Blocks: 17}), "17 blocks: want 1 to 16, 16 rows")
	bad := startWith(t, odd(1))
	bad.weights.Blocks[0].QKV = quantised{Dense: bad.weights.Blocks[0].QKV.(Dense)}
	assert.ErrorContains(t, bad.model(bad.d, Room{1, 4, 4}).Persist(bad.cache, Persistent{}), "want multiples of 128")
	r.weights.Blocks[0].Out = r.weights.Blocks[0].Out.(quantised).Dense
	assert.ErrorContains(t, r.model(r.d, Room{1, 4, 4}).Persist(r.cache, Persistent{}), "want all matrices of layers in halves, or all of four bits")
}
