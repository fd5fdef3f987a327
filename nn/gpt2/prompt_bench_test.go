package gpt2

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/open"
	"flashlab/nn"
)

// BenchmarkPrompt times a random 124M's prompt of 512 tokens on a GPU: how long its kernels take to queue, for that bounds
// how fast they can be; and how long until the first token is there. The attention is the plain one, which is slow.
//
//	go test -tags cuda ./nn/gpt2 -run xxx -bench Prompt -benchtime 20x
func BenchmarkPrompt(b *testing.B) {
	d, err := open.Device("auto", open.Options{})
	require.NoError(b, err)
	defer func() { _ = d.Close() }()
	if d.Info().Kind != device.CUDA {
		b.Skip("needs a GPU")
	}
	w, err := Random(Sizes["124M"], 1)
	require.NoError(b, err)
	l, err := nn.New(device.QueueOf(d))
	require.NoError(b, err)
	k, err := nn.PlainKernels(device.QueueOf(d), l)
	require.NoError(b, err)
	m, err := New(d, l, w, nn.NewLayer, k)
	require.NoError(b, err)
	defer func() { _ = m.Close() }()
	require.NoError(b, m.CutWeights())
	text := make([]int32, 512)
	for i := range text {
		text[i] = int32(i * i % 50257)
	}
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
