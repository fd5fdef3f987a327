package shared

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

var softmaxes = []judgetest.Example{
	judgetest.Of(Softmax, []int{17, 113, 1}, tensor.Normal, false), judgetest.Of(Softmax, []int{17, 113, 1}, tensor.Large, false),
	judgetest.Of(Softmax, []int{17, 113, 1}, tensor.OneHot, false), judgetest.Of(Softmax, []int{17, 113, 1}, tensor.Equal, false),
	judgetest.Of(Softmax, []int{17, 113, 1}, tensor.Masked, false), judgetest.Of(Softmax, []int{3, 16384, 1}, tensor.Normal, false),
	judgetest.Of(Softmax, []int{2, 17, 5}, tensor.Normal, false),
}

func layout(c problem.Problem) judge.Layout {
	s := c.Softmax()
	return judge.Layout{Outer: s.Outer, Len: s.Len, Inner: s.Inner}
}

// tree is how a good kernel computes it: strided partial sums, then a tree.
func tree(x []float32, l judge.Layout) []float32 {
	const threads = 64
	y := make([]float32, len(x))
	for row := range l.Rows() {
		first := l.First(row)
		largest := float32(math.Inf(-1))
		for i := range l.Len {
			largest = max(largest, x[first+i*l.Inner])
		}
		var sums [threads]float32
		for i := range l.Len {
			at := first + i*l.Inner
			y[at] = float32(math.Exp2(float64((x[at] - largest) * math.Log2E))) // a few ulp off, as __expf is
			sums[i%threads] += y[at]
		}
		for half := threads / 2; half > 0; half /= 2 {
			for i := range half {
				sums[i] += sums[i+half]
			}
		}
		for i := range l.Len {
			y[first+i*l.Inner] /= sums[0]
		}
	}
	return y
}

func TestFloat32PassesSoftmax(t *testing.T) {
	for _, e := range softmaxes {
		for seed := range uint64(20) {
			c, in := e.Inputs(t, seed)
			x := in[0].Data
			assert.True(t, e.Judge(c, in, Softmax32(x, layout(c))).Passed, "plain %v seed %d", e, seed)
			v := e.Judge(c, in, tree(x, layout(c)))
			assert.True(t, v.Passed, "tree %v seed %d: %v", e, seed, v.Details)
		}
	}
}

func TestWrongSoftmaxesFail(t *testing.T) {
	for _, e := range softmaxes {
		c, in := e.Inputs(t, 5)
		l := layout(c)
		right := Softmax32(in[0].Data, l)
		change := func(f func(y []float32)) judge.Ruling {
			y := append([]float32{}, right...)
			f(y)
			return e.Judge(c, in, y)
		}
		each := func(g func(v float32) float32) judge.Ruling {
			return change(func(y []float32) {
				for i := range y {
					y[i] = g(y[i])
				}
			})
		}
		last := func(y []float32, v float32) { // the last row
			for i := range l.Len {
				y[l.First(l.Rows()-1)+i*l.Inner] = v
			}
		}
		none := math.Float32frombits(judge.Poison)
		zero := each(func(float32) float32 { return 0 })
		assert.False(t, zero.Passed, e.String())
		assert.Contains(t, zero.Reason, "every element is 0")
		if e.Dist != tensor.OneHot { // ones and zeros lose nothing
			half := each(judgetest.Rounded)
			assert.False(t, half.Passed, "float16 probabilities %v", e)
		}
		if e.Dist == tensor.Normal {
			assert.Contains(t, each(judgetest.Rounded).Reason, "nearly right")
			assert.Contains(t, each(func(v float32) float32 { return 2 * v }).Reason, "adds up to 2 instead of 1")
		}
		nan := change(func(y []float32) { y[3] = float32(math.NaN()) })
		assert.False(t, nan.Passed)
		assert.Contains(t, nan.Reason, "NaN")
		assert.Contains(t, each(func(float32) float32 { return none }).Reason, "nothing was written")
		dropped := change(func(y []float32) { last(y, none) })
		assert.False(t, dropped.Passed)
		assert.Contains(t, dropped.Reason, "the last one. Does the grid have a block for every row?", e.String())
		assert.False(t, change(func(y []float32) { last(y, 0) }).Passed, "a zero row of %v", e)
		assert.False(t, change(func(y []float32) { y[1] += 0.01 / float32(l.Len) }).Passed)
	}
}

func TestMaskedElementsAreExactlyZero(t *testing.T) {
	e := judgetest.Of(Softmax, []int{17, 113, 1}, tensor.Masked, false)
	c, in := e.Inputs(t, 1)
	y := Softmax32(in[0].Data, layout(c))
	for i, v := range in[0].Data {
		if math.IsInf(float64(v), -1) {
			y[i] = 1e-30
			break
		}
	}
	v := e.Judge(c, in, y)
	assert.False(t, v.Passed)
	assert.Contains(t, v.Reason, "exactly 0")
}

func TestSoftmaxPatterns(t *testing.T) {
	e := judgetest.Of(Softmax, []int{4, 17, 5}, tensor.Normal, false)
	c, in := e.Inputs(t, 1)
	x := in[0].Data
	assert.Contains(t, e.Judge(c, in, Softmax32(x, judge.Layout{Outer: 4 * 17, Len: 5, Inner: 1})).Reason, "over the last dimension")
	assert.Contains(t, e.Judge(c, in, Softmax32(x, judge.Layout{Outer: 1, Len: len(x), Inner: 1})).Reason, "one softmax over all elements")
	assert.Contains(t, e.Judge(c, in, Softmax32(x, judge.Layout{Outer: 4 * 5, Len: 17, Inner: 1})).Reason, "inner is ignored")
	assert.Contains(t, e.Judge(c, in, judge.Narrow(undivided(x, layout(c)))).Reason, "never divided by their row's sum")

	equal := judgetest.Of(Softmax, []int{17, 113, 1}, tensor.Equal, false)
	c, in = equal.Inputs(t, 3)
	assert.Contains(t, equal.Judge(c, in, judge.Narrow(undivided(in[0].Data, layout(c)))).Reason, "never divided", "len is the last dimension: no other is spoken of")
	e = judgetest.Of(Softmax, []int{4, 17, 1}, tensor.Large, false)
	c, in = e.Inputs(t, 1)
	x = in[0].Data
	naive := make([]float32, len(x))
	for o := range 4 {
		var sum float32
		for i := range 17 {
			naive[o*17+i] = float32(math.Exp(float64(x[o*17+i])))
			sum += naive[o*17+i]
		}
		for i := range 17 {
			naive[o*17+i] /= sum
		}
	}
	assert.Contains(t, e.Judge(c, in, naive).Reason, "Subtract the row's maximum")
}

func TestTheOracleKnowsHandComputedValues(t *testing.T) {
	y := Softmax64([]float32{0, float32(math.Ln2), float32(math.Inf(-1))}, judge.Layout{Outer: 1, Len: 3, Inner: 1})
	assert.InDelta(t, 1.0/3, y[0], 1e-7)
	assert.InDelta(t, 2.0/3, y[1], 1e-7)
	assert.Zero(t, y[2])
	y = Softmax64([]float32{1, 5, 1, 5}, judge.Layout{Outer: 1, Len: 2, Inner: 2})
	assert.Equal(t, []float64{0.5, 0.5, 0.5, 0.5}, y)
}

func TestSoftmaxPatternsOfNaN(t *testing.T) {
	nan := float32(math.NaN())
	for largest, want := range map[float32]string{-200: "does the maximum begin at 0?", 200: "did exp overflow?"} {
		e := judgetest.Of(Softmax, []int{2, 3, 1}, tensor.Normal, false)
		c, in := e.Inputs(t, 1)
		for i := range 3 {
			in[0].Data[3+i] = largest - float32(i)
		}
		got := append(Softmax32(in[0].Data[:3], judge.Layout{Outer: 1, Len: 3, Inner: 1}), nan, nan, nan)
		assert.Contains(t, e.Judge(c, in, got).Reason, want)
	}
}
