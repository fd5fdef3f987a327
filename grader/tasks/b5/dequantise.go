package b5

import (
	"fmt"
	"math"
	"strconv"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

func of(n int) string { return strconv.Itoa(n) }

// dequantise reads rows of numbers, to the bit.
func dequantise(f format) judge.Op {
	return judge.Op{
		Name:  "dequantise_" + f.name,
		Sizes: []string{"rows", "row"},
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			count := c.Sizes["rows"] * c.Sizes["row"]
			return f.tensors(count, c.Sizes["row"]), []problem.Tensor{{Name: "out", Shape: []int{count}}}
		},
		Prepare: f.anyBits,
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			w := f.of(dataOf(in), c.Sizes["rows"]*c.Sizes["row"], c.Sizes["row"])
			return w.judge(out.Tensors[0].Data)
		},
		Least:   judge.Once,
		Scratch: func(problem.Problem) uint64 { return 4096 },
	}
}

// dataOf are the numbers of tensors.
func dataOf(in []*tensor.Tensor) (all [][]float32) {
	for _, t := range in {
		all = append(all, t.Data)
	}
	return all
}

// anyBits makes codes of every kind, and scales. MXFP4 has every byte in turn, in another order for
// every seed; NF4 has numbers of the case's distribution, and zeros, as blocks of zeros have.
func (f format) anyBits(c problem.Problem, in []*tensor.Tensor) error {
	if err := tensor.Fill(in[0].Data, tensor.Uniform, c.Seed, c.Inputs[0].Stream, 0); err != nil {
		return err
	}
	for i, x := range in[0].Data {
		in[0].Data[i] = float32(math.Floor(float64(x) * 8))
	}
	scales := in[1].Data
	if f.isNVFP4() {
		return anyTwoLevels(c, in[1:])
	}
	if f.isNF4() {
		if err := tensor.Fill(scales, c.Dist, c.Seed, c.Inputs[1].Stream, 0); err != nil {
			return err
		}
		for i, s := range scales {
			if scales[i] = float32(math.Abs(float64(s))); i%7 == 3 {
				scales[i] = 0
			}
		}
		return nil
	}
	step, start := 2*int(c.Seed%128)+1, int(c.Seed/128%256)
	for i := range scales {
		scales[i] = tensor.E8M0.Decode([]byte{byte(start + i*step)})[0]
	}
	return nil
}

// sameNumber: to the bit, but for the bits of a NaN. What was never written is a NaN as well.
func sameNumber(got, want float32) bool {
	if want != want {
		return got != got && math.Float32bits(got) != judge.Poison
	}
	return math.Float32bits(got) == math.Float32bits(want)
}

func (w weights) judge(got []float32) judge.Ruling {
	want := w.numbers()
	wrong, unwritten, first, short := 0, 0, -1, 0
	for i, g := range got {
		if sameNumber(g, want[i]) {
			continue
		}
		if wrong++; first < 0 {
			first = i
		}
		if math.Float32bits(g) == judge.Poison {
			unwritten++
		}
		if i%w.row >= w.row/w.block*w.block || i >= w.count/w.block*w.block {
			short++
		}
	}
	if wrong == 0 {
		return judge.Ruling{Passed: true}
	}
	return judge.Ruling{Reason: w.reason(got, want, wrong, unwritten, short), Details: []string{
		fmt.Sprintf("%d numbers of %s in rows of %d", w.count, w.title, w.row),
		fmt.Sprintf("first at out[%d]: got %v, want %v: code %d, %v, times the scale of block %d, %v%s", first, got[first], want[first],
			w.code(first), w.number(w.code(first)), w.blockOf(first), w.scales[w.blockOf(first)], w.andTensor()),
	}}
}

// reason is why some numbers are wrong.
func (w weights) reason(got, want []float32, wrong, unwritten, short int) string {
	switch {
	case unwritten == w.count:
		return "nothing was written: every number is as it was before the call"
	case judge.AllZero(got):
		return "every number is 0"
	}
	says := judge.Exactly(got, want, w.misreadings()...)
	switch {
	case says != "":
		return says
	case unwritten > 0:
		return fmt.Sprintf("%d of %d numbers were never written", unwritten, w.count)
	case short == wrong && w.row > w.block:
		return "only the last block of a row is wrong, which is short"
	}
	if w.isNVFP4() {
		if says := judge.Exactly(got, want, w.missedEnds()...); says != "" {
			return says
		}
	} else if says := judge.Exactly(got, want,
		judge.Like(w.otherwise(nil, nil, nil, notANumber), "a scale of 255 is NaN, and makes all of its block NaN: it is no power of two"),
		judge.Like(w.otherwise(nil, nil, nil, flushed), "the smallest scale is lost: the byte 0 is 2^−127, which is no zero")); says != "" {
		return says
	}
	return fmt.Sprintf("%d of %d numbers are wrong, by a bit at least", wrong, w.count)
}

// notANumber is a scale of 255 as the exponent of a float32 has it: infinite.
func notANumber(s float32) float32 {
	if s != s {
		return float32(math.Inf(1))
	}
	return s
}

// flushed is a scale of 0 as the exponent of a float32 has it.
func flushed(s float32) float32 {
	if s == 0x1p-127 {
		return 0
	}
	return s
}
