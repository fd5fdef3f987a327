// Package task0 is all that the grader knows of task 0, the warm-up.
package task0

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Ops are the eight puzzles, and the first kernel's four steps.
var Ops = judge.Ops{
	addTen("warmup_map", 256), addTen("warmup_guard", 0), addBias, shift,
	sums("warmup_sum", "blocks", block, sumMistakes), transpose, sums("warmup_pad", "tiles", side, func([]float32) []judge.Mistake { return nil }), largest,
	walk, parts, total, centre,
}

const (
	block = 256 // numbers of a block
	side  = 32  // of a tile
)

// moved is a puzzle whose result is exact. want makes it, and known are outputs of mistakes.
func moved(name string, sizes []string, tensors func(s map[string]int) (in, out []problem.Tensor),
	want func(p problem.Problem, in []*tensor.Tensor) []float32,
	known func(p problem.Problem, in []*tensor.Tensor) []judge.Mistake) judge.Op {
	return judge.Op{
		Name:    name,
		Sizes:   sizes,
		Tensors: func(p problem.Problem) (in, out []problem.Tensor) { return tensors(p.Sizes) },
		Judge: func(p problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			got := out.Tensors[0].Data
			r := judge.JudgeExact(p, in, got, want(p, in), known(p, in)...)
			if n, _, _ := judge.Census(got); n > 0 && !r.Passed {
				r.Reason = fmt.Sprintf("%d of %d elements were never written: which thread should have?", n, len(got))
				if exchanged(p.Sizes["rows"], p.Sizes["cols"], got) {
					r.Reason += " x and y are exchanged: blockIdx.x and threadIdx.x count columns, those of y count rows"
				}
			}
			return r
		},
		Least: judge.Once,
	}
}

// exchanged tells whether what was never written of [rows, cols] is what puzzle 3's blocks of 16 × 16 leave out where x
// counts rows: there are enough of them for all columns one way, and for all rows the other.
func exchanged(rows, cols int, got []float32) bool {
	up := func(n int) int { return (n + 15) / 16 * 16 }
	if rows*cols != len(got) {
		return false
	}
	for i, y := range got {
		if out := i/cols >= up(cols) || i%cols >= up(rows); out != (math.Float32bits(y) == judge.Poison) {
			return false
		}
	}
	return true
}

// same is an input x and an output y of one shape.
func same(shape func(s map[string]int) []int) func(s map[string]int) (in, out []problem.Tensor) {
	return func(s map[string]int) (in, out []problem.Tensor) {
		return []problem.Tensor{{Name: "x", Shape: shape(s)}}, []problem.Tensor{{Name: "y", Shape: shape(s)}}
	}
}

// each calculates an output element by element.
func each(n int, at func(i int) float32) []float32 {
	y := make([]float32, n)
	for i := range y {
		y[i] = at(i)
	}
	return y
}

// addTen is puzzles 1 and 2; most is how many numbers there may be, 0 for any.
func addTen(name string, most int) judge.Op {
	op := moved(name, []string{"n"}, same(func(s map[string]int) []int { return []int{s["n"]} }),
		func(_ problem.Problem, in []*tensor.Tensor) []float32 {
			x := in[0].Data
			return each(len(x), func(i int) float32 { return x[i] + 10 })
		},
		func(_ problem.Problem, in []*tensor.Tensor) []judge.Mistake {
			x := in[0].Data
			return []judge.Mistake{
				judge.Like(x, "y is x: add 10"),
				judge.Like(each(len(x), func(int) float32 { return x[0] + 10 }), "every element is x[0] + 10: each thread has a number of its own, threadIdx.x"),
				judge.Like(each(len(x), func(i int) float32 { return x[i%block] + 10 }), "every block takes the first 256 numbers: threadIdx.x begins at 0 in each block, so add blockIdx.x * blockDim.x"),
			}
		})
	op.Rules = func(p problem.Problem) error {
		if n := p.Sizes["n"]; most > 0 && n > most {
			return fmt.Errorf("n = %d: the puzzle has one block, of at most %d threads", n, most)
		}
		return nil
	}
	return op
}

// addBias is puzzle 3.
var addBias = moved("warmup_grid", []string{"rows", "cols"},
	func(s map[string]int) (in, out []problem.Tensor) {
		shape := []int{s["rows"], s["cols"]}
		return []problem.Tensor{{Name: "x", Shape: shape}, {Name: "bias", Shape: shape[1:]}}, []problem.Tensor{{Name: "y", Shape: shape}}
	},
	func(p problem.Problem, in []*tensor.Tensor) []float32 {
		cols := p.Sizes["cols"]
		return each(len(in[0].Data), func(i int) float32 { return in[0].Data[i] + in[1].Data[i%cols] })
	},
	func(p problem.Problem, in []*tensor.Tensor) []judge.Mistake {
		x, bias, cols := in[0].Data, in[1].Data, p.Sizes["cols"]
		return []judge.Mistake{
			judge.Like(x, "y is x: add bias[col]"),
			judge.Like(each(len(x), func(i int) float32 { return x[i] + bias[i/cols%cols] }), "each row adds one number of bias: bias[col], not bias[row]"),
		}
	})

// blocks is the shape of a puzzle whose input comes in blocks of 256 numbers.
func blocks(s map[string]int) []int { return []int{s["blocks"], block} }

// shift is puzzle 4.
var shift = moved("warmup_shift", []string{"blocks"}, same(blocks),
	func(_ problem.Problem, in []*tensor.Tensor) []float32 { return turned(in[0].Data, 1) },
	func(_ problem.Problem, in []*tensor.Tensor) []judge.Mistake {
		x := in[0].Data
		return []judge.Mistake{
			judge.Like(x, "y is x: nothing has moved"),
			judge.Like(turned(x, block-1), "the numbers have moved to the right: y[i] is x[i + 1]"),
			judge.Like(each(len(x), func(i int) float32 { return x[(i+1)%len(x)] }), "a block's last number comes from the next block: it is its own block's first"),
		}
	})

// turned moves each block's numbers to the left, and those in front to its end.
func turned(x []float32, by int) []float32 {
	return each(len(x), func(i int) float32 { return x[i/block*block+(i%block+by)%block] })
}

// transpose is puzzle 6.
var transpose = moved("warmup_transpose", []string{"rows", "cols"},
	func(s map[string]int) (in, out []problem.Tensor) {
		return []problem.Tensor{{Name: "x", Shape: []int{s["rows"], s["cols"]}}}, []problem.Tensor{{Name: "y", Shape: []int{s["cols"], s["rows"]}}}
	},
	func(p problem.Problem, in []*tensor.Tensor) []float32 {
		rows, cols := p.Sizes["rows"], p.Sizes["cols"]
		return each(rows*cols, func(i int) float32 { return in[0].Data[i%rows*cols+i/rows] })
	},
	func(_ problem.Problem, in []*tensor.Tensor) []judge.Mistake {
		return []judge.Mistake{judge.Like(in[0].Data, "y holds the numbers in the order of x: nothing is transposed")}
	})

// largest is puzzle 8: of five neighbours in a block.
var largest = moved("warmup_race", []string{"blocks"}, same(blocks),
	func(_ problem.Problem, in []*tensor.Tensor) []float32 { return largestOf(5, in[0].Data) },
	func(_ problem.Problem, in []*tensor.Tensor) []judge.Mistake {
		return []judge.Mistake{
			judge.Like(largestOf(1, in[0].Data), "y is x: no number has met another"),
			judge.Like(largestOf(2, in[0].Data), "y[i] is the largest of two numbers: there are four rounds"),
		}
	})

func largestOf(n int, x []float32) []float32 {
	y := x
	for by := range n {
		other := turned(x, by)
		y = each(len(x), func(i int) float32 { return max(y[i], other[i]) })
	}
	return y
}
