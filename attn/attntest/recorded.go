package attntest

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
)

// Recorded writes a prompt and decodes token by token. The first step is called.
// The second is recorded in a graph, which repeats it for all the others.
func Recorded(t *testing.T, d device.Device, it attn.Decoder, decode Decoding) {
	const prompt, steps = 5, 6
	s := decodeShape(2, 4, 2, prompt+steps, 6)
	all := randomStep(t, s, []int{s.MaxSeq, s.MaxSeq}) // the cache as it is at the end
	cache := attn.Cache{CacheShape: s.CacheShape, K: Output(t, d, "cache.K", s.Elements()), V: Output(t, d, "cache.V", s.Elements())}
	k, v := Output(t, d, "k", s.Batch*s.Slot()), Output(t, d, "v", s.Batch*s.Slot())
	q, out := Input(t, d, "q", all.q), Output(t, d, "out", len(all.q))
	at, lengths := countsOn(t, d, "at", []int{0, 0}), countsOn(t, d, "lengths", []int{1, 1})

	tokens := func(x []float32, first, count int) (some []float32) {
		for b := range s.Batch {
			from := (b*s.MaxSeq + first) * s.Slot()
			some = append(some, x[from:from+count*s.Slot()]...)
		}
		return some
	}
	err := it.Update(cache, Input(t, d, "prompt's k", tokens(all.k, 0, prompt)), Input(t, d, "prompt's v", tokens(all.v, 0, prompt)), prompt, at)
	answered(t, d, "Update", err, "")
	work := func() error {
		if err := it.Update(cache, k, v, 1, at); err != nil {
			return err
		}
		return decode(out, q, cache, s, lengths)
	}
	var graph device.Graph
	for n := prompt; n < prompt+steps; n++ { // n tokens have come before
		require.NoError(t, k.CopyIn(d, tokens(all.k, n, 1)))
		require.NoError(t, v.CopyIn(d, tokens(all.v, n, 1)))
		set(t, d, at, n)
		set(t, d, lengths, n+1)
		switch n {
		case prompt:
			err = work()
		case prompt + 1:
			graph, err = d.Record(func(device.Queue) error { return work() })
			if err != nil {
				hint := ""
				if errors.Is(err, device.ErrNotRecordable) {
					hint = "\n  hint: a second call of the same shape must allocate, copy and compile nothing"
				}
				Fatal(t, d, "a step cannot be recorded: %v%s", err, hint)
			}
			t.Cleanup(func() { _ = graph.Close() })
			err = graph.Launch()
		default:
			err = graph.Launch()
		}
		answered(t, d, "a step", err, "")
		got, err := out.CopyOut(d)
		require.NoError(t, err)
		now := step{s, []int{n + 1, n + 1}, all.q, all.k, all.v}
		for i, want := range now.float64s() {
			if math.Abs(float64(got[i])-want) <= 1e-5 {
				continue
			}
			hint := ""
			if n > prompt+1 {
				hint = "\n  hint: this step is a recorded one, launched again. Positions and lengths must be read by the kernel, from at.Device and lengths.Device"
			}
			Fatal(t, d, "%d tokens in the cache: sequence %d, head %d, number %d: got %v, want %.6g%s",
				n+1, i/s.Dim/s.Heads, i/s.Dim%s.Heads, i%s.Dim, got[i], want, hint)
		}
	}
	Findings(t, d)
}

// set gives both sequences the same number.
func set(t *testing.T, d device.Device, n attn.PerSequence, to int) {
	t.Helper()
	narrow := make([]int32, len(n.Host))
	for b := range n.Host {
		n.Host[b], narrow[b] = to, int32(to)
	}
	require.NoError(t, n.Device.CopyIn(d, narrow))
}
