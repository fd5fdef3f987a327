package b2

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

type example struct {
	judgetest.Prepared
	shared.Mixed
}

func give(t *testing.T, op judge.Op, s judge.Spec, seed uint64) example {
	p := judgetest.Prepare(t, op, s, seed)
	return example{p, shared.Mixed{S: p.C.Attention(), Type: p.C.Inputs[0].Type, Q: p.In[0].Data, K: p.In[1].Data, V: p.In[2].Data}}
}

var specs = []judge.Spec{
	{Shape: []int{1, 1, 1, 1, 1, 64}, Dist: tensor.Normal},
	{Shape: []int{1, 2, 1, 9, 113, 64}, Dist: tensor.Normal},
	{Shape: []int{2, 4, 2, 5, 150, 128}, Dist: tensor.Normal},
	{Shape: []int{1, 2, 2, 65, 65, 64}, Dist: tensor.Normal, Causal: true},
	{Shape: []int{1, 1, 1, 17, 257, 64}, Dist: tensor.Large},
	{Shape: []int{1, 1, 1, 17, 129, 128}, Dist: tensor.Uneven},
	{Shape: []int{1, 1, 1, 33, 129, 64}, Dist: tensor.Equal},
	{Shape: []int{1, 1, 1, 40, 20, 64}, Dist: tensor.Normal, Causal: true}, // queries that see nothing
}

// inTiles is what a fused kernel does: tiles of keys from the last to the first, probabilities
// relative to the largest score so far, and sums that are rescaled.
func inTiles(a shared.Mixed, tile int) []float32 {
	round, s, dim := shared.Rounder(a.Type), a.S, a.S.Dim
	factor := float32(math.Log2E / math.Sqrt(float64(dim)))
	out := make([]float32, s.QElements())
	for row := range len(out) / dim {
		i, keys := row%s.SeqQ, row/s.SeqQ/s.Heads*s.KVHeads*s.SeqK+row/s.SeqQ%s.Heads/(s.Heads/s.KVHeads)*s.SeqK
		largest, sum := float32(math.Inf(-1)), float32(0)
		y := out[row*dim : (row+1)*dim]
		for first := (s.SeqK - 1) / tile * tile; first >= 0; first -= tile {
			p, before := []float32{}, largest
			for j := first; j < min(first+tile, s.SeqK); j++ {
				score := float32(math.Inf(-1))
				if s.Sees(i, j) {
					score = 0
					for x := range dim {
						score += a.Q[row*dim+x] * a.K[(keys+j)*dim+x]
					}
				}
				p, largest = append(p, score), max(largest, score)
			}
			if math.IsInf(float64(largest), -1) {
				continue
			}
			again := float32(math.Exp2(float64((before - largest) * factor)))
			sum *= again
			for x := range y {
				y[x] *= again
			}
			for j, score := range p {
				e := float32(math.Exp2(float64((score - largest) * factor)))
				sum += e
				e = round(e)
				for x := range y {
					y[x] += e * a.V[(keys+first+j)*dim+x]
				}
			}
		}
		for x := range y {
			if sum > 0 {
				y[x] = round(y[x] / sum)
			}
		}
	}
	return out
}

// TestMixedPrecisionPassesAndShortcutsDoNot: what has to be of 16 bits may be, whatever the order; no
// sum, score or further bit may. Nor may keys be skipped that count for a thousandth.
func TestMixedPrecisionPassesAndShortcutsDoNot(t *testing.T) {
	for _, op := range Ops {
		for i, s := range specs {
			for seed := range uint64(3) {
				e := give(t, op, s, seed)
				plain := e.Compute(shared.PlainWay(e.Type))
				assert.True(t, e.Judge(t, plain).Passed, "plain, %s, spec %d", op.Name, i)
				for _, tile := range []int{16, 64} {
					j := e.Judge(t, inTiles(e.Mixed, tile))
					assert.True(t, j.Passed, "tiles of %d, %s, spec %d, seed %d: %v", tile, op.Name, i, seed, j)
				}
				if s.Dist != tensor.Normal || s.Shape[4] < 100 || seed > 0 {
					continue
				}
				for _, r := range e.Roundings() {
					j := e.Judge(t, judge.Narrow(r.Whole()))
					if assert.False(t, j.Passed, "%s, spec %d: %s", op.Name, i, r.Says) {
						assert.Equal(t, r.Says, j.Reason)
					}
				}
				skipped := shared.PlainWay(e.Type)
				skipped.P = func(x float32) float32 {
					if x < 0.05 {
						return 0
					}
					return shared.Rounder(e.Type)(x)
				}
				assert.False(t, e.Judge(t, e.Compute(skipped)).Passed, "%s, spec %d: keys skipped", op.Name, i)
			}
		}
	}
}

// TestRowsThatCancel: values of both signs add up to little, and the bound does not shrink with it.
func TestRowsThatCancel(t *testing.T) {
	for _, op := range Ops {
		e := give(t, op, judge.Spec{Shape: []int{1, 1, 1, 17, 128, 64}, Dist: tensor.Equal}, 5)
		for j := range e.S.SeqK / 2 { // pairs of opposite values, of which all keys have the same score
			for x := range e.S.Dim {
				e.V[(2*j+1)*e.S.Dim+x] = -e.V[2*j*e.S.Dim+x]
			}
		}
		for j := range e.S.SeqK {
			copy(e.K[j*e.S.Dim:(j+1)*e.S.Dim], e.K[:e.S.Dim])
		}
		assert.True(t, e.Judge(t, inTiles(e.Mixed, 64)).Passed)
		noise := e.Compute(shared.PlainWay(e.Type))
		for i := range noise {
			noise[i] += 0.05
		}
		assert.False(t, e.Judge(t, noise).Passed)
	}
}

func TestMistakesAreRecognised(t *testing.T) {
	for _, op := range Ops {
		for _, causal := range []bool{false, true} {
			e := give(t, op, judge.Spec{Shape: []int{2, 6, 2, 33, 70, 64}, Dist: tensor.Normal, Causal: causal}, 3)
			for i, m := range append(mistakes(e.Mixed), e.Mistakes()...) {
				out := judge.Narrow(m.Whole())
				e.Type.Round(out)
				j := e.Judge(t, out)
				if assert.False(t, j.Passed, "%d: %s", i, m.Says) {
					assert.Equal(t, m.Says, j.Reason, op.Name)
				}
			}
			zeros := e.Judge(t, make([]float32, len(e.Q)))
			assert.Contains(t, zeros.Reason, "every element is 0")
			nan := slices.Clone(e.Compute(shared.PlainWay(e.Type)))
			nan[5] = float32(math.NaN())
			assert.Contains(t, e.Judge(t, nan).Reason, "1 element is NaN")
			bits, _ := e.Type.Unwritten()
			nan[5] = math.Float32frombits(bits)
			assert.Contains(t, e.Judge(t, nan).Reason, "never written")
		}
	}
}

func TestDimensionsNotServed(t *testing.T) {
	for _, dim := range []int{8, 63, 80, 256} {
		spec := judge.Spec{Shape: []int{1, 1, 1, 2, 3, dim}, Dist: tensor.Normal, Refused: true}
		e := give(t, Ops[0], spec, 1)
		none := judge.NoNumbers(len(e.Q))
		assert.True(t, e.Answer(t, map[string]uint64{problem.Errors: 1}, none).Passed)
		assert.Contains(t, e.Judge(t, none).Reason, "Float16 returned no error")
		spec.Refused = false
		_, err := Ops[0].Case(spec, 1, 1)
		require.Error(t, err)
	}
}

func TestTrafficInTiles(t *testing.T) {
	c, err := Ops[0].Case(judge.Spec{Shape: []int{1, 2, 1, 256, 256, 128}, Dist: tensor.Normal}, 1, 1)
	require.NoError(t, err)
	row := uint64(2 * 128)
	assert.Equal(t, 2*row*(2*256+2*4*256), inTilesOf(64)(c))
	assert.Equal(t, row*(2*2*256+2*256), judge.Once(c), "the heads share their keys")
	c.Causal = true
	assert.Equal(t, 2*row*(2*256+2*(64+128+192+256)), inTilesOf(64)(c))
}

func TestTimedPiecesAreThoseOfTheWhole(t *testing.T) {
	for _, op := range Ops {
		c, err := op.TimedCase(op.TimedSpec([]int{2, 4, 2, 9, 20, 64}, true))
		require.NoError(t, err)
		c.Seed = 11
		in, err := op.Inputs(c)
		require.NoError(t, err)
		a := shared.Mixed{S: c.Attention(), Type: c.Inputs[0].Type, Q: in[0].Data, K: in[1].Data, V: in[2].Data}
		whole := a.Truth()
		for _, row := range []int{0, 8, 9, 40, 71} {
			one := op.Timed.Truth(c, row*64)
			assert.InDeltaSlice(t, whole.Want[row*64:(row+1)*64], one.Want, 1e-12)
			assert.Equal(t, a.Type, one.Type)
		}
	}
}
