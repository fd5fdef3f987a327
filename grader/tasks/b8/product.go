package b8

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
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

// truth is what y [rows, n] is judged by. A row's scale is what rounding errors of 1, in each product
// and in the output, would come to.
func (p multiplication) truth(w []float32) judge.Truth {
	rows := p.rows()
	t := judge.Truth{Layout: judge.Layout{Outer: rows, Len: p.n, Inner: 1}, Type: tensor.Float16,
		Want: make([]float64, rows*p.n), Plain: make([]float32, rows*p.n), Scale: make([]float64, rows)}
	for row := range rows {
		x, squares := p.x[row*p.k:(row+1)*p.k], 0.0
		for o := range p.n {
			var sum float64
			var plain float32
			for i, w := range w[o*p.k : (o+1)*p.k] {
				term := float64(x[i]) * float64(w)
				sum += term
				squares += term * term
				plain += x[i] * w
			}
			squares += sum * sum
			t.Want[row*p.n+o], t.Plain[row*p.n+o] = sum, plain
		}
		t.Scale[row] = math.Sqrt(squares / float64(p.n))
	}
	tensor.Float16.Round(t.Plain)
	return t
}

// mistake is an output that one gets by mistake.
type mistake struct {
	out  func() []float64
	says string
}

// pattern recognises the output of a mistake.
func (p multiplication) pattern(t judge.Truth, got []float32) string {
	for _, m := range p.mistakes(t.Want) {
		if want := m.out(); t.Same(got, want) && !t.Same(t.Plain, want) {
			return m.says
		}
	}
	return ""
}

func (p multiplication) mistakes(want []float64) []mistake {
	rows, all := p.rows(), []mistake{}
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
			mistake{moved(func(row, o int) (int, int) { return 0, o }), "every row of y is the first one's: row r of y belongs to row r of x"},
			mistake{moved(func(row, o int) (int, int) { at := row*p.n + o; return at % rows, at / rows }), "y is written as [N, rows]: a row's outputs lie together"},
			mistake{moved(func(row, o int) (int, int) { return min(row^1, rows-1), o }), "neighbouring rows of y are swapped: a lane's sums 0 and 1 are of rows 2t and 2t + 1 of x"})
	}
	if p.n%tall == 0 {
		all = append(all, mistake{moved(func(row, o int) (int, int) { return row, o ^ 8 }), "outputs r and r + 8 of each tile are swapped: sums 0 and 1 of a lane are of output g, 2 and 3 of output g + 8"})
	}
	all = append(all, mistake{func() []float64 { return p.firstGroups(want) }, "the last group of k is left out: K / 128 groups are summed up"})
	for _, m := range p.misreadings() {
		if p.isLaid && strings.HasPrefix(m.says, "the halves") { // laid bytes have another order
			continue
		}
		all = append(all, mistake{func() []float64 { return p.truth(p.numbers(m.reading)).Want }, m.says})
	}
	if !p.isLaid {
		return all
	}
	return append(all, mistake{func() []float64 {
		w := p.laid()
		return p.truth(w.numbers(reading{group: func(o, i int) int { return factorPlace(p.k, o, i/group) }})[:p.n*p.k]).Want
	}, "laid codes are read as if they were in rows: they lie in the order of fragments"}, mistake{func() []float64 {
		return p.truth(p.numbers(reading{code: func(o, i int) int { return p.code(o, i&^7|i&1<<2|i>>1&3) }})).Want
	}, "a word's eight codes are taken in their order: codes that are 16 bits apart are neighbours along k"})
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
