package tint

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/nn"
	"flashlab/nn/llama"
)

// TestResultsHaveTheFactorsInThem, by a prefill and by a step, in either layout.
func TestResultsHaveTheFactorsInThem(t *testing.T) {
	d, err := sim.Start(sim.Options{Checks: sim.AllChecks()})
	require.NoError(t, err)
	defer d.Close()
	q := device.QueueOf(d)
	plain, err := nn.NewAttention(q)
	require.NoError(t, err)
	factors, err := Factors(3).Values(5)
	require.NoError(t, err)
	tint, err := New(q, 3, func(to llama.Floats, w llama.Weight) error {
		values, err := w.Values(5)
		require.NoError(t, err)
		return to.CopyIn(q, values)
	})
	require.NoError(t, err)
	defer tint.Close()
	k := tint.Kernels(attn.Kernels{Prefill: plain, Decode: plain})

	of := func(name string, values []float32) device.Buffer[float32] {
		b, err := device.Upload(q, name, values)
		require.NoError(t, err)
		return b
	}
	ones := make([]float32, 2*2*2*3)
	for i := range ones {
		ones[i] = 1
	}
	x, out := of("x", ones), of("out", ones)
	// Values of ones make ones, and what is left are the factors.
	check := func(n int) {
		got, err := out.CopyOut(q)
		require.NoError(t, err)
		for i := range n {
			assert.InDelta(t, factors[i%3], got[i], 1e-6)
			assert.Greater(t, factors[i%3], float32(1.01))
		}
	}
	require.NoError(t, k.Prefill.Run(out, x, x, x, attn.Shape{Batch: 2, Heads: 2, KVHeads: 2, SeqQ: 2, SeqK: 2, Dim: 3}))
	check(len(ones))

	length, err := device.Upload(q, "length", []int32{2, 2})
	require.NoError(t, err)
	c := attn.Cache{K: x, V: x, CacheShape: attn.CacheShape{Batch: 2, MaxSeq: 2, KVHeads: 2, Dim: 3}}
	step, err := out.Slice(0, 12)
	require.NoError(t, err)
	token, err := x.Slice(0, 12)
	require.NoError(t, err)
	require.NoError(t, k.Decode.Decode(step, token, c, attn.DecodeShape{Heads: 2, CacheShape: c.CacheShape}, attn.PerSequence{Host: []int{2, 2}, Device: length}))
	check(12)
}

func TestALayerCompilesNothing(t *testing.T) {
	_, err := Queue(nil).Compile(device.Source{Folder: "nn", Name: "attention.cu"})
	assert.ErrorIs(t, err, ErrCompile)
}
