package gpt2

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/open"
)

// BenchmarkPrompt times a random 124M's prompt of 512 tokens on a GPU: how long its kernels take to queue, for that bounds
// how fast they can be; and how long until the first token is there. The attention is the plain one, which is slow.
//
//	go test -tags cuda ./nn/gpt2 -run xxx -bench Prompt -benchtime 20x
func BenchmarkPrompt(b *testing.B) {
	_, m := on124M(b, random124M)
	require.NoError(b, m.CutWeights())
	text := someText(512)
	var queued, whole time.Duration
	for b.Loop() {
		began := time.Now()
		require.NoError(b, m.Prefill(text))
		queued += time.Since(began)
		_, err := m.Greedy()
		require.NoError(b, err)
		whole += time.Since(began)
	}
	b.ReportMetric(queued.Seconds()*1e6/float64(b.N), "µs/queued")
	b.ReportMetric(whole.Seconds()*1e6/float64(b.N), "µs/token")
}

var random124M = random{Sizes["124M"], 1}

// on124M is a model of that size with plain attention, on a GPU.
func on124M(b *testing.B, w Weights) (device.Device, *Model) {
	d, err := open.Device("auto", open.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { _ = d.Close() })
	if d.Info().Kind != device.CUDA {
		b.Skip("needs a GPU")
	}
	return d, newModel(b, d, w)
}

// someText is as many tokens of its vocabulary.
func someText(tokens int) []int32 {
	text := make([]int32, tokens)
	for i := range text {
		text[i] = int32(i * i % Sizes["124M"].Vocabulary)
	}
	return text
}
