package b8

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
)

func giveLaid(t *testing.T, k, n int, seed uint64) (judgetest.Prepared, weights) {
	e := judgetest.Prepare(t, lay, judge.Spec{Shape: []int{k, n}, Dist: tensor.Normal}, seed)
	return e, weightsOf(k, n, e.In[0].Data, e.In[1].Data, e.In[2].Data)
}

func (w weights) tensors() [][]float32 {
	return [][]float32{tensor.Int4.Decode(w.codes), w.scales, w.zeros}
}

// TestTheOrderOfFragments: what README.md draws, number by number; and back again.
func TestTheOrderOfFragments(t *testing.T) {
	for _, shape := range [][]int{{128, 16}, {256, 1}, {384, 40}} {
		_, w := giveLaid(t, shape[0], shape[1], 3)
		l := w.laid()
		assert.Equal(t, w, l.unlaid(w.n))
		for o := range padded(w.n) {
			for i := range w.k {
				tile, g, half := o/16, o%8, o/8%2
				piece, q, lane, s, pair, e := i/64, i/32%2, o%8*4+i%32/8, i/4%2, i/2%2, i%2
				at := (tile*(w.k/64)+piece)*32 + lane
				word := 0
				for b := range 4 {
					word |= int(l.codes[at*16+(2*q+s)*4+b]) << (8 * b)
				}
				want := 0
				if o < w.n {
					want = w.code(o, i)
				}
				require.Equal(t, want, word>>(16*e+8*pair+4*half)&15, "output %d (g %d), number %d", o, g, i)
			}
		}
	}
}

func TestLayingIsExact(t *testing.T) {
	for _, shape := range [][]int{{128, 16}, {128, 1}, {256, 17}, {640, 113}} {
		e, w := giveLaid(t, shape[0], shape[1], 5)
		right := w.laid()
		require.True(t, e.Judge(t, right.tensors()...).Passed, "%v", shape)
		for i := range 3 {
			wrong := right.tensors()
			wrong[i] = slices.Clone(wrong[i])
			at := len(wrong[i]) / 2
			wrong[i][at] = float32(int(wrong[i][at]+1) % 7)
			if !slices.Equal(wrong[i], right.tensors()[i]) {
				assert.False(t, e.Judge(t, wrong...).Passed, "%v, output %d", shape, i)
			}
		}
	}
	e, w := giveLaid(t, 256, 24, 5)
	right := w.laid()
	with := func(codes []byte) [][]float32 {
		return [][]float32{tensor.Int4.Decode(codes), right.scales, right.zeros}
	}
	e.Says(t, "the codes are copied as they are", with(w.laidBy(func(k, o, i int) int { return o*k + i }, factorPlace).codes)...)
	e.Says(t, "nothing was written", with(slices.Repeat([]byte{255}, len(right.codes)))...)
	behind := slices.Clone(right.codes)
	for i := range behind {
		if i >= len(behind)/2 && behind[i] == 0 {
			behind[i] = 255
		}
	}
	e.Says(t, "those behind the last one have codes of 0", with(behind)...)
	nibbles := slices.Clone(right.codes)
	for i, b := range nibbles {
		nibbles[i] = b<<4 | b>>4
	}
	e.Says(t, "the halves of each byte are swapped", with(nibbles)...)
	flat := w.laidBy(place, func(k, o, g int) int { return (o/tall*(k/group)+g)*tall + o%tall })
	e.Says(t, "those of outputs g and g + 8 of a tile are neighbours", right.tensors()[0], flat.scales, right.zeros)
	rows := w.laidBy(place, func(k, o, g int) int { return o*(k/group) + g })
	e.Says(t, "zeros: they are copied as they are", right.tensors()[0], right.scales, rows.zeros)
}

var (
	single = [][]int{{1, 128, 8}, {1, 384, 17}, {1, 2048, 33}}
	many   = [][]int{{2, 128, 16}, {5, 640, 40}, {16, 2048, 17}, {64, 256, 32}}
)

func give(t *testing.T, op judge.Op, shape []int, dist tensor.Dist, seed uint64) (judgetest.Prepared, multiplication) {
	e := judgetest.Prepare(t, op, judge.Spec{Shape: shape, Dist: dist}, seed)
	return e, on(e.C, e.In, op.Name == "rows")
}

// tensorCores is what these do: codes less their zero are halves, a group's sum is float32, then its scale.
func (p multiplication) tensorCores(sum func(float32) float32) []float32 {
	out := make([]float32, p.rows()*p.n)
	for at := range out {
		row, o, total := at/p.n, at%p.n, float32(0)
		for g := p.k/group - 1; g >= 0; g-- { // from the last group on: any order does
			part := float32(0)
			for i := g * group; i < (g+1)*group; i++ {
				part = sum(part + p.x[row*p.k+i]*(float32(p.code(o, i))-p.zero(p.groupOf(o, i))))
			}
			total = sum(total + part*p.scales[p.groupOf(o, g*group)])
		}
		out[at] = total
	}
	tensor.Float16.Round(out)
	return out
}

func half(x float32) float32 {
	one := []float32{x}
	tensor.Float16.Round(one)
	return one[0]
}

// TestMixedPrecisionPassesAndShortcutsDoNot: weights may be rounded to halves; no sum may.
func TestMixedPrecisionPassesAndShortcutsDoNot(t *testing.T) {
	for i, shapes := range [][][]int{single, many} {
		for _, shape := range shapes {
			for _, dist := range []tensor.Dist{tensor.Normal, tensor.Large, tensor.Uneven} {
				for seed := range uint64(3) {
					e, p := give(t, Ops[1+i], shape, dist, seed)
					w := p.numbers(reading{})
					truth := p.truth(w)
					assert.True(t, e.Judge(t, truth.Plain).Passed, "plain, %v", p)
					exact := p.tensorCores(func(x float32) float32 { return x })
					assert.True(t, e.Judge(t, exact).Passed, "tensor cores, %v, %s, seed %d", p, dist, seed)
					tensor.Float16.Round(w)
					rounded := p.truth(w).Plain
					assert.True(t, e.Judge(t, rounded).Passed, "weights in halves, %v, %s, seed %d: %v", p, dist, seed, e.Judge(t, rounded))
					if shape[1] > 1000 {
						assert.False(t, e.Judge(t, p.tensorCores(half)).Passed, "sums in halves, %v, %s", p, dist)
					}
				}
			}
		}
	}
}

func TestMistakesAreRecognised(t *testing.T) {
	for i, shape := range [][]int{{1, 512, 48}, {6, 512, 48}} {
		e, p := give(t, Ops[1+i], shape, tensor.Normal, 3)
		truth := p.truth(p.numbers(reading{}))
		judgetest.NotAccused(t, truth, p.mistakes(truth.Want)...)
		for _, m := range p.mistakes(truth.Want) {
			out := judge.Narrow(m.Whole())
			tensor.Float16.Round(out)
			e.Says(t, m.Says, out)
		}
		e.Says(t, "every element is 0", make([]float32, len(truth.Plain)))
		nan := slices.Clone(truth.Plain)
		nan[7] = float32(math.NaN())
		e.Says(t, "1 element is NaN", nan)
		bits, _ := tensor.Float16.Unwritten()
		nan[7] = math.Float32frombits(bits)
		e.Says(t, "never written", nan)
	}
}

func TestShapesNotServed(t *testing.T) {
	for _, c := range []struct {
		op    judge.Op
		shape []int
		says  string
	}{{Ops[0], []int{200, 16}, "Lay returned no error"}, {Ops[1], []int{1, 192, 16}, "Row returned no error"}, {Ops[1], []int{2, 128, 16}, "Row returned no error"}, {Ops[2], []int{65, 128, 16}, "Rows returned no error"}} {
		spec := judge.Spec{Shape: c.shape, Dist: tensor.Normal, Refused: true}
		e := judgetest.Prepare(t, c.op, spec, 1)
		var before [][]float32
		for _, o := range e.C.Outputs {
			before = append(before, untouched(o))
		}
		assert.True(t, e.Answer(t, map[string]uint64{problem.Errors: 1}, before...).Passed)
		assert.Contains(t, e.Judge(t, before...).Reason, c.says)
		spec.Refused = false
		_, err := c.op.Case(spec, 1, 1)
		require.Error(t, err)
	}
}

// TestTraffic: weights count as four bits, a scale and a zero, once for all rows.
func TestTraffic(t *testing.T) {
	c, err := Ops[2].Case(judge.Spec{Shape: []int{64, 256, 30}, Dist: tensor.Normal}, 1, 1)
	require.NoError(t, err)
	weights, x, y := 32*256/2+32*2*3., 2*64*256., 2*64*30.
	assert.EqualValues(t, weights+2*x+y, inTiles(c))
	assert.EqualValues(t, weights+x+y, judge.Once(c))
}

func TestTimedPiecesAreThoseOfTheWhole(t *testing.T) {
	for i, shape := range [][]int{{1, 256, 48}, {3, 256, 48}} {
		op := Ops[1+i]
		c, err := op.TimedCase(op.TimedSpec(shape, false))
		require.NoError(t, err)
		c.Seed = 11
		in, err := op.Inputs(c)
		require.NoError(t, err)
		p := on(c, in, i == 1)
		whole := p.truth(p.numbers(reading{}))
		for piece := range shape[0] * 3 {
			one := op.Timed.Truth(c, piece*16)
			assert.InDeltaSlice(t, whole.Want[piece*16:piece*16+16], one.Want, 1e-3)
			assert.Equal(t, tensor.Float16, one.Type)
		}
	}
}
