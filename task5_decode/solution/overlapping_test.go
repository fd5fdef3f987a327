package decode

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

// TestTwoAtOnce: two Decodes share their kernels' module, and nothing that is written.
func TestTwoAtOnce(t *testing.T) {
	s := attn.DecodeShape{Heads: 4, CacheShape: attn.CacheShape{Batch: 1, MaxSeq: 1024, KVHeads: 2, Dim: 64}} // in eight parts
	n := s.Heads * s.Dim
	attntest.Overlapping(t, n, func(t *testing.T, d device.Device, queue device.Queue, seed uint64) attntest.Step[float32] {
		it, err := New(queue)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(seed, 5))
		number := func() float32 { return float32(r.NormFloat64()) }
		q := attntest.Inputs(t, d, "q", n, number)
		cache := attn.Cache{CacheShape: s.CacheShape, K: attntest.Filled(t, d, "k", s.Elements(), number), V: attntest.Filled(t, d, "v", s.Elements(), number)}
		lengths := attn.PerSequence{Host: []int{s.MaxSeq}, Device: attntest.Filled(t, d, "lengths", 1, func() int32 { return int32(s.MaxSeq) })}
		return func(i int, out device.Buffer[float32]) error {
			part, err := q(i)
			if err != nil {
				return err
			}
			return it.Decode(out, part, cache, s, lengths)
		}
	})
}
