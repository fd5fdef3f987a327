package b4

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

func give(t *testing.T, op judge.Op, shape []int, dist tensor.Dist, seed uint64) (judgetest.Prepared, projection) {
	e := judgetest.Prepare(t, op, judge.Spec{Shape: shape, Dist: dist}, seed)
	return e, on(e.C, e.In, e.C.Outputs[0].Type)
}

var shapes = [][]int{
	{1, 1, 8, 1, 1, 8, 1, 2}, {1, 3, 1024, 2, 1, 16, 1, 1}, {2, 5, 200, 6, 2, 16, 2, 2}, {1, 17, 392, 2, 2, 40, 1, 2}, {1, 1, 320, 2, 1, 16, 1, 3},
}

// computed adds up in another order than the plain way, as tensor cores do, and rounds sums on the way.
func (p projection) computed(sum func(float32) float32) []float32 {
	outputs := p.Outputs()
	out := make([]float32, p.Rows()*outputs)
	for at := range out {
		row, n := at/outputs, at%outputs
		total := float32(0)
		if p.hidden == 0 {
			total = p.product[at]
		}
		for from := (p.hidden - 1) / 16 * 16; from >= 0 && p.hidden > 0; from -= 16 {
			part := float32(0)
			for i := from; i < min(from+16, p.hidden); i++ {
				part += p.x[row*p.hidden+i] * p.w[i*outputs+n]
			}
			total = sum(total + part)
		}
		out[at] = total + p.bias(n)
	}
	p.ty.Round(out)
	return out
}

// TestMixedPrecisionPassesAndShortcutsDoNot: any order of float32 sums passes; sums in 16 bits do not.
func TestMixedPrecisionPassesAndShortcutsDoNot(t *testing.T) {
	for _, op := range Ops[:3] {
		for _, shape := range shapes {
			if op.Name == "qkv_split" && shape[7] == cancelled {
				continue
			}
			for _, dist := range []tensor.Dist{tensor.Normal, tensor.Large, tensor.Uneven} {
				for seed := range uint64(3) {
					e, p := give(t, op, shape, dist, seed)
					assert.True(t, e.Judge(t, p.Scatter(p.truth().Plain)...).Passed, "plain, %v", p)
					other := p.computed(func(x float32) float32 { return x })
					assert.True(t, e.Judge(t, p.Scatter(other)...).Passed, "another order, %v, %s, seed %d: %v", p, dist, seed, e.Judge(t, p.Scatter(other)...))
					if p.hidden > 1000 {
						narrow := p.computed(func(x float32) float32 {
							one := []float32{x}
							p.ty.Round(one)
							return one[0]
						})
						assert.False(t, e.Judge(t, p.Scatter(narrow)...).Passed, "sums in 16 bits, %v, %s", p, dist)
					}
				}
			}
		}
	}
}

func TestMistakesAreRecognised(t *testing.T) {
	for _, op := range Ops[:3] {
		for _, shape := range [][]int{{2, 5, 200, 6, 2, 16, 1, 2}, {2, 5, 200, 6, 2, 16, 2, 2}} {
			e, p := give(t, op, shape, tensor.Normal, 3)
			truth := p.truth()
			judgetest.NotAccused(t, truth, p.mistakes(truth.Want)...)
			for _, m := range p.mistakes(truth.Want) {
				out := judge.Narrow(m.Whole())
				p.ty.Round(out)
				if truth.Same(out, truth.Want) {
					assert.Contains(t, m.Says, "rounded before the bias", "with these numbers nothing else is no mistake")
					continue
				}
				e.Says(t, m.Says, p.Scatter(out)...)
			}
			e.Says(t, "every element is 0", p.Scatter(make([]float32, len(truth.Plain)))...)
			nan := slices.Clone(truth.Plain)
			nan[7] = float32(math.NaN())
			e.Says(t, "1 element is NaN", p.Scatter(nan)...)
			bits, _ := p.ty.Unwritten()
			nan[7] = math.Float32frombits(bits)
			e.Says(t, "never written", p.Scatter(nan)...)
		}
	}
}

// TestRoundingBeforeTheBias: where the bias takes the sum away, all is lost by it, and the feedback says so.
func TestRoundingBeforeTheBias(t *testing.T) {
	for _, op := range Ops[1:3] {
		for seed := range uint64(5) {
			e, p := give(t, op, []int{1, 1, 320, 2, 1, 16, 1, cancelled}, tensor.Normal, seed)
			out := judge.Narrow(p.roundedFirst())
			p.ty.Round(out)
			e.Says(t, "the sum is rounded before the bias is added", p.Scatter(out)...)
		}
	}
}

func TestShapesNotServed(t *testing.T) {
	for _, shape := range [][]int{{1, 2, 12, 2, 1, 8, 1, 2}, {1, 2, 16, 2, 1, 12, 1, 2}, {1, 2, 16, 3, 2, 8, 1, 2}} {
		spec := judge.Spec{Shape: shape, Dist: tensor.Normal, Refused: true}
		e := judgetest.Prepare(t, Ops[1], spec, 1)
		none := [][]float32{}
		for _, o := range e.C.Outputs {
			none = append(none, judge.NoNumbers(o.Elements()))
		}
		assert.True(t, e.Answer(t, map[string]uint64{problem.Errors: 1}, none...).Passed)
		assert.Contains(t, e.Judge(t, none...).Reason, "Float16 returned no error")
		spec.Refused = false
		_, err := Ops[1].Case(spec, 1, 1)
		require.Error(t, err)
	}
	for _, shape := range [][]int{{1, 2, 16, 2, 1, 8, 3, 1}, {1, 2, 16, 2, 1, 8, 1, 4}} {
		_, err := Ops[1].Case(judge.Spec{Shape: shape, Dist: tensor.Normal}, 1, 1)
		require.ErrorContains(t, err, "layout is 1")
	}
}

// TestTraffic: tiles of 64 by 64, and a projection that is written and read again is beyond what gets points.
func TestTraffic(t *testing.T) {
	c, err := Ops[1].Case(judge.Spec{Shape: []int{1, 128, 32, 6, 1, 64, 1, 2}, Dist: tensor.Normal}, 1, 1)
	require.NoError(t, err)
	x, w, out := 2*128*32, 2*32*512, 2*128*512
	assert.EqualValues(t, 8*x+2*w+2*512+out, inTiles(c))
	assert.EqualValues(t, x+w+2*512+out, judge.Once(c))
	large := float64(4*x + w + 2*512 + 3*out) // tiles of 128, and the projection twice more
	assert.Greater(t, large/float64(inTiles(c)), 1.6)
}

func TestTimedPiecesAreThoseOfTheWhole(t *testing.T) {
	for _, op := range Ops[1:3] {
		for _, layout := range []int{headsFirst, tokensFirst} {
			c, err := op.TimedCase(op.TimedSpec([]int{2, 3, 72, 4, 2, 16, layout, withBias}, false))
			require.NoError(t, err)
			c.Seed = 11
			in, err := op.Inputs(c)
			require.NoError(t, err)
			p := on(c, in, c.Outputs[0].Type)
			q := p.Scatter(judge.Narrow(p.truth().Want))[0]
			for _, piece := range []int{0, 2, 3, 11, 23} {
				one := op.Timed.Truth(c, piece*16)
				assert.InDeltaSlice(t, q[piece*16:piece*16+16], one.Want, 1e-3)
				assert.Equal(t, p.ty, one.Type)
			}
		}
	}
}

// TestTheLayer: the plain way passes, and another order of sums; mistakes of projection and mask are named.
func TestTheLayer(t *testing.T) {
	for _, shape := range [][]int{{1, 1, 8, 1, 1, 8, 1}, {2, 9, 72, 4, 2, 16, 2}, {1, 40, 32, 2, 1, 24, 2}} {
		for _, causal := range []bool{false, true} {
			for seed := range uint64(3) {
				e := judgetest.Prepare(t, Ops[3], judge.Spec{Shape: shape, Dist: tensor.Normal, Causal: causal}, seed)
				l := layer{on(e.C, e.In, tensor.Float16), causal}
				right := l.truth().Plain
				assert.True(t, e.Judge(t, right, right).Passed, "%v", l)
				other := l.computed(func(x float32) float32 { return x })
				y := l.of(other, causal).Compute(shared.PlainWay(l.ty))
				assert.True(t, e.Judge(t, y, right).Passed, "another order, %v", l)
				if l.Seq == 1 {
					continue
				}
				wrong := l.of(other, !causal).Compute(shared.PlainWay(l.ty))
				e.Says(t, "Config.Causal", wrong, right)
				e.Says(t, "the function FusedQKVAttention: ", right, wrong)
				for _, m := range l.Mistakes(l.projection.truth().Want) {
					all := judge.Narrow(m.Whole())
					l.ty.Round(all)
					z := l.of(all, causal).Compute(shared.PlainWay(l.ty))
					e.Says(t, "the layer's Forward: "+m.Says, z, right)
				}
			}
		}
	}
}
