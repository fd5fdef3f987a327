package task0

import (
	"slices"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// The first kernel's four steps. All have x [rows, n], and a block of 256 threads for each row.

// rows are x's.
type rows struct {
	x []float32
	n int
}

// each makes an output row by row.
func (r rows) each(make func(x []float32) []float64) (y []float64) {
	for x := range slices.Chunk(r.x, r.n) {
		y = append(y, make(x)...)
	}
	return y
}

// looks is a mistake that makes such rows.
func (r rows) looks(make func(x []float32) []float64, says string) judge.Mistake {
	return judge.Wrong(func() []float64 { return r.each(make) }, says)
}

// rounds is how a step's sums are kept: as they are, or as float32.
type rounds func(v float64) float64

func exactly(v float64) float64   { return v }
func asFloat32(v float64) float64 { return float64(float32(v)) }

// step is one of the four: cols says how many numbers a row of y has, row makes one, and known are outputs of mistakes.
func step(name string, cols func(n int) int, row func(x []float32, to rounds) []float64, known func(r rows) []judge.Mistake) judge.Op {
	return judge.Op{
		Name:  name,
		Sizes: []string{"rows", "n"},
		Tensors: func(p problem.Problem) (in, out []problem.Tensor) {
			shape := []int{p.Sizes["rows"], p.Sizes["n"]}
			return []problem.Tensor{{Name: "x", Shape: shape}}, []problem.Tensor{{Name: "y", Shape: []int{shape[0], cols(shape[1])}}}
		},
		Judge: func(p problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			r, got, long := rows{in[0].Data, p.Sizes["n"]}, out.Tensors[0].Data, cols(p.Sizes["n"])
			t := judge.Truth{
				Layout: judge.Layout{Outer: p.Sizes["rows"], Len: long, Inner: 1},
				Want:   r.each(func(x []float32) []float64 { return row(x, exactly) }),
				Plain:  judge.Narrow(r.each(func(x []float32) []float64 { return row(x, asFloat32) })),
			}
			if long == 1 { // sums, in which large numbers may cancel
				t.Scale = sumTruth(r.x, r.n).Scale
			}
			v := judge.Rule(p, judge.Shapes{Problem: p}, t, got, func(j judge.Judgement) string { return t.Recognise(got, j, known(r)...) })
			if !v.Passed && firstRound(got, long) {
				v.Reason = "the first 256 numbers of each row are written, and none behind them: a loop takes a thread on, by 256 numbers each time"
			}
			return v
		},
		Least: judge.Once,
	}
}

// firstRound tells whether of each row what 256 threads write at once was written, and nothing else.
func firstRound(y []float32, cols int) bool {
	for i, v := range y {
		if n, _, _ := judge.Census([]float32{v}); (n > 0) != (i%cols >= block) {
			return false
		}
	}
	return cols > block
}

// partsOf is what each thread adds up of a row: in float32 as it goes, or exactly.
func partsOf(x []float32, to rounds) []float64 {
	sums := make([]float64, block)
	for i, v := range x {
		sums[i%block] = to(sums[i%block] + float64(v))
	}
	return sums
}

func totalOf(x []float32, to rounds) (sum float64) {
	for _, v := range partsOf(x, to) {
		sum = to(sum + v)
	}
	return sum
}

// less is a row from which a thread takes its own number.
func less(x []float32, by func(t int) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v) - by(i%block)
	}
	return y
}

func asMany(n int) int { return n }

// walk is step 9.
var walk = step("warmup_walk", asMany,
	func(x []float32, _ rounds) []float64 { return judge.Wide(x) },
	walkMistakes)

func walkMistakes(r rows) []judge.Mistake {
	return []judge.Mistake{
		r.looks(func([]float32) []float64 { return judge.Wide(r.x[:r.n]) }, "each row of y is the first row of x: block b's row begins at number b * n"),
	}
}

// parts is step 10.
var parts = step("warmup_parts", func(int) int { return block }, partsOf,
	partsMistakes)

func partsMistakes(r rows) []judge.Mistake {
	return []judge.Mistake{
		r.looks(func(x []float32) []float64 { return partsOf(x[:min(block, len(x))], exactly) }, "each thread has its first number alone: the sum goes on through the loop, and y is written behind it"),
		r.looks(func(x []float32) []float64 {
			last := make([]float64, block)
			for i, v := range x {
				last[i%block] = float64(v)
			}
			return last
		}, "each thread has its last number alone: add to the sum, +=, in place of setting it"),
	}
}

// total is step 11.
var total = step("warmup_total", func(int) int { return 1 },
	func(x []float32, to rounds) []float64 { return []float64{totalOf(x, to)} },
	totalMistakes)

func totalMistakes(r rows) []judge.Mistake {
	of := func(takes func(t int) bool, says string) judge.Mistake {
		return r.looks(func(x []float32) []float64 {
			sum := 0.0
			for t, v := range partsOf(x, exactly) {
				if takes(t) {
					sum += v
				}
			}
			return []float64{sum}
		}, says)
	}
	return []judge.Mistake{
		of(func(t int) bool { return t == 0 }, "y is thread 0's own part: the other 255 are not added to it"),
		of(func(t int) bool { return t < block/2 }, "only the first 128 parts are added up: the first round adds part t + 128 to part t"),
		of(func(t int) bool { return t%2 == 0 }, "every second part is missing: the last round adds part 1 to part 0, with half = 1"),
		r.looks(func(x []float32) []float64 { return []float64{totalOf(x[:min(block, len(x))], exactly)} },
			"only a row's first 256 numbers are added up: put the whole sum of step 10 into shared memory"),
	}
}

// centre is step 12.
var centre = step("warmup_centre", asMany,
	func(x []float32, to rounds) []float64 {
		mean := to(totalOf(x, to) / float64(len(x)))
		y := less(x, all(mean))
		for i := range y {
			y[i] = to(y[i])
		}
		return y
	},
	centreMistakes)

func centreMistakes(r rows) []judge.Mistake {
	of := func(by func(x []float32) func(t int) float64, says string) judge.Mistake {
		return r.looks(func(x []float32) []float64 { return less(x, by(x)) }, says)
	}
	return []judge.Mistake{
		of(func([]float32) func(int) float64 { return all(0) }, "y is x: nothing is taken from it"),
		of(func(x []float32) func(int) float64 { return all(totalOf(x, exactly)) }, "the sum is taken from each number: the mean is the sum over n"),
		of(func(x []float32) func(int) float64 { return all(totalOf(x, exactly) / block) },
			"the sum is divided by 256, the number of threads: the mean is the sum over n, how many numbers the row has"),
		of(func(x []float32) func(int) float64 {
			own := partsOf(x, exactly)
			return func(t int) float64 { return own[t] / float64(len(x)) }
		}, "each thread takes its own part over n: the row's whole sum is in part[0], for all to read"),
	}
}

// all is the same number for every thread.
func all(v float64) func(int) float64 { return func(int) float64 { return v } }
