package b5

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

var formats = []format{nf4, mxfp4, nvfp4}

func (f format) give(t *testing.T, shape []int, dist tensor.Dist, seed uint64) (judgetest.Prepared, weights) {
	e := judgetest.Prepare(t, dequantise(f), judge.Spec{Shape: shape, Dist: dist}, seed)
	return e, f.of(dataOf(e.In), shape[0]*shape[1], shape[1])
}

// TestReadingIsExact: the right numbers pass, and no other bit does.
func TestReadingIsExact(t *testing.T) {
	for _, f := range formats {
		for _, shape := range [][]int{{1, 1}, {1, 2}, {1, 65}, {5, 7}, {17, 113}, {256, 32}} {
			for seed := range uint64(5) {
				e, w := f.give(t, shape, tensor.Normal, seed)
				right := w.numbers()
				assert.True(t, e.Judge(t, right).Passed, "%s %v", f.name, shape)
				assert.True(t, e.Judge(t, w.otherwise(nil, nil, nil, nil)).Passed, "%s %v, read in another way", f.name, shape)
				for i, x := range right {
					if x == x && !math.IsInf(float64(x), 0) {
						right[i] = math.Float32frombits(math.Float32bits(x) ^ 1)
						assert.False(t, e.Judge(t, right).Passed, "a bit of number %d", i)
						break
					}
				}
			}
		}
	}
	e, w := mxfp4.give(t, []int{256, 32}, tensor.Normal, 3)
	right := w.numbers()
	nan := slices.IndexFunc(right, func(x float32) bool { return x != x })
	require.GreaterOrEqual(t, nan, 0, "every scale is tried, the NaN, too")
	right[nan] = math.Float32frombits(judge.Poison)
	assert.Contains(t, e.Judge(t, right).Reason, "1 of 8192 numbers were never written")
}

// TestEveryCodeAndScaleIsTried, in the cases that the rubric has.
func TestEveryCodeAndScaleIsTried(t *testing.T) {
	for _, f := range formats {
		_, w := f.give(t, []int{256, 32}, tensor.Normal, 9)
		seen := map[int]bool{}
		for i := range w.count {
			seen[w.code(i)] = true
		}
		assert.Len(t, seen, 16)
		if f.isNF4() {
			assert.Contains(t, w.scales, float32(0), "as a block of zeros has it")
			continue
		}
		all := map[uint32]bool{}
		for _, s := range w.scales {
			all[math.Float32bits(s)] = true
		}
		assert.Len(t, all, map[bool]int{false: 256, true: scales4}[f.isNVFP4()], "%s", f.title)
	}
}

func TestMisreadingsAreRecognised(t *testing.T) {
	for _, f := range formats {
		e, w := f.give(t, []int{20, 113}, tensor.Normal, 4)
		for _, m := range w.misreadings() {
			e.Says(t, m.Says, judge.Narrow(m.Whole()))
		}
		right := w.numbers()
		e.Says(t, "every number is 0", make([]float32, len(right)))
		e.Says(t, "nothing was written", judge.NoNumbers(len(right)))
		if f.isNF4() {
			continue
		}
		e, w = f.give(t, []int{256, 32}, tensor.Normal, 4)
		if f.isNVFP4() {
			for _, m := range w.missedEnds() {
				e.Says(t, m.Says, judge.Narrow(m.Whole()))
			}
			continue
		}
		e.Says(t, "a scale of 255 is NaN", w.otherwise(nil, nil, nil, notANumber))
		e.Says(t, "the smallest scale is lost", w.otherwise(nil, nil, nil, flushed))
	}
	e, w := mxfp4.give(t, []int{3, 33}, tensor.Normal, 4)
	right := w.numbers()
	for row := range 3 {
		right[33*row+32]++
	}
	e.Says(t, "only the last block of a row is wrong", right)
}

var shapes = [][]int{{1, 1, 128, 1, 1, 8}, {1, 3, 1024, 2, 1, 16}, {2, 5, 256, 6, 2, 16}, {1, 17, 384, 2, 2, 40}}

func give(t *testing.T, f format, shape []int, dist tensor.Dist, seed uint64) (judgetest.Prepared, projection) {
	e := judgetest.Prepare(t, project(f), judge.Spec{Shape: shape, Dist: dist}, seed)
	return e, f.on(e.C, e.In)
}

// scattered are q, k and v of [rows, outputs].
func (p projection) scattered(all []float32) [][]float32 { return p.places().Scatter(all) }

// tensorCores is what these do: numbers in halves, a block's sum in float32, then its scale.
func (p projection) tensorCores(sum func(float32) float32) []float32 {
	hidden := p.row
	out, halves := make([]float32, p.rows()*p.outputs()), make([]float32, p.count)
	for i := range halves {
		halves[i] = p.number(p.code(i))
	}
	tensor.Float16.Round(halves)
	for at := range out {
		x, first := p.x[at/p.outputs()*hidden:], at%p.outputs()*hidden
		total := float32(0)
		for from := hidden - p.block; from >= 0; from -= p.block { // from the last block on: any order does
			part := float32(0)
			for i := from; i < from+p.block; i++ {
				part = sum(part + x[i]*halves[first+i])
			}
			total = sum(total + part*p.scales[p.blockOf(first+from)])
		}
		out[at] = total*p.tensor + p.bias[at%p.outputs()]
	}
	tensor.Float16.Round(out)
	return out
}

func half(x float32) float32 {
	one := []float32{x}
	tensor.Float16.Round(one)
	return one[0]
}

// TestMixedPrecisionPassesAndShortcutsDoNot: numbers may be halves; no sum may.
func TestMixedPrecisionPassesAndShortcutsDoNot(t *testing.T) {
	for _, f := range formats {
		for _, shape := range shapes {
			for _, dist := range []tensor.Dist{tensor.Normal, tensor.Large, tensor.Uneven} {
				for seed := range uint64(3) {
					e, p := give(t, f, shape, dist, seed)
					plain := p.truth(p.numbers()).Plain
					assert.True(t, e.Judge(t, p.scattered(plain)...).Passed, "plain, %v", p)
					exact := p.tensorCores(func(x float32) float32 { return x })
					assert.True(t, e.Judge(t, p.scattered(exact)...).Passed, "tensor cores, %v, %s, seed %d: %v", p, dist, seed, e.Judge(t, p.scattered(exact)...))
					if shape[2] > 1000 {
						assert.False(t, e.Judge(t, p.scattered(p.tensorCores(half))...).Passed, "sums in halves, %v, %s", p, dist)
					}
				}
			}
		}
	}
}

func TestMistakesAreRecognised(t *testing.T) {
	for _, f := range formats {
		e, p := give(t, f, []int{2, 5, 256, 6, 2, 16}, tensor.Normal, 3)
		truth := p.truth(p.numbers())
		judgetest.NotAccused(t, truth, p.mistakes(truth.Want)...)
		for _, m := range p.mistakes(truth.Want) {
			wrong := m.Whole()
			if truth.Same(judge.Narrow(wrong), truth.Want) {
				assert.Contains(t, m.Says, "as if it had no rows", "rows here are whole blocks")
				continue
			}
			out := judge.Narrow(wrong)
			tensor.Float16.Round(out)
			e.Says(t, m.Says, p.scattered(out)...)
		}
		zeros := make([]float32, len(truth.Plain))
		e.Says(t, "every element is 0", p.scattered(zeros)...)
		nan := slices.Clone(truth.Plain)
		nan[7] = float32(math.NaN())
		e.Says(t, "1 element is NaN", p.scattered(nan)...)
		bits, _ := tensor.Float16.Unwritten()
		nan[7] = math.Float32frombits(bits)
		e.Says(t, "never written", p.scattered(nan)...)
	}
}

func TestShapesNotServed(t *testing.T) {
	for _, shape := range [][]int{{1, 2, 64, 2, 1, 8}, {1, 2, 320, 2, 1, 8}, {1, 2, 128, 3, 2, 8}} {
		spec := judge.Spec{Shape: shape, Dist: tensor.Normal, Refused: true}
		e := judgetest.Prepare(t, Ops[2], spec, 1)
		none := [][]float32{}
		for _, o := range e.C.Outputs {
			none = append(none, judge.NoNumbers(o.Elements()))
		}
		assert.True(t, e.Answer(t, map[string]uint64{problem.Errors: 1}, none...).Passed)
		assert.Contains(t, e.Judge(t, none...).Reason, "ProjectNF4 returned no error")
		spec.Refused = false
		_, err := Ops[2].Case(spec, 1, 1)
		require.Error(t, err)
	}
}

// TestTraffic: weights count as four bits and their scales, once for 64 rows.
func TestTraffic(t *testing.T) {
	for f, bits := range map[*format]float64{&nf4: 4.5, &mxfp4: 4.25, &nvfp4: 4.5 + 32./(128*256)} {
		c, err := project(*f).Case(judge.Spec{Shape: []int{1, 65, 256, 6, 1, 16}, Dist: tensor.Normal}, 1, 1)
		require.NoError(t, err)
		weights, x, rest := bits/8*128*256, 2*65*256., 2.*128+2*65*128
		assert.EqualValues(t, 2*weights+4*x+rest, inTiles(c))
		assert.EqualValues(t, weights+x+rest, judge.Once(c))
		assert.Less(t, project(*f).Scratch(c), uint64(2*128*256), "the weights in halves do not fit")
	}
}

func TestTimedPiecesAreThoseOfTheWhole(t *testing.T) {
	for _, f := range []format{nf4, mxfp4} {
		op := project(f)
		c, err := op.TimedCase(op.TimedSpec([]int{2, 3, 128, 4, 2, 16}, false))
		require.NoError(t, err)
		c.Seed = 11
		in, err := op.Inputs(c)
		require.NoError(t, err)
		p := f.on(c, in)
		whole := p.truth(p.numbers())
		q := p.scattered(judge.Narrow(whole.Want))[0]
		for _, piece := range []int{0, 2, 3, 11, 23} {
			one := op.Timed.Truth(c, piece*16)
			assert.InDeltaSlice(t, q[piece*16:piece*16+16], one.Want, 1e-4)
			assert.Equal(t, tensor.Float16, one.Type)
		}
	}
}

// TestNVFP4IsTheCoursesOwn: what is judged in float64 is what package quant reads, to the bit.
func TestNVFP4IsTheCoursesOwn(t *testing.T) {
	for seed := range uint64(5) {
		e, w := nvfp4.give(t, []int{64, 113}, tensor.Normal, seed)
		own := quant.NVFP4{Count: w.count, Row: w.row, Codes: w.codes, Scales: tensor.Int4.Encode(e.In[1].Data), Tensor: w.tensor}.Numbers()
		for i, x := range w.numbers() {
			assert.True(t, sameNumber(own[i], x), "number %d, seed %d: %v and %v", i, seed, own[i], x)
		}
	}
}
