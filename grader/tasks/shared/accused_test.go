package shared

import (
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/tensor"
)

// TestRoundingIsNoMistakeOfAnotherName: what is merely imprecise is not said to lack a key, to count one too many, or
// whatever else makes a small difference where there are many keys.
func TestRoundingIsNoMistakeOfAnotherName(t *testing.T) {
	for _, g := range []given{
		give(t, Flash, false, 1, 2, 9, 505, 16), give(t, Flash, true, 1, 1, 65, 249, 33), give(t, FlashWindow, true, 1, 1, 37, 161, 33, 37),
	} {
		p := AttentionOn(g.c.Attention(), g.in[0].Data, g.in[1].Data, g.in[2].Data)
		judgetest.NotAccused(t, AttentionTruth(p.Q, p.K, p.V, p.S), p.mistakes()...)
	}
	for _, ty := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
		s := attn.DecodeShape{Heads: 4, CacheShape: attn.CacheShape{Batch: 2, MaxSeq: 1000, KVHeads: 2, Dim: 16}}
		for _, lengths := range [][]int{{999, 505}, {62, 250}} {
			d := MixedDecoding{Decoding{S: s, Lengths: lengths, Parts: 4, Q: filled(t, ty, s.Batch*s.Heads*s.Dim, 1),
				K: filled(t, ty, s.Batch*s.MaxSeq*s.Slot(), 2), V: filled(t, ty, s.Batch*s.MaxSeq*s.Slot(), 3)}, ty}
			judgetest.NotAccused(t, DecodeTruth(d.Q, d.K, d.V, s, lengths), d.Decoding.Mistakes()...)
			judgetest.NotAccused(t, d.Truth(), append(d.Mistakes(), AsOtherType(ty, d.Q, d.K, d.V, func(q, k, v []float32) []float64 {
				y, _, _ := Decode64(q, k, v, s, CacheRows(s, lengths), Deviation{})
				return y
			}))...)
		}
		one := attn.Shape{Batch: 1, Heads: 4, KVHeads: 2, SeqQ: 5, SeqK: 300, Dim: 16}
		a := Mixed{S: one, Type: ty, Q: filled(t, ty, one.QElements(), 1), K: filled(t, ty, 2*300*16, 2), V: filled(t, ty, 2*300*16, 3)}
		judgetest.NotAccused(t, a.Truth(), append(a.Mistakes(), AttentionOn(a.S, a.Q, a.K, a.V).mistakes()...)...)
	}
}

func filled(t *testing.T, ty tensor.Type, n int, stream uint32) []float32 {
	x := make([]float32, n)
	require.NoError(t, tensor.FillAs(ty, x, tensor.Normal, 7, stream, 0))
	return x
}
