package b3

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

var specs = []judge.Spec{
	{Shape: []int{1, 1, 1, 1, 1, 64}, Dist: tensor.Normal},
	{Shape: []int{1, 2, 1, 9, 113, 64}, Dist: tensor.Normal},
	{Shape: []int{2, 4, 2, 5, 150, 128}, Dist: tensor.Columns},
	{Shape: []int{1, 2, 2, 65, 65, 64}, Dist: tensor.Columns, Causal: true},
	{Shape: []int{1, 1, 1, 17, 257, 64}, Dist: tensor.Large},
	{Shape: []int{1, 1, 1, 70, 129, 128}, Dist: tensor.Uneven},
	{Shape: []int{1, 1, 1, 33, 129, 64}, Dist: tensor.OneHot},
	{Shape: []int{1, 1, 1, 33, 129, 64}, Dist: tensor.Equal},
	{Shape: []int{1, 1, 1, 40, 20, 64}, Dist: tensor.Normal, Causal: true}, // queries that see nothing
}

// example is a case, and the course's own codes of it.
type example struct {
	judgetest.Prepared
	job
	codes
}

func give(t *testing.T, op judge.Op, f format, s judge.Spec, seed uint64) example {
	p := judgetest.Prepare(t, op, s, seed)
	j := job{p.C, p.C.Attention(), p.In[0].Data, p.In[1].Data, p.In[2].Data, f}
	return example{p, j, f.encode(j.s, j.q, j.k, j.v)}
}

// outputs are an answer with these codes: out, and all that a method writes besides.
func (e example) outputs(out []float32, c codes) [][]float32 {
	all := [][]float32{out}
	for _, t := range c.coded {
		all = append(all, t.codes)
	}
	if len(c.coded) == 3 {
		var affine []float32
		for _, t := range c.coded {
			affine = append(affine, float32(t.scale(0)), float32(t.zero(0)))
		}
		return append(all, affine)
	}
	for i, rows := range []int{e.s.SeqQ, e.s.SeqK} {
		scales := make([]float32, e.C.Outputs[3+i].Elements())
		for at := range c.coded[i].codes {
			scales[scaleAt(at, rows, e.s.Dim)] = float32(c.coded[i].scale(at))
		}
		all = append(all, scales)
	}
	mean := make([]float32, e.C.Outputs[5].Elements())
	for at := range c.coded[1].codes {
		mean[at/e.s.Dim/e.s.SeqK*e.s.Dim+at%e.s.Dim] = float32(c.coded[1].centre(at))
	}
	return append(all, mean)
}

func (e example) plain(c codes) []float32 { return e.mixed(c).Compute(shared.PlainWay(tensor.Float16)) }

var formats = []format{tensorFormat{}, blockFormat{}}

// TestOwnCodesPass: the plain way of the course's codes passes; what keeps fewer bits does not, nor does
// attention that goes past the codes.
func TestOwnCodesPass(t *testing.T) {
	for n, op := range Ops {
		for i, s := range specs {
			for seed := range uint64(3) {
				e := give(t, op, formats[n], s, seed)
				r := e.Judge(t, e.outputs(e.plain(e.codes), e.codes)...)
				assert.True(t, r.Passed, "%s, spec %d: %v", op.Name, i, r)
				if s.Shape[4] < 100 || s.Dist != tensor.Normal && s.Dist != tensor.Columns {
					continue
				}
				r = e.Judge(t, e.outputs(e.given().Compute(shared.PlainWay(tensor.Float16)), e.codes)...)
				assert.False(t, r.Passed, "%s, spec %d", op.Name, i)
				assert.Contains(t, r.Reason, "as they came", "%s, spec %d", op.Name, i)
				for _, way := range e.mixed(e.codes).Roundings() {
					r := e.Judge(t, e.outputs(judge.Narrow(way.Whole()), e.codes)...)
					assert.False(t, r.Passed, "%s, spec %d: %s", op.Name, i, way.Says)
				}
			}
		}
	}
}

// TestMistakesAreRecognised: those of each format, and those of any attention.
func TestMistakesAreRecognised(t *testing.T) {
	for n, op := range Ops {
		e := give(t, op, formats[n], judge.Spec{Shape: []int{1, 4, 2, 130, 140, 64}, Dist: tensor.Uneven, Causal: n == 0}, 3)
		a := e.mixed(e.codes)
		for i, m := range append(formats[n].mistakes(e.job, e.codes), a.Mistakes()...) {
			out := judge.Narrow(m.Whole())
			tensor.Float16.Round(out)
			r := e.Judge(t, e.outputs(out, e.codes)...)
			if assert.False(t, r.Passed, "%s, %d: %s", op.Name, i, m.Says) {
				assert.Equal(t, m.Says, r.Reason, "%s, %d", op.Name, i)
			}
		}
	}
}

// TestCodesThatAreNotNearest: each kind of wrong code is said to be one.
func TestCodesThatAreNotNearest(t *testing.T) {
	for n, op := range Ops {
		e := give(t, op, formats[n], judge.Spec{Shape: []int{1, 2, 1, 20, 70, 64}, Dist: tensor.Normal}, 1)
		for tensorAt, name := range []string{"q", "k", "v"}[:len(e.coded)] {
			for says, change := range map[string]func(i int, code float32) float32{
				"cut off in place of rounded": func(i int, code float32) float32 {
					x := [][]float32{e.q, e.k, e.v}[tensorAt][i]
					c := e.coded[tensorAt]
					return float32(math.Trunc((float64(x)-c.centre(i))/c.scale(i)) + c.zero(i))
				},
				"wraps around": func(i int, code float32) float32 {
					if i%100 != 3 {
						return code
					}
					return code - 256*float32(math.Copysign(1, float64(code)))
				},
				"all are 0":             func(int, float32) float32 { return 0 },
				"Are they ever written": func(int, float32) float32 { return -1 },
				"are not the nearest":   func(i int, code float32) float32 { return code + float32(i/40%2) },
			} {
				changed := codes{coded: slices.Clone(e.coded), score: e.score}
				to := slices.Clone(e.coded[tensorAt].codes)
				for i, code := range to {
					to[i] = change(i, code)
				}
				changed.coded[tensorAt].codes = to
				e.Says(t, says, e.outputs(e.plain(e.codes), changed)...)
				e.Says(t, "the codes of "+name, e.outputs(e.plain(e.codes), changed)...)
			}
		}
	}
}

// TestScalesThatAreNone: what was never written, is no number or is no scale is said to be.
func TestScalesThatAreNone(t *testing.T) {
	for n, op := range Ops {
		e := give(t, op, formats[n], judge.Spec{Shape: []int{1, 2, 1, 20, 70, 64}, Dist: tensor.Normal}, 1)
		for at := range e.C.Outputs {
			if e.C.Outputs[at].Type != tensor.Float32 {
				continue
			}
			for says, bad := range map[string]float32{"never written": math.Float32frombits(judge.Poison), "is NaN or infinite": float32(math.Inf(1))} {
				all := e.outputs(e.plain(e.codes), e.codes)
				all[at] = slices.Clone(all[at])
				all[at][0] = bad
				if got := e.Judge(t, all...); assert.False(t, got.Passed) {
					assert.Contains(t, got.Reason, says, e.C.Outputs[at].Name)
				}
			}
		}
		all := e.outputs(e.plain(e.codes), e.codes)
		at := map[string]int{"int8_tensor": 4, "int8_block": 3}[op.Name]
		all[at] = slices.Clone(all[at])
		all[at][0] = 0
		e.Says(t, "has to be above 0", all...)
	}
	e := give(t, Ops[0], tensorFormat{}, judge.Spec{Shape: []int{1, 1, 1, 4, 70, 64}, Dist: tensor.Normal}, 1)
	for _, zero := range []float32{0.5, 128, -129} {
		all := e.outputs(e.plain(e.codes), e.codes)
		all[4][3] = zero
		e.Says(t, "has to be a code", all...)
	}
}

// dearer are the same inputs in codes with scales that are larger, or without the means.
func (e example) dearer(times float64, centred bool) codes {
	b := e.f.(blockFormat)
	k := e.k
	qCodes, qScale := inBlocks(e.q, e.s.SeqQ, e.s.Dim)
	mean := make([]float32, e.s.Batch*e.s.KVHeads*e.s.Dim)
	if centred {
		for i := range mean {
			mean[i] = float32(e.coded[1].centre(i/e.s.Dim*e.s.SeqK*e.s.Dim + i%e.s.Dim))
		}
		k = slices.Clone(k)
		for i := range k {
			k[i] -= mean[i/e.s.Dim/e.s.SeqK*e.s.Dim+i%e.s.Dim]
		}
	}
	kCodes, kScale := inBlocks(k, e.s.SeqK, e.s.Dim)
	for i := range kScale {
		kScale[i] *= float32(times)
	}
	for i := range kCodes {
		kCodes[i] = float32(math.RoundToEven(float64(k[i]) / float64(kScale[scaleAt(i, e.s.SeqK, e.s.Dim)])))
	}
	return b.of(e.s, qCodes, kCodes, qScale, kScale, mean)
}

// TestWhatCodesMayCost: codes that fit their scales, and out that fits them, do not pass where the scales
// are larger than they need to be, or the means were not taken off.
func TestWhatCodesMayCost(t *testing.T) {
	for _, dim := range []int{64, 128} {
		e := give(t, Ops[1], blockFormat{}, judge.Spec{Shape: []int{1, 2, 1, 33, 150, dim}, Dist: tensor.Columns}, 2)
		c := e.dearer(1, true)
		require.True(t, e.Judge(t, e.outputs(e.plain(c), c)...).Passed)
		c = e.dearer(1, false)
		e.Says(t, "the means of k are all 0", e.outputs(e.plain(c), c)...)
		c = e.dearer(2, true)
		e.Says(t, "2.00 times as large as its block needs", e.outputs(e.plain(c), c)...)
	}
}

// TestOutliers is the lesson: with normal numbers both ways cost the same, or nearly, and with outliers
// the tensor's scale loses most of its bits while the blocks' lose none.
func TestOutliers(t *testing.T) {
	cost := func(n int, dist tensor.Dist) float64 {
		e := give(t, Ops[n], formats[n], judge.Spec{Shape: []int{1, 2, 2, 100, 300, 64}, Dist: dist}, 5)
		return far(e.mixed(e.codes).Truth().Want, e.given().Truth().Want).rms
	}
	perTensor, byBlock := cost(0, tensor.Normal), cost(1, tensor.Normal)
	t.Logf("normal: per tensor %.2g, by block %.2g", perTensor, byBlock)
	assert.Less(t, perTensor, 0.03)
	assert.Less(t, byBlock, perTensor)
	tensorOut, blockOut := cost(0, tensor.Columns), cost(1, tensor.Columns)
	t.Logf("outliers: per tensor %.2g, by block %.2g", tensorOut, blockOut)
	assert.Greater(t, tensorOut, 4*perTensor)
	assert.Less(t, blockOut, 1.2*byBlock)
}

func TestDimensionsNotServed(t *testing.T) {
	for n, op := range Ops {
		spec := judge.Spec{Shape: []int{1, 1, 1, 2, 3, 80}, Dist: tensor.Normal, Refused: true}
		e := give(t, op, formats[n], spec, 1)
		none := before(e.C)
		assert.True(t, e.Answer(t, map[string]uint64{problem.Errors: 1}, none...).Passed)
		assert.Contains(t, e.Judge(t, none...).Reason, "returned no error")
		spec.Refused = false
		_, err := op.Case(spec, 1, 1)
		require.Error(t, err)
	}
}

func TestTrafficInTiles(t *testing.T) {
	c, err := Ops[1].Case(judge.Spec{Shape: []int{1, 2, 1, 128, 256, 64}, Dist: tensor.Normal}, 1, 1)
	require.NoError(t, err)
	q, k := 2*128*64, 256*64
	assert.EqualValues(t, uint64(q*(2+1)+k*(2+2+1)+q*(1+2)+2*2*256*64*3), Ops[1].Least(c))
	c.Causal = true
	assert.EqualValues(t, uint64(q*(2+1)+k*(2+2+1)+q*(1+2)+2*(192+256)*64*3), Ops[1].Least(c))
}

// TestTimedPieces: by block, a row's truth is that of the whole case; per tensor, nearly.
func TestTimedPieces(t *testing.T) {
	for n, op := range Ops {
		c, err := op.TimedCase(op.TimedSpec([]int{2, 4, 2, 70, 150, 64}, true))
		require.NoError(t, err)
		c.Seed = 11
		in, err := op.Inputs(c)
		require.NoError(t, err)
		j := job{c, c.Attention(), in[0].Data, in[1].Data, in[2].Data, formats[n]}
		whole, plain := j.given().Truth(), j.mixed(j.f.encode(j.s, j.q, j.k, j.v)).Compute(shared.PlainWay(tensor.Float16))
		for _, row := range []int{0, 8, 69, 70, 333, 559} {
			one := op.Timed.Truth(c, row*64)
			assert.InDeltaSlice(t, whole.Want[row*64:(row+1)*64], one.Want, 1e-12)
			near := map[string]float64{"int8_tensor": 0.1, "int8_block": 1e-3}[op.Name]
			assert.InDeltaSlice(t, plain[row*64:(row+1)*64], one.Plain, near, "%s, row %d", op.Name, row)
			assert.Equal(t, tensor.Float16, one.Type)
		}
	}
}
