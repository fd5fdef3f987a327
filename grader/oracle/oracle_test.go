package oracle

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/tensor"
)

type problem struct {
	outer, n, inner int
	dist            tensor.Dist
}

var problems = []problem{
	{17, 113, 1, tensor.Normal}, {17, 113, 1, tensor.Large}, {17, 113, 1, tensor.OneHot},
	{17, 113, 1, tensor.Equal}, {17, 113, 1, tensor.Masked}, {3, 16384, 1, tensor.Normal}, {2, 17, 5, tensor.Normal},
}

func (p problem) String() string { return fmt.Sprintf("%dx%dx%d-%s", p.outer, p.n, p.inner, p.dist) }

func (p problem) input(t *testing.T, seed uint64) []float32 {
	x, err := Case(p.dist, seed, 1, []int{p.outer, p.n, p.inner})
	require.NoError(t, err)
	return x
}

func (p problem) judge(got, x []float32) Judgement {
	return JudgeSoftmax(got, x, p.outer, p.n, p.inner)
}

// tree is how a good kernel computes it: strided partial sums, then a tree.
func tree(x []float32, p problem) []float32 {
	const threads = 64
	y := make([]float32, len(x))
	rows(p.outer, p.n, p.inner, func(first int) {
		largest := float32(math.Inf(-1))
		for i := range p.n {
			largest = max(largest, x[first+i*p.inner])
		}
		var sums [threads]float32
		for i := range p.n {
			at := first + i*p.inner
			y[at] = float32(math.Exp2(float64((x[at] - largest) * math.Log2E))) // a few ulp off, as __expf is
			sums[i%threads] += y[at]
		}
		for half := threads / 2; half > 0; half /= 2 {
			for i := range half {
				sums[i] += sums[i+half]
			}
		}
		for i := range p.n {
			y[first+i*p.inner] /= sums[0]
		}
	})
	return y
}

func TestFloat32Passes(t *testing.T) {
	for _, p := range problems {
		for seed := range uint64(20) {
			x := p.input(t, seed)
			assert.True(t, p.judge(Softmax32(x, p.outer, p.n, p.inner), x).Passed, "plain %v seed %d", p, seed)
			j := p.judge(tree(x, p), x)
			assert.True(t, j.Passed, "tree %v seed %d: %g > %g", p, seed, j.Error, j.Bound)
		}
	}
}

// rounded keeps 11 bits, as float16 does for probabilities that are not tiny.
func rounded(v float32) float32 {
	bits := math.Float32bits(v)
	return math.Float32frombits((bits + 0x1000) &^ 0x1fff)
}

func TestWrongOutputsFail(t *testing.T) {
	for _, p := range problems {
		x := p.input(t, 5)
		right := Softmax32(x, p.outer, p.n, p.inner)
		change := func(f func(y []float32)) Judgement {
			y := append([]float32{}, right...)
			f(y)
			return p.judge(y, x)
		}
		each := func(g func(v float32) float32) Judgement {
			return change(func(y []float32) {
				for i := range y {
					y[i] = g(y[i])
				}
			})
		}
		last := func(y []float32, v float32) { // the last row
			first := (p.outer-1)*p.n*p.inner + p.inner - 1
			for i := range p.n {
				y[first+i*p.inner] = v
			}
		}
		none := math.Float32frombits(poison)
		zero := each(func(float32) float32 { return 0 })
		assert.False(t, zero.Passed, p.String())
		assert.Contains(t, zero.Reason, "every element is 0")
		if p.dist != tensor.OneHot { // ones and zeros lose nothing
			half := each(rounded)
			assert.False(t, half.Passed, "float16 probabilities %v: %g", p, half.Error)
		}
		if p.dist == tensor.Normal {
			assert.Contains(t, each(rounded).Reason, "nearly right")
			assert.Contains(t, each(func(v float32) float32 { return 2 * v }).Reason, "adds up to 2 instead of 1")
		}
		nan := change(func(y []float32) { y[3] = float32(math.NaN()) })
		assert.False(t, nan.Passed)
		assert.Equal(t, 3, nan.Worst)
		assert.Contains(t, nan.Reason, "NaN")
		assert.Contains(t, each(func(float32) float32 { return none }).Reason, "nothing was written")
		dropped := change(func(y []float32) { last(y, none) })
		assert.False(t, dropped.Passed)
		assert.Contains(t, dropped.Reason, "the last one. Does the grid have a block for every row?", p.String())
		assert.False(t, change(func(y []float32) { last(y, 0) }).Passed, "a zero row of %v", p)
		assert.False(t, change(func(y []float32) { y[1] += 0.01 / float32(p.n) }).Passed)
	}
}

func TestMaskedElementsAreExactlyZero(t *testing.T) {
	p := problem{17, 113, 1, tensor.Masked}
	x := p.input(t, 1)
	y := Softmax32(x, p.outer, p.n, p.inner)
	for i, v := range x {
		if math.IsInf(float64(v), -1) {
			y[i] = 1e-30
			break
		}
	}
	j := p.judge(y, x)
	assert.False(t, j.Passed)
	assert.Contains(t, j.Reason, "exactly 0")
}

func TestPatterns(t *testing.T) {
	p := problem{4, 17, 5, tensor.Normal}
	x := p.input(t, 1)
	assert.Contains(t, p.judge(Softmax32(x, 4*17, 5, 1), x).Reason, "over the last dimension")
	assert.Contains(t, p.judge(Softmax32(x, 1, len(x), 1), x).Reason, "one softmax over all elements")

	p = problem{4, 17, 1, tensor.Large}
	x = p.input(t, 1)
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
	assert.Contains(t, p.judge(naive, x).Reason, "Subtract the row's maximum")
}

func TestTheOracleKnowsHandComputedValues(t *testing.T) {
	y := Softmax64([]float32{0, float32(math.Ln2), float32(math.Inf(-1))}, 1, 3, 1)
	assert.InDelta(t, 1.0/3, y[0], 1e-7)
	assert.InDelta(t, 2.0/3, y[1], 1e-7)
	assert.Zero(t, y[2])
	y = Softmax64([]float32{1, 5, 1, 5}, 1, 2, 2)
	assert.Equal(t, []float64{0.5, 0.5, 0.5, 0.5}, y)
}
