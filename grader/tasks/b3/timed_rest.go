package b3

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
)

// restOf are the codes of a row of q and of a key and a value of its head, which must be the nearest: without them,
// out would have been computed by something else. The row's place tells which key that is.
func restOf(f format, c problem.Problem, from int) ([]judge.Span, func(got [][]float32) string) {
	s := c.Attention()
	row := from / s.Dim
	group := s.Heads / s.KVHeads
	// Heads that share a key head look at other keys of it, and so do queries beyond the last key.
	key := (row%s.SeqQ + row/s.SeqQ%group*s.SeqQ) % s.SeqK
	at := keyRow(s, row, key) * s.Dim
	starts := [3]int{from, at, at}
	spans, read := f.spans(s, starts)
	return spans, func(got [][]float32) string {
		for i, coded := range read(got) {
			t := c.Outputs[coded.at]
			if !(coded.scale(0) > 0) || math.IsInf(coded.scale(0), 0) {
				return fmt.Sprintf("a scale of %s is %v", coded.name, coded.scale(0))
			}
			for x, want := range judge.InputPart(c, i, starts[i], s.Dim) {
				if _, miss := coded.off(x, want); !(miss <= half) {
					return fmt.Sprintf("number %d of the %s is %v, which means %s, and is not the nearest to %s",
						starts[i]+x, t.Name, coded.codes[x], judge.Number(coded.value(x)), judge.Number(float64(want)))
				}
			}
		}
		return meansOf(f, c, keyRow(s, row, 0)*s.Dim, got)
	}
}

// unlike is how far means may be from the right ones, relative to the keys' own size.
const unlike = 1.0 / 512

// meansOf holds the means of a key head's columns against the right ones, where a format has them.
func meansOf(f format, c problem.Problem, first int, got [][]float32) string {
	if _, is := f.(blockFormat); !is {
		return ""
	}
	s := c.Attention()
	sums, size := make([]float64, s.Dim), 0.0
	for i, x := range judge.InputPart(c, 1, first, s.SeqK*s.Dim) {
		sums[i%s.Dim] += float64(x)
		size += float64(x) * float64(x)
	}
	apart := 0.0
	for x, sum := range sums {
		d := float64(got[4][x]) - sum/float64(s.SeqK)
		apart += d * d
	}
	if apart, size := math.Sqrt(apart/float64(s.Dim)), math.Sqrt(size/float64(s.Dim*s.SeqK)); !(apart <= unlike*size) {
		return fmt.Sprintf("the means of k from number %d on are off by %.2g of the keys' size", first/s.SeqK, apart/size)
	}
	return ""
}
