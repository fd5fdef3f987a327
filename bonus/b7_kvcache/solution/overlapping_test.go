package kvcache

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

// TestTwoAtOnce: two Caches share their kernels' module, and nothing that is written.
func TestTwoAtOnce(t *testing.T) {
	s := attn.DecodeShape{Heads: 8, CacheShape: attn.CacheShape{Batch: 1, MaxSeq: 1024, KVHeads: 2, Dim: 64}} // in four parts
	n, tokens, channels := s.Heads*s.Dim, s.KVHeads*s.MaxSeq, s.KVHeads*(s.MaxSeq/Group)*s.Dim
	for _, bits := range []int{8, 4} {
		attntest.Overlapping(t, n, func(t *testing.T, d device.Device, queue device.Queue, seed uint64) attntest.Step[device.Float16] {
			it, err := New(queue)
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(seed, 7))
			half := func() device.Float16 { return device.ToFloat16(float32(r.NormFloat64())) }
			scale := func() device.Float16 { return device.ToFloat16((1 + r.Float32()) / float32(int(1)<<bits)) }
			halves := func(name string, n int, next func() device.Float16) Halves {
				return attntest.Filled(t, d, name, n, next)
			}
			byInt8 := func() int8 { return int8(r.IntN(255) - 127) }
			byPair := func() uint8 { return uint8(r.IntN(256)) }
			q, lengths := attntest.Inputs(t, d, "q", n, half), attn.PerSequence{Host: []int{s.MaxSeq}}
			lengths.Device = attntest.Filled(t, d, "lengths", 1, func() int32 { return int32(s.MaxSeq) })
			var decode func(out, q Halves) error
			if bits == 8 {
				from := Int8{attntest.Filled(t, d, "K", s.Elements(), byInt8), attntest.Filled(t, d, "V", s.Elements(), byInt8),
					halves("KScales", tokens, scale), halves("VScales", tokens, scale)}
				decode = func(out, q Halves) error { return it.DecodeInt8(out, q, from, s, lengths) }
			} else {
				from := Int4{attntest.Filled(t, d, "K", s.Elements()/2, byPair), attntest.Filled(t, d, "V", s.Elements()/2, byPair),
					halves("KScales", channels, scale), halves("KLows", channels, half), halves("VScales", tokens, scale), halves("VLows", tokens, half),
					halves("KOpen", s.KVHeads*Group*s.Dim, half), halves("VOpen", s.KVHeads*Group*s.Dim, half)}
				decode = func(out, q Halves) error { return it.DecodeInt4(out, q, from, s, lengths) }
			}
			return func(i int, out Halves) error {
				part, err := q(i)
				if err != nil {
					return err
				}
				return decode(out, part)
			}
		})
	}
}
