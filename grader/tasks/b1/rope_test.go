package b1

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/tensor"
)

// example is a case of one of the two operations.
type example struct {
	judgetest.Prepared
	rope
}

func give(t *testing.T, op judge.Op, s judge.Spec, seed uint64) example {
	p := judgetest.Prepare(t, op, s, seed)
	return example{p, rope{p.C.Attention(), p.C.Each, float64(p.C.Sizes["base"]), op.Name == "rope_neighbours", p.In[0].Data, p.In[1].Data, p.In[2].Data}}
}

// judged wants an output to be wrong, for a reason that holds these words.
func (e example) judged(t *testing.T, out []float32) judge.Ruling { return e.Judge(t, out) }

var specs = []judge.Spec{
	{Shape: []int{1, 1, 1, 1, 8, 10000}, Each: []int{0}, Dist: tensor.Normal},
	{Shape: []int{2, 2, 17, 40, 24, 10000}, Each: []int{23, 5}, Dist: tensor.Normal},
	{Shape: []int{1, 1, 33, 113, 128, 500000}, Each: []int{80}, Dist: tensor.Normal, Causal: true},
	{Shape: []int{2, 1, 3, 200, 64, 10000}, Each: []int{100000, 16776000}, Dist: tensor.Normal},
	{Shape: []int{1, 2, 33, 65, 32, 10000}, Each: []int{7}, Dist: tensor.Large, Causal: true},
	{Shape: []int{1, 1, 33, 129, 16, 10000}, Each: []int{96}, Dist: tensor.Uneven},
}

// arithmetic computes in some precision, from angles of some precision.
func (e example) arithmetic(a judgetest.Arithmetic, v deviation) []float32 {
	q, k, _ := e.inputs(v)
	out := []float32{}
	for row := range len(q) / e.s.Dim {
		head, i := row/e.s.SeqQ, row%e.s.SeqQ
		b, seen := head/e.s.Heads, e.s.SeqK
		if e.s.Causal {
			seen = min(seen, e.queryAt(b, i)+1)
		}
		from, to := head*e.s.SeqK*e.s.Dim, (head*e.s.SeqK+seen)*e.s.Dim
		one := e.s
		one.Batch, one.Heads, one.KVHeads, one.SeqQ, one.SeqK, one.Causal = 1, 1, 1, 1, seen, false
		out = append(out, a.Attention(judge.Narrow(q[row*e.s.Dim:(row+1)*e.s.Dim]), judge.Narrow(k[from:to]), e.v[from:to], one)...)
	}
	return out
}

func TestFloat32PassesAndLessDoesNot(t *testing.T) {
	for _, op := range Ops {
		for i, s := range specs {
			for seed := range uint64(5) {
				e := give(t, op, s, seed)
				plain := e.judged(t, e.plain())
				assert.True(t, plain.Passed, "plain, spec %d seed %d: %v", i, seed, plain)
				for _, a := range judgetest.Honest {
					j := e.judged(t, e.arithmetic(a, deviation{}))
					assert.True(t, j.Passed, "%s, spec %d seed %d: %v", a.Name, i, seed, j)
				}
				if s.Dist != tensor.Normal || e.s.SeqK < 40 {
					continue
				}
				for _, a := range judgetest.Dishonest {
					assert.False(t, e.judged(t, e.arithmetic(a, deviation{})).Passed, "%s, spec %d seed %d", a.Name, i, seed)
				}
				for n, m := range e.imprecise() {
					j := e.judged(t, e.arithmetic(judgetest.Honest[0], [...]deviation{{keep: half}, {angle: func(p int, f float64) float64 { return half(float64(p) * f) }}}[n]))
					assert.False(t, j.Passed, "%s, spec %d seed %d", m.Says, i, seed)
				}
			}
		}
	}
}

// TestAnglesOfManyBits: what a kernel may do with float32 alone passes at every position; a product
// of two floats does not, from some thousands on.
func TestAnglesOfManyBits(t *testing.T) {
	turns := func(p int, f float64) (whole, lost float64) {
		each := f / (2 * math.Pi)
		hi := float32(each)
		product := float32(p) * hi
		exact := float64(float32(p)) * float64(hi)
		return float64(product), exact - float64(product) + float64(float32(p)*float32(each-float64(hi)))
	}
	for _, op := range Ops {
		e := give(t, op, specs[3], 1)
		good := deviation{angle: func(p int, f float64) float64 {
			whole, lost := turns(p, f)
			return 2 * math.Pi * float64(float32(whole-math.RoundToEven(whole)+lost))
		}, keep: func(x float64) float64 { return float64(float32(x)) }}
		out, _ := e.exact(good)
		assert.True(t, e.judged(t, judge.Narrow(out)).Passed)
		bad := deviation{angle: func(p int, f float64) float64 { whole, _ := turns(p, f); return 2 * math.Pi * whole }}
		out, _ = e.exact(bad)
		j := e.judged(t, judge.Narrow(out))
		require.False(t, j.Passed)
	}
	near := give(t, Ops[0], judge.Spec{Shape: []int{1, 1, 9, 40, 64, 10000}, Each: []int{5000}, Dist: tensor.Normal}, 1)
	out, _ := near.exact(deviation{angle: func(p int, f float64) float64 { whole, _ := turns(p, f); return 2 * math.Pi * whole }})
	j := near.judged(t, judge.Narrow(out))
	require.False(t, j.Passed)
	assert.Contains(t, j.Reason, "too few bits for an angle of thousands")
}

func TestMistakesAreRecognised(t *testing.T) {
	for _, op := range Ops {
		for _, s := range []judge.Spec{
			{Shape: []int{3, 2, 17, 40, 24, 20000}, Each: []int{3, 23, 60}, Dist: tensor.Normal},
			{Shape: []int{3, 2, 17, 40, 24, 20000}, Each: []int{3, 9, 15}, Dist: tensor.Normal, Causal: true},
		} {
			e := give(t, op, s, 3)
			require.True(t, e.judged(t, e.plain()).Passed)
			if op.Name == Ops[0].Name && s.Causal { // the same for all
				judgetest.NotAccused(t, e.truth(), e.mistakes()...)
			}
			for i, m := range append(e.mistakes(), e.imprecise()[0]) {
				j := e.judged(t, judge.Narrow(m.Whole()))
				if assert.False(t, j.Passed, "%d: %s", i, m.Says) {
					assert.Equal(t, m.Says, j.Reason, "mistake %d, %v", i, s)
				}
			}
			zeros := e.judged(t, make([]float32, len(e.q)))
			assert.Contains(t, zeros.Reason, "every element is 0")
			nan := slices.Clone(e.plain())
			nan[5] = float32(math.NaN())
			assert.False(t, e.judged(t, nan).Passed)
		}
	}
}

func TestTheOracleByHand(t *testing.T) {
	// Two keys, one query at position 1, two numbers of which are not 0: at base 1 all pairs turn by one
	// radian a step, so the scores are cos 1 and 1, over √8.
	r := rope{base: 1 + 1e-15, start: []int{1}, q: make([]float32, 8), k: make([]float32, 16), v: make([]float32, 16)}
	r.s.Batch, r.s.Heads, r.s.KVHeads, r.s.SeqQ, r.s.SeqK, r.s.Dim = 1, 1, 1, 1, 2, 8
	r.q[0], r.k[0], r.k[8], r.v[8] = 1, 1, 1, 1
	one := 1 / (1 + math.Exp((math.Cos(1)-1)/math.Sqrt(8)))
	for _, r.neighbours = range []bool{false, true} {
		out, _ := r.exact(deviation{})
		assert.InDelta(t, one, out[0], 1e-12, fmt.Sprint(r))
	}
}

func TestATableWouldCost(t *testing.T) {
	c, err := Ops[0].Case(judge.Spec{Shape: []int{1, 1, 256, 256, 128, 10000}, Each: []int{0}, Dist: tensor.Normal}, 1, 1)
	require.NoError(t, err)
	row := uint64(4 * 128)
	assert.Equal(t, row*(2*256+2*4*256), unrotated(c))
	assert.Equal(t, row*4*256, floor(c))
	c.Causal = true
	assert.Equal(t, row*(2*256+2*(64+128+192+256)), unrotated(c))
}
