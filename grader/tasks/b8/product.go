package b8

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// multiplication is a product with its inputs. Its weights are as they are, also where a case has laid ones.
type multiplication struct {
	problem.Problem
	weights
	x      []float32 // [rows, k]
	isLaid bool
}

func on(c problem.Problem, in []*tensor.Tensor, isLaid bool) multiplication {
	k, n := c.Sizes["k"], c.Sizes["n"]
	if !isLaid {
		return multiplication{c, weightsOf(k, n, in[1].Data, in[2].Data, in[3].Data), in[0].Data, false}
	}
	return multiplication{c, weightsOf(k, padded(n), in[1].Data, in[2].Data, in[3].Data).unlaid(n), in[0].Data, true}
}

func (p multiplication) rows() int { return len(p.x) / p.k }

func (p multiplication) String() string {
	how := "as they are"
	if p.isLaid {
		how = "in the order of fragments"
	}
	return fmt.Sprintf("x [%d, %d] by weights [%d, %d] in INT4, %s (rows are those of x, columns the outputs)", p.rows(), p.k, p.n, p.k, how)
}

// truth is what y [rows, n] is judged by.
func (p multiplication) truth(w []float32) judge.Truth {
	return shared.Product{Type: tensor.Float16, Rows: p.rows(), Hidden: p.k, Outputs: p.n, X: p.x,
		Weight: func(i, n int) float32 { return w[n*p.k+i] }}.Truth()
}

// mistakes are those whose output this may be, where it should be want.
func (p multiplication) mistakes(want []float64) []judge.Mistake {
	rows, all := p.rows(), []judge.Mistake{}
	// moved is the output with its numbers taken from elsewhere.
	moved := func(from func(row, o int) (int, int)) func() []float64 {
		return func() []float64 {
			y := make([]float64, len(want))
			for i := range y {
				row, o := from(i/p.n, i%p.n)
				y[i] = want[row*p.n+o]
			}
			return y
		}
	}
	if rows > 1 {
		all = append(all,
			judge.Wrong(moved(func(row, o int) (int, int) { return 0, o }), "every row of y is the first one's: row r of y belongs to row r of x"),
			judge.Wrong(moved(func(row, o int) (int, int) { at := row*p.n + o; return at % rows, at / rows }), "y is written as [N, rows]: a row's outputs lie together"),
			judge.Wrong(moved(func(row, o int) (int, int) { return min(row^1, rows-1), o }), "neighbouring rows of y are swapped: a lane's sums 0 and 1 are of rows 2t and 2t + 1 of x"))
	}
	if p.n%tall == 0 {
		all = append(all, judge.Wrong(moved(func(row, o int) (int, int) { return row, o ^ 8 }), "outputs r and r + 8 of each tile are swapped: sums 0 and 1 of a lane are of output g, 2 and 3 of output g + 8"))
	}
	all = append(all, judge.Wrong(func() []float64 { return p.firstGroups(want) }, "the last group of k is left out: K / 128 groups are summed up"))
	for _, m := range p.misreadings() {
		if p.isLaid && strings.HasPrefix(m.Says, "the halves") { // laid bytes have another order
			continue
		}
		all = append(all, judge.Wrong(func() []float64 { return p.truth(judge.Narrow(m.Whole())).Want }, m.Says))
	}
	if !p.isLaid {
		return all
	}
	return append(all, judge.Wrong(func() []float64 {
		w := p.laid()
		return p.truth(w.numbers(reading{group: func(o, i int) int { return factorPlace(p.k, o, i/group) }})[:p.n*p.k]).Want
	}, "laid codes are read as if they were in rows: they lie in the order of fragments"), judge.Wrong(func() []float64 {
		return p.truth(p.numbers(reading{code: func(o, i int) int { return p.code(o, i&^7|i&1<<2|i>>1&3) }})).Want
	}, "a word's eight codes are taken in their order: codes that are 16 bits apart are neighbours along k"))
}

// firstGroups is a product without the last group, or with all of them where there is but one.
func (p multiplication) firstGroups(want []float64) []float64 {
	if p.k == group {
		return slices.Clone(want)
	}
	w := p.numbers(reading{})
	for i := range w {
		if i%p.k >= p.k-group {
			w[i] = 0
		}
	}
	return p.truth(w).Want
}
