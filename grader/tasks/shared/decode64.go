package shared

import (
	"flashlab/attn"
	"flashlab/grader/grading/judge"
)

// Rows says where the keys of one query lie: the offsets in k, and in v, at which
// their numbers begin. nil means that the query has none.
type Rows func(sequence, head int) []int

// CacheRows are the right ones: of the first lengths[sequence] slots of the key head
// that the query head shares, those in the window.
func CacheRows(s attn.DecodeShape, lengths []int) Rows {
	return func(sequence, head int) []int {
		var at []int
		for slot := s.First(lengths[sequence]); slot < lengths[sequence]; slot++ {
			at = append(at, (sequence*s.MaxSeq+slot)*s.Slot()+head/(s.Heads/s.KVHeads)*s.Dim)
		}
		return at
	}
}

// Decode64 is one step of decoding in float64: q and out [Batch, Heads × Dim]
// against a cache. scale is that of Attention64; has tells which queries have keys.
func Decode64(q, k, v []float32, s attn.DecodeShape, rows Rows, c Deviation) (out, scale []float64, has []bool) {
	for row := range s.Batch * s.Heads {
		at := rows(row/s.Heads, row%s.Heads)
		if len(at) == 0 {
			out, scale, has = append(out, make([]float64, s.Dim)...), append(scale, 0), append(has, false)
			continue
		}
		y, size := Attention64(q[row*s.Dim:(row+1)*s.Dim], gather(k, at, s.Dim), gather(v, at, s.Dim), oneQuery(len(at), s.Dim), c)
		out, scale, has = append(out, y...), append(scale, size...), append(has, true)
	}
	return out, scale, has
}

// Decode32 is the same in float32 throughout.
func Decode32(q, k, v []float32, s attn.DecodeShape, rows Rows) []float32 {
	var out []float32
	for row := range s.Batch * s.Heads {
		at := rows(row/s.Heads, row%s.Heads)
		out = append(out, Attention32(q[row*s.Dim:(row+1)*s.Dim], gather(k, at, s.Dim), gather(v, at, s.Dim), oneQuery(len(at), s.Dim))...)
	}
	return out
}

func oneQuery(keys, dim int) attn.Shape {
	return attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: keys, Dim: dim}
}

// gather copies rows of n numbers.
func gather(x []float32, at []int, n int) []float32 {
	y := make([]float32, 0, len(at)*n)
	for _, from := range at {
		y = append(y, x[from:from+n]...)
	}
	return y
}

// DecodeTruth is what one step of decoding is judged by. Lengths are at least 1.
func DecodeTruth(q, k, v []float32, s attn.DecodeShape, lengths []int) judge.Truth {
	rows := CacheRows(s, lengths)
	want, scale, _ := Decode64(q, k, v, s, rows, Deviation{})
	return judge.Truth{Layout: judge.Layout{Outer: len(want) / s.Dim, Len: s.Dim, Inner: 1}, Want: want, Plain: Decode32(q, k, v, s, rows), Scale: scale}
}
