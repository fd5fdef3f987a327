package decoder

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/half"
	"flashlab/nn/llama3"
	"flashlab/tensor"
)

var small = llama3.Config{Width: 72, Heads: 6, KVHeads: 2, Dim: 16, Layers: 2, Inner: 136, Positions: 64, Vocabulary: 113, Epsilon: 1e-5,
	Rotary: 500000, Scaling: &llama3.Scaling{Factor: 8, Low: 1, High: 4, Original: 32}, Begin: -1}

// rig is a small model on a device, and its weights as numbers.
type rig struct {
	*testing.T
	d       device.Device
	half    *half.Layers
	nn      *nn.Layers
	numbers numbers
	weights Weights
	cache   *Cache // of the last model
	seed    uint64
}

func start(t *testing.T) *rig {
	t.Helper()
	return startWith(t, small)
}

func startWith(t *testing.T, shape llama3.Config) *rig {
	t.Helper()
	d := attntest.Device(t)
	r := &rig{T: t, d: d, seed: 60}
	var err error
	r.half, err = half.New(device.QueueOf(d))
	require.NoError(t, err)
	r.nn, err = nn.New(device.QueueOf(d))
	require.NoError(t, err)
	c, err := Of(shape)
	require.NoError(t, err)
	n := numbers{Config: c}
	w := Weights{}
	dense := func(outputs, inputs int) ([]float32, Matrix) {
		x, b := r.random(outputs*inputs, 1/math.Sqrt(float64(inputs)), 0)
		return x, Dense{r.half, b, inputs, outputs}
	}
	n.embedding, w.Embedding = r.random(c.Vocabulary*c.Hidden, 1, 0)
	n.head, w.Head = r.random(c.Vocabulary*c.Hidden, 0.2, 0)
	n.norm, w.Norm = r.random(c.Hidden, 0.1, 1)
	for range c.Layers {
		var x numbersOf
		var b Block
		x.norm1, b.Norm1 = r.random(c.Hidden, 0.1, 1)
		x.norm2, b.Norm2 = r.random(c.Hidden, 0.1, 1)
		x.qkv, b.QKV = dense(c.All(), c.Hidden)
		x.out, b.Out = dense(c.Hidden, c.Width())
		x.gateUp, b.GateUp = dense(2*c.MLP, c.Hidden)
		x.down, b.Down = dense(c.Hidden, c.MLP)
		n.blocks, w.Blocks = append(n.blocks, x), append(w.Blocks, b)
	}
	r.numbers, r.weights = n, w
	return r
}

// random are weights as halves hold them, and the same on the device.
func (r *rig) random(n int, scale, base float64) ([]float32, Halves) {
	r.Helper()
	r.seed++
	x, err := tensor.Random(tensor.Normal, r.seed, 0, n)
	require.NoError(r, err)
	bits := make([]device.Float16, n)
	for i, v := range x.Data {
		bits[i] = device.ToFloat16(float32(base + scale*float64(v)))
		x.Data[i] = bits[i].Float32()
	}
	b, err := device.Upload(r.d, "weights", bits)
	require.NoError(r, err)
	return x.Data, b
}

// model has a cache full of NaN.
func (r *rig) model(q device.Queue, room Room) *Model {
	r.Helper()
	cache, memory, err := NewCache(r.d, r.half, r.numbers.Config, room)
	require.NoError(r, err)
	for _, m := range memory {
		require.NoError(r, r.d.Set(m, 255))
	}
	m, err := New(q, r.half, r.nn, r.numbers.Config, room, r.weights, Plain{cache})
	require.NoError(r, err)
	r.cache = cache
	r.Cleanup(func() { assert.NoError(r, m.Close()) })
	return m
}

// near holds a model's logits against those of the texts so far. The bound is twice the error that plain
// float32 has which rounds to halves where the model does.
func (r *rig) near(m *Model, texts [][]int32) {
	r.Helper()
	if err := r.d.Sync(); err != nil {
		attntest.Fatal(r.T, r.d, "%v", err)
	}
	got, err := m.Logits().CopyOut(r.d)
	require.NoError(r, err)
	attntest.Findings(r.T, r.d)
	next, err := m.Next()
	require.NoError(r, err)
	for b, text := range texts {
		last := len(text) - 1
		want, plain := logits(r.numbers, text, asItIs)[last], logits(r.numbers, text, toHalves)[last]
		mine := got[b*len(want) : (b+1)*len(want)]
		var ours, theirs, size float64
		best := 0
		for i, w := range want {
			ours += math.Pow(float64(mine[i])-w, 2)
			theirs += math.Pow(float64(plain[i])-w, 2)
			size += w * w
			if mine[i] > mine[best] {
				best = i
			}
		}
		require.False(r, math.IsNaN(ours))
		require.LessOrEqual(r, math.Sqrt(ours/size), 2*math.Sqrt(theirs/size), "sequence %d after %d tokens", b, len(text))
		require.Less(r, math.Sqrt(theirs/size), 0.01, "the plain way's own error is small")
		assert.Equal(r, int32(best), next[b])
	}
}

// places: the device knows, as the host does, where the next step begins and where it ends.
func (r *rig) places(m *Model, tokens int) {
	r.Helper()
	for _, p := range []struct {
		attn.PerSequence
		want int
	}{{m.seen, tokens}, {m.after, tokens + 1}} {
		n, err := p.Device.CopyOut(r.d)
		require.NoError(r, err)
		for b := range n {
			require.Equal(r, []int{p.want, p.want}, []int{int(n[b]), p.Host[b]})
		}
	}
}

// TestModel: prompts that pass together or a few at a time, then steps, alone and as a graph.
func TestModel(t *testing.T) {
	r := start(t)
	for _, c := range []struct {
		room  Room
		count int
		graph bool
	}{{Room{1, 20, 9}, 9, true}, {Room{3, 17, 10}, 5, true}, {Room{2, 24, 40}, 17, false}, {Room{17, 4, 17}, 1, true},
		{Room{5, 24, 85}, 17, false}} { // so many rows that hopper.cu multiplies
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			r.T = t
			q := device.QueueOf(r.d)
			if c.graph {
				q = r.d
			}
			m := r.model(q, c.room)
			texts := make([][]int32, c.room.Batch)
			for b := range texts {
				for i := range c.count {
					texts[b] = append(texts[b], int32((i*31+b*17+5)%small.Vocabulary))
				}
			}
			for range 2 { // a second text, in the same cache
				m.Reset()
				prompts := make([][]int32, len(texts))
				for b := range texts {
					prompts[b] = texts[b][:c.count]
				}
				require.NoError(t, m.Prefill(prompts))
				now := append([][]int32{}, prompts...)
				r.near(m, now)
				for step := range 3 {
					next, err := m.Next()
					require.NoError(t, err)
					if step == 1 { // one that is not the likeliest
						next[0] = 7
						require.NoError(t, m.SetNext(next))
					}
					for b := range now {
						now[b] = append(append([]int32{}, now[b]...), next[b])
					}
					require.NoError(t, m.Step())
					r.near(m, now)
					r.places(m, len(now[0]))
				}
			}
			assert.Equal(t, c.graph, m.Recorded())
		})
	}
}

// TestRefused says what is wrong, and what to do.
func TestRefused(t *testing.T) {
	r := start(t)
	room := Room{2, 5, 6}
	m := r.model(r.d, room)
	assert.ErrorContains(t, m.Step(), "Prefill comes first")
	assert.ErrorContains(t, m.Prefill([][]int32{{1}}), "2 sequences")
	assert.ErrorContains(t, m.Prefill([][]int32{{1}, {1, 2}}), "of one length")
	assert.ErrorContains(t, m.Prefill([][]int32{{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}}), "want 1 to 5")
	require.NoError(t, m.Prefill([][]int32{{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}}))
	assert.ErrorContains(t, m.Step(), "the cache is full")
	assert.ErrorContains(t, m.Prefill([][]int32{{1}, {1}}), "Reset comes first")

	c := r.numbers.Config
	_, err := New(r.d, r.half, r.nn, c, Room{4, 5, 3}, r.weights, nil)
	assert.ErrorContains(t, err, "at least a token of each")
	c.Layers = 3
	_, err = New(r.d, r.half, r.nn, c, room, r.weights, nil)
	assert.ErrorContains(t, err, "weights of 2 layers")
	biased := small
	biased.AttentionBias = true
	_, err = Of(biased)
	assert.ErrorContains(t, err, "biases")
}

// TestABrokenTokenIsSeen: one that there is not becomes NaN, and Next says −1.
func TestABrokenTokenIsSeen(t *testing.T) {
	r := start(t)
	m := r.model(r.d, Room{1, 4, 4})
	require.NoError(t, m.Prefill([][]int32{{3, 999}}))
	next, err := m.Next()
	require.NoError(t, err)
	assert.Equal(t, []int32{-1}, next)
}
