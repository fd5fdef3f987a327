package decoder

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/open"
	"flashlab/nn"
	"flashlab/nn/half"
	"flashlab/nn/llama3"
	"flashlab/tensor"
)

// BenchmarkStep times decoding steps of a random Llama 3.1 8B on a GPU, one right behind the other and none fetched, in the
// ways that FLASHLAB_STEPS names: graph, whose attention is the plain one, which is slow; or persistent, and the fields of
// Persistent, or macros, as in "persistent,flight=4". The same steps write the same logits, or the
// benchmark fails; off is by how much these differ from the first way's, of their size. FLASHLAB_LAYERS sets the number of layers, and
// FLASHLAB_BITS=4 makes their weights four bits; the graph has the halves that these stand for.
//
//	go test -tags cuda ./nn/half/decoder -run xxx -bench Step -benchtime 1x
func BenchmarkStep(b *testing.B) {
	const prompt, steps = 512, 100
	shape := llama3.Sizes["8B"]
	if layers, err := strconv.Atoi(os.Getenv("FLASHLAB_LAYERS")); err == nil {
		shape.Layers = layers
	}
	d, m, cache := onGPU(b, shape, Room{1, 1024, prompt})
	text := make([]int32, prompt)
	for i := range text {
		text[i] = int32((i*i + 7*i) % shape.Vocabulary)
	}
	ways := os.Getenv("FLASHLAB_STEPS")
	if ways == "" {
		ways = "graph;persistent"
	}
	start, err := d.NewEvent()
	require.NoError(b, err)
	end, err := d.NewEvent()
	require.NoError(b, err)
	var first []float32
	begin := func() {
		m.Reset()
		require.NoError(b, m.Prefill([][]int32{text}))
	}
	for way := range strings.SplitSeq(ways, ";") {
		b.Run(way, func(b *testing.B) {
			m.one = nil
			if name, choices, _ := strings.Cut(way, ","); name == "persistent" {
				require.NoError(b, m.Persist(cache, chosen(b, choices)))
			}
			var logits []float32
			for range 20 { // a race may show in a few of them only
				begin()
				for range 3 {
					require.NoError(b, m.SetNext([]int32{11}))
					require.NoError(b, m.Step())
				}
				again, err := m.logits.CopyOut(d)
				require.NoError(b, err)
				if logits == nil {
					logits = again
				}
				require.Equal(b, logits, again, "the same steps write the same logits, whenever they run")
			}
			if first == nil {
				first = logits
			}
			var apart, size float64
			for i, x := range first {
				apart += math.Pow(float64(x-logits[i]), 2)
				size += float64(x) * float64(x)
			}
			var took time.Duration
			for b.Loop() {
				begin()
				require.NoError(b, d.Sync())
				require.NoError(b, start.Record())
				for range steps {
					require.NoError(b, m.Step())
				}
				require.NoError(b, end.Record())
				one, err := end.Since(start)
				require.NoError(b, err)
				took += one
			}
			b.ReportMetric(took.Seconds()*1e6/float64(steps*b.N), "µs/step")
			b.ReportMetric(math.Sqrt(apart/size), "off")
		})
	}
}

func chosen(b *testing.B, choices string) (p Persistent) {
	p.Defines = map[string]string{}
	numbers := map[string]*int{"blocks": &p.Blocks, "warps": &p.Warps, "segment": &p.Segment, "slots": &p.Slots, "flight": &p.Flight, "splits": &p.Splits, "sums": &p.Sums, "groups": &p.Groups}
	for choice := range strings.SplitSeq(choices, ",") {
		name, value, _ := strings.Cut(choice, "=")
		switch {
		case name == "":
		case name == strings.ToUpper(name):
			p.Defines[name] = value
		default:
			require.Contains(b, numbers, name)
			n, err := strconv.Atoi(value)
			require.NoError(b, err)
			*numbers[name] = n
		}
	}
	return p
}

// onGPU is a model with random weights and plain attention.
func onGPU(b *testing.B, shape llama3.Config, room Room) (device.Device, *Model, *Cache) {
	d, err := open.Device("auto", open.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { _ = d.Close() })
	if d.Info().Kind != device.CUDA {
		b.Skip("needs a GPU")
	}
	h, err := half.New(device.QueueOf(d))
	require.NoError(b, err)
	l, err := nn.New(device.QueueOf(d))
	require.NoError(b, err)
	c, err := Of(shape)
	require.NoError(b, err)
	stream := uint32(0)
	random := func(n int, scale float64) Halves {
		x, err := device.Alloc[device.Float16](d, "weights", n)
		require.NoError(b, err)
		stream++
		require.NoError(b, l.FillHalves(x, tensor.Normal, 7, stream, float32(scale)))
		return x
	}
	dense := func(outputs, inputs int) Matrix {
		m := Dense{h, random(outputs*inputs, 1/math.Sqrt(float64(inputs))), inputs, outputs}
		if os.Getenv("FLASHLAB_BITS") != "4" {
			return m
		}
		return roundedToFour(b, d, m)
	}
	w := Weights{Embedding: random(c.Vocabulary*c.Hidden, 1), Head: random(c.Vocabulary*c.Hidden, 0.02), Norm: random(c.Hidden, 1)}
	for i := range c.Layers {
		if os.Getenv("FLASHLAB_BITS") == "4" && i >= 2 { // laying them takes its time, and two exceed the L2 cache
			w.Blocks = append(w.Blocks, w.Blocks[i%2])
			continue
		}
		w.Blocks = append(w.Blocks, Block{random(c.Hidden, 1), random(c.Hidden, 1), dense(c.All(), c.Hidden), dense(c.Hidden, c.Width()),
			dense(2*c.MLP, c.Hidden), dense(c.Hidden, c.MLP)})
	}
	cache, _, err := NewCache(d, h, c, room)
	require.NoError(b, err)
	m, err := New(d, h, l, c, room, w, Plain{cache})
	require.NoError(b, err)
	return d, m, cache
}
