package nn

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
)

// cold is more than an L2 cache holds: weights of that size are taken in turns, as
// the layers of a model are.
const cold = 256 << 20

// repeats is how many launches a graph has: alone, a small kernel would take less
// time than its launch.
const repeats = 20

// measure reports the time of one launch, and what comes of bytes and operations.
func measure(b *testing.B, d device.Device, bytes, flops float64, launch func(i int) error) {
	b.Helper()
	start, err := d.NewEvent()
	if err != nil {
		b.Skip(err)
	}
	stop, err := d.NewEvent()
	require.NoError(b, err)
	require.NoError(b, launch(0)) // what scratch it needs is there when the graph is recorded
	graph, err := d.Record(func(device.Queue) error {
		for i := range repeats {
			if err := launch(i); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(b, err)
	defer func() { _ = graph.Close() }()
	require.NoError(b, graph.Launch()) // warm
	require.NoError(b, start.Record())
	for b.Loop() {
		require.NoError(b, graph.Launch())
	}
	require.NoError(b, stop.Record())
	took, err := stop.Since(start)
	require.NoError(b, err)
	each := took / time.Duration(b.N*repeats)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(each.Nanoseconds())/1e3, "µs/launch")
	if bytes > 0 {
		b.ReportMetric(bytes/each.Seconds()/1e9, "GB/s")
	}
	if flops > 0 {
		b.ReportMetric(flops/each.Seconds()/1e12, "TFLOP/s")
	}
}

// noise is a buffer of small numbers.
func noise(b *testing.B, d bench, name string, n int) Floats {
	buffer := output[float32](b, d, name, n)
	require.NoError(b, d.Fill(buffer, "normal", 1, 1, 0.1))
	return buffer
}

// BenchmarkLinear has the layers of the Llama-like model (hidden 4096) and of GPT-2
// (768). For few rows what counts is GB/s, of weights; for many, TFLOP/s.
func BenchmarkLinear(b *testing.B) {
	d := start(b)
	for _, rows := range []int{1, 4, 8, 16, 512, 4096} {
		for _, s := range []struct{ in, width int }{{4096, 4096}, {4096, 16384}, {16384, 4096}, {768, 768}, {768, 2304}, {3072, 768}, {768, 50257}, {767, 2304}} {
			b.Run(fmt.Sprintf("rows=%d/%dx%d", rows, s.in, s.width), func(b *testing.B) {
				if d.Info().Kind == device.Sim {
					b.Skip(device.ErrNoClock)
				}
				size := s.in * s.width
				weights := make([]Floats, min(repeats, 1+cold/(4*size)))
				for i := range weights {
					weights[i] = noise(b, d, "w", size)
				}
				x, bias, out := noise(b, d, "x", rows*s.in), noise(b, d, "bias", s.width), output[float32](b, d, "out", rows*s.width)
				measure(b, d, float64(4*size), 2*float64(size)*float64(rows), func(i int) error {
					return d.Linear(out, x, weights[i%len(weights)], bias, rows, s.in, s.width)
				})
			})
		}
	}
}

// BenchmarkStep has what else a step of decoding does, and a prompt of 1024 tokens.
func BenchmarkStep(b *testing.B) {
	d := start(b)
	if d.Info().Kind == device.Sim {
		b.Skip(device.ErrNoClock)
	}
	a, err := NewAttention(d)
	require.NoError(b, err)
	const batch, heads, dim, long = 4, 32, 128, 1124
	const width = heads * dim
	shape := attn.CacheShape{Batch: batch, MaxSeq: long, KVHeads: heads, Dim: dim}
	cache := attn.Cache{K: noise(b, d, "k", shape.Elements()), V: noise(b, d, "v", shape.Elements()), CacheShape: shape}
	for _, count := range []int{1, 1024} {
		rows := batch * count
		x, y := noise(b, d, "x", rows*width), noise(b, d, "y", rows*width)
		gain, logits := noise(b, d, "gain", width), noise(b, d, "logits", batch*50257)
		tokens := on(b, d, "tokens", make([]int32, batch))
		before := attn.PerSequence{Host: make([]int, batch), Device: on(b, d, "before", []int32{100, 100, 100, 100})}
		if count == 1 {
			require.NoError(b, d.Advance(before.Device, 900))
		}
		bytes := float64(4 * rows * width)
		for _, c := range []struct {
			name  string
			bytes float64
			run   func(int) error
		}{
			{"LayerNorm", 2 * bytes, func(int) error { return d.LayerNorm(y, x, gain, gain, rows, width, 1e-5) }},
			{"RoPE", 2 * bytes, func(int) error { return d.RoPE(x, before.Device, batch, count, heads, dim, 10000) }},
			{"SwiGLU", 3 * bytes, func(int) error { return d.SwiGLU(y, x, y) }},
			{"Add", 3 * bytes, func(int) error { return d.Add(y, x, y) }},
			{"SplitHeads", 2 * bytes, func(int) error { return d.SplitHeads(y, x, batch, count, heads, dim) }},
			{"Argmax", 4 * batch * 50257, func(int) error { return d.Argmax(tokens, logits, batch, 50257) }},
			{"Update", 4 * bytes, func(int) error { return a.Update(cache, x, x, count, before) }},
			{"Attend", 0, func(int) error { return a.Attend(y, x, cache, heads, count, before) }},
		} {
			b.Run(fmt.Sprintf("count=%d/%s", count, c.name), func(b *testing.B) { measure(b, d, c.bytes, 0, c.run) })
		}
	}
}
