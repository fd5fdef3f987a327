package shared

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// What the tasks have in common whose query heads share key heads.

// EvenHeads says where heads cannot be shared evenly.
func EvenHeads(c problem.Problem) string {
	if heads, kv := c.Sizes["heads"], c.Sizes["kvheads"]; heads%kv != 0 {
		return fmt.Sprintf("%d query heads cannot share %d key heads evenly", heads, kv)
	}
	return ""
}

// GroupedRules are those of an attention whose query heads share key heads.
func GroupedRules(c problem.Problem) error {
	if why := EvenHeads(c); why != "" {
		return fmt.Errorf("%s", why)
	}
	return AttentionRules(c)
}

// ServedDim says which head dimension is not served.
func ServedDim(c problem.Problem) string {
	if dim := c.Sizes["dim"]; dim != 64 && dim != 128 {
		return fmt.Sprintf("the head dimension is %d, and 64 and 128 are served", dim)
	}
	return ""
}

// Lengths says which sequence has an impossible length, before it gets more tokens.
func Lengths(c problem.Problem, more int) string {
	slots := c.Sizes["slots"]
	for b, length := range c.Each {
		if length < 0 || length+more > slots {
			return fmt.Sprintf("the length of sequence %d is %d, and there are %d slots", b, length, slots)
		}
	}
	return ""
}

// KeysInTiles is how many keys one head reads, if tiles of so many queries share what they read: those that any of them sees.
// The mask is given: so many keys are seen by the first queries of a sequence.
func KeysInTiles(seqQ, queries int, seen func(first int) int) int {
	rows := 0
	for end := queries; end-queries < seqQ; end += queries {
		rows += seen(min(end, seqQ))
	}
	return rows
}

// SeenInTiles is KeysInTiles of an attention.
func SeenInTiles(c problem.Problem, queries int) int {
	s := c.Attention()
	return KeysInTiles(s.SeqQ, queries, func(first int) int {
		if s.Causal {
			return max(min(s.SeqK, first+s.SeqK-s.SeqQ), 0)
		}
		return s.SeqK
	})
}

// FillCache fills the first slots of each sequence; the rest holds NaN, with other bits than what was never written.
func FillCache(c problem.Problem, in []*tensor.Tensor) error {
	s := c.Decode()
	for i := 1; i < 3; i++ {
		if err := tensor.FillAs(c.Inputs[i].Type, in[i].Data, tensor.Normal, c.Seed, c.Inputs[i].Stream, 0); err != nil {
			return err
		}
		for at := range in[i].Data {
			if token := at / s.Slot(); token%s.MaxSeq >= c.Each[token/s.MaxSeq] {
				in[i].Data[at] = float32(math.NaN())
			}
		}
	}
	return nil
}

// LeastDecode is q, out, and the filled slots of each cache once (those in the window), however many query heads share them.
func LeastDecode(c problem.Problem) uint64 {
	s := c.Decode()
	slots := 0
	for _, length := range c.Each {
		slots += length - s.First(length)
	}
	return uint64(c.Outputs[0].Type.Bytes(2*s.Batch*s.Heads*s.Dim + 2*slots*s.Slot()))
}

// DecodePiece is what a piece of a timed step is made of: one query, and the keys and values that it sees.
func DecodePiece(c problem.Problem, from int) (q, k, v []float32) {
	s := c.Decode()
	row := from / s.Dim
	for _, at := range CacheRows(s, c.Each)(row/s.Heads, row%s.Heads) {
		k, v = append(k, judge.InputPart(c, 1, at, s.Dim)...), append(v, judge.InputPart(c, 2, at, s.Dim)...)
	}
	return judge.InputPart(c, 0, from, s.Dim), k, v
}

// DecodeFLOPS are those of all queries with the keys that they see.
func DecodeFLOPS(c problem.Problem) float64 {
	s := c.Decode()
	slots := 0
	for _, length := range c.Each {
		slots += length - s.First(length)
	}
	return 4 * float64(slots) * float64(s.Heads) * float64(s.Dim)
}

// Twice is the memory of the baseline's tensors, which are of twice the size.
func Twice(c problem.Problem) int64 { return 2 * int64(judge.Bytes(c.Inputs, c.Outputs)) }
