package shared

import (
	"fmt"

	"flashlab/attn"
	"flashlab/grader/grading/problem"
)

// SplitUp moves [batch, seq, heads, dim] to [batch, heads, seq, dim].
func SplitUp[T any](x []T, batch, seq, heads, dim int) []T {
	y := make([]T, 0, len(x))
	for b := range batch {
		for h := range heads {
			for i := range seq {
				from := ((b*seq+i)*heads + h) * dim
				y = append(y, x[from:from+dim]...)
			}
		}
	}
	return y
}

// JoinUp undoes splitUp.
func JoinUp[T any](x []T, batch, seq, heads, dim int) []T {
	return SplitUp(x, batch, heads, seq, dim)
}

// Every splits by taking every heads-th value of a position: a mistake.
func Every(x []float32, batch, seq, heads, dim int) []float32 {
	return SplitUp(TransposeAll(x, dim, heads), batch, seq, heads, dim)
}

// Reversed joins the heads in reverse order: a mistake.
func Reversed(x []float32, batch, seq, heads, dim int) []float32 {
	var y []float32
	for b := range batch {
		for h := heads - 1; h >= 0; h-- {
			first := (b*heads + h) * seq * dim
			y = append(y, x[first:first+seq*dim]...)
		}
	}
	return JoinUp(y, batch, seq, heads, dim)
}

// TransposeAll transposes all matrices [rows, cols] in x.
func TransposeAll(x []float32, rows, cols int) []float32 {
	y := make([]float32, len(x))
	for i := range x {
		matrix, r, c := i/(rows*cols), i/cols%rows, i%cols
		y[matrix*rows*cols+c*rows+r] = x[i]
	}
	return y
}

// Hidden is scores [.., seqQ, seqK] with a value wherever a query does not see
// a key.
func Hidden(scores []float32, s attn.Shape, with float32, sees func(i, j int) bool) []float32 {
	y := append([]float32{}, scores...)
	for at := range y {
		if !sees(at/s.SeqK%s.SeqQ, at%s.SeqK) {
			y[at] = with
		}
	}
	return y
}

// KeysForAll requires enough keys: the first query must see a key.
func KeysForAll(c problem.Problem) error {
	if c.Sizes["seqk"] < c.Sizes["seqq"] {
		return fmt.Errorf("%d queries and %d keys: the first query would see none", c.Sizes["seqq"], c.Sizes["seqk"])
	}
	return nil
}

func ScoresShape(c problem.Problem) []int {
	return []int{c.Sizes["batch"], c.Sizes["heads"], c.Sizes["seqq"], c.Sizes["seqk"]}
}
