package b7

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// addings are the shapes to try: [batch, kvheads, slots, dim, count], and lengths.
var addings = []judge.Spec{
	{Shape: []int{1, 1, 32, 64, 1}, Each: []int{0}, Dist: tensor.Normal},
	{Shape: []int{3, 2, 64, 64, 2}, Each: []int{0, 30, 61}, Dist: tensor.Normal},
	{Shape: []int{2, 2, 96, 128, 40}, Each: []int{20, 56}, Dist: tensor.Normal},
	{Shape: []int{2, 2, 64, 128, 32}, Each: []int{32, 0}, Dist: tensor.Uneven},
	{Shape: []int{1, 2, 32, 64, 32}, Each: []int{0}, Dist: tensor.Equal},
	{Shape: []int{1, 1, 32, 64, 32}, Each: []int{0}, Dist: tensor.Large},
}

func giveAdding(t *testing.T, bits int, s judge.Spec, seed uint64) (judgetest.Prepared, adding) {
	p := judgetest.Prepare(t, appendOp(bits), s, seed)
	n := count(bits)
	return p, adding{p.C, cacheOf(bits, p.C.Cache(), p.In), p.In[n].Data, p.In[n+1].Data}
}

// outputs are a cache's numbers as the outputs that they are.
func outputs(c cache) (all [][]float32) {
	for _, a := range c.arrays() {
		all = append(all, *a)
	}
	return all
}

// TestWritingIsExact: the right cache passes, and no other bit does.
func TestWritingIsExact(t *testing.T) {
	for _, bits := range []int{8, 4} {
		for i, s := range addings {
			e, a := giveAdding(t, bits, s, 7)
			right := a.written(way{})
			assert.True(t, e.Judge(t, outputs(right)...).Passed, "INT%d, %d", bits, i)
			for n := range outputs(right) {
				wrong := outputs(right.clone())
				wrong[n][len(wrong[n])/2]++
				if x := wrong[n][len(wrong[n])/2]; x == x {
					assert.False(t, e.Judge(t, wrong...).Passed, "INT%d, %d, array %d", bits, i, n)
				}
			}
		}
	}
}

// TestTheRightWayIsThatOfQuant: two encoders that know nothing of each other.
func TestTheRightWayIsThatOfQuant(t *testing.T) {
	rows := 0
	for _, s := range addings {
		_, a := giveAdding(t, 4, s, 3)
		dim := s.Shape[3]
		for from := 0; from < len(a.k); from += dim {
			x := a.k[from : from+dim]
			c4, c8 := make([]uint8, dim), make([]int8, dim)
			scale, low := quant.Asymmetric4(c4, x)
			codes, wantScale, wantLow := cache{bits: 4}.encode(x, x, way{})
			require.True(t, same([]float32{scale, low}, []float32{wantScale, wantLow}), "%v %v, want %v %v", scale, low, wantScale, wantLow)
			for i, code := range c4 {
				require.EqualValues(t, codes[i], code)
				require.True(t, same([]float32{quant.Number4(code, scale, low)}, []float32{fused(codes[i], scale, low, reading{})}))
			}
			scale = quant.Symmetric8(c8, x)
			codes, wantScale, _ = cache{bits: 8}.encode(x, x, way{})
			require.True(t, same([]float32{scale}, []float32{wantScale}))
			for i, code := range c8 {
				require.EqualValues(t, codes[i], code)
			}
			rows++
		}
	}
	assert.Greater(t, rows, 100)
}

// TestWhatIsRareIsTried: an uneven case has scales of 0 and of NaN.
func TestWhatIsRareIsTried(t *testing.T) {
	for _, bits := range []int{8, 4} {
		_, a := giveAdding(t, bits, addings[3], 3)
		right := a.written(way{})
		zeros, nans := 0, 0
		for i, x := range right.vScales {
			if same([]float32{x}, a.before.vScales[i:i+1]) {
				continue
			}
			if x == 0 {
				zeros++
			}
			if x != x {
				nans++
			}
		}
		assert.Positive(t, zeros, "INT%d", bits)
		assert.Positive(t, nans, "INT%d", bits)
	}
}

func TestMistakesOfWritingAreRecognised(t *testing.T) {
	for _, c := range []struct {
		way
		says string
		bits []int
	}{
		{way{swapped: true}, "nibbles are swapped", []int{4}},
		{way{early: true}, "taken before the group was full", []int{4}},
		{way{byToken: true}, "K is quantised by token, as V is: each", []int{4}},
		{way{atOnce: true}, "K is quantised by token, as V is, and no group is ever open", []int{4}},
		{way{cut: true}, "codes are cut off", []int{8, 4}},
		{way{nearest: true}, "scales are rounded to the nearest half", []int{8, 4}},
		{way{raw: true}, "codes are made with the scale in float32", []int{8, 4}},
		{way{from0: true}, "the low is not taken off", []int{4}},
		{way{shift: 1}, "one slot too far", []int{8, 4}},
		{way{shift: -1}, "one slot too early", []int{8, 4}},
		{way{first: true}, "as long as the first", []int{8, 4}},
		{way{pair0: true}, "written to the first head of the first sequence", []int{8, 4}},
		{way{exchange: true}, "K and V are swapped", []int{8, 4}},
	} {
		for _, bits := range c.bits {
			e, a := giveAdding(t, bits, addings[2], 5)
			r := e.Judge(t, outputs(a.written(c.way))...)
			assert.False(t, r.Passed, c.says)
			assert.Contains(t, r.Reason, c.says, "INT%d", bits)
		}
	}
	e, a := giveAdding(t, 4, addings[2], 5)
	assert.Contains(t, e.Judge(t, outputs(a.before)...).Reason, "nothing was written")
	wrong := a.written(way{})
	wrong.vLows[95]++ // of a slot that the first sequence has not reached
	assert.Contains(t, e.Judge(t, outputs(wrong)...).Reason, "belong to no new token")
	wrong = a.written(way{})
	wrong.kOpen[(56+40-1)%group*128]++
	r := e.Judge(t, outputs(wrong)...)
	assert.Contains(t, r.Reason, "1 of KOpen")
}

func TestNoNumberGrows(t *testing.T) {
	for _, high := range []float32{65504, 0x1p-24, 3 * 0x1p-24, 1, 1000.5} {
		for _, bits := range []int{8, 4} {
			x := []float32{high, -high, high / 3, 0}
			tensor.Float16.Round(x)
			codes, scale, low := cache{bits: bits}.encode(x, x, way{})
			for i, code := range codes {
				back := float64(fused(code, scale, low, reading{}))
				assert.LessOrEqual(t, math.Abs(back), float64(high), "INT%d: %v", bits, x[i])
				step := max(float64(scale), 0x1p-14) // half a step, and what a scale loses that is hardly a half
				assert.InDelta(t, x[i], back, 0.5*step+float64(max(codes[0], 1))*float64(scale)*0x1p-10+16*0x1p-24, "INT%d: %v of %v", bits, x[i], high)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, s := range []judge.Spec{
		{Shape: []int{2, 2, 32, 64, 1}, Each: []int{31, 32}},
		{Shape: []int{2, 2, 32, 64, 1}, Each: []int{-1, 3}},
		{Shape: []int{1, 1, 40, 64, 1}, Each: []int{3}},
		{Shape: []int{1, 1, 32, 80, 1}, Each: []int{3}},
	} {
		for _, bits := range []int{8, 4} {
			s.Dist, s.Refused = tensor.Normal, true
			e, a := giveAdding(t, bits, s, 1)
			assert.True(t, e.Answer(t, map[string]uint64{problem.Errors: 1}, outputs(a.before)...).Passed)
			assert.Contains(t, e.Judge(t, outputs(a.before)...).Reason, fmt.Sprintf("AppendInt%d returned no error", bits))
			s.Refused = false
			_, err := appendOp(bits).Case(s, 1, 1)
			require.Error(t, err)
		}
	}
}
