package quant

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"flashlab/tensor"
)

// normal are numbers without numbers' outliers and zeros.
func normal(t *testing.T, n int, seed uint32) []float32 {
	x := make([]float32, n)
	require.NoError(t, tensor.Fill(x, tensor.Normal, 7, seed, 0))
	return x
}

// related are inputs [tokens, row] that are correlated: most of each is that of its neighbour. Some are larger
// than others.
func related(t *testing.T, tokens, row int, seed uint32) []float32 {
	x := normal(t, tokens*row, seed)
	for i := range x {
		if i%row > 0 {
			x[i] = 0.9*x[i-1] + 0.4*x[i]
		}
	}
	for i := range x {
		x[i] *= 1 + float32(i%row%7)
	}
	return x
}

// loss is how far products with x [tokens, row] are from what they were, as Error has it.
func loss(w, is, x []float32, row int) float64 {
	return Error(product(x, w, row), product(x, is, row))
}

// product is x [tokens, row] · wᵀ, where w is [N, row].
func product(x, w []float32, row int) (y []float32) {
	for i := 0; i < len(x); i += row {
		for j := 0; j < len(w); j += row {
			sum := 0.0
			for k := range row {
				sum += float64(x[i+k]) * float64(w[j+k])
			}
			y = append(y, float32(sum))
		}
	}
	return y
}

// TestGPTQLosesLess than rounding to the nearest: on the inputs that it was shown, and on others of their
// kind. Its weights are further from what they were. Fed with the wrong sign, errors add up instead.
func TestGPTQLosesLess(t *testing.T) {
	const n, row = 24, 300 // the last group is short
	w, x, others := normal(t, n*row, 1), related(t, 1200, row, 2), related(t, 200, row, 3)
	for _, asymmetric := range []bool{false, true} {
		nearest, err := ToINT4(w, row, asymmetric)
		require.NoError(t, err)
		m, err := GPTQ(w, row, x, asymmetric)
		require.NoError(t, err)
		was, is := nearest.Numbers(), m.Numbers()
		assert.Less(t, loss(w, is, x, row), 0.5*loss(w, was, x, row), "inputs that it was shown")
		assert.Less(t, loss(w, is, others, row), 0.6*loss(w, was, others, row), "inputs that it was not shown")
		assert.Greater(t, Error(w, is), Error(w, was), "the weights themselves")

		u, err := factor(hessian(x, row))
		require.NoError(t, err)
		for i := range row {
			for j := i + 1; j < row; j++ {
				u.SetTri(i, j, -u.At(i, j))
			}
		}
		wrong, err := inOrder(w, row, u, asymmetric)
		require.NoError(t, err)
		assert.Greater(t, loss(w, wrong.Numbers(), x, row), 1.5*loss(w, was, x, row), "errors of the wrong sign")
	}
}

// TestTheFactorIsLeastSquares: behind column i, which is off by 1, the columns F move by U[i, F] / U[i, i]. This loses
// least where H[F, F] times it is −H[F, i].
func TestTheFactorIsLeastSquares(t *testing.T) {
	const row = 40
	h := hessian(related(t, 90, row, 4), row)
	u, err := factor(h) // which also adds to the diagonal
	require.NoError(t, err)
	for i := range row {
		for f := i + 1; f < row; f++ {
			sum := 0.0
			for j := i + 1; j < row; j++ {
				sum += h.At(f, j) * u.At(i, j) / u.At(i, i)
			}
			assert.InDelta(t, -h.At(f, i), sum, 1e-9*h.At(f, f), "columns %d and %d", i, f)
		}
	}
}

// TestGPTQOfUnrelatedInputs: if H is a multiple of the identity, no column can make good for another.
func TestGPTQOfUnrelatedInputs(t *testing.T) {
	for _, row := range []int{1, 113, 128, 300} {
		w, x := numbers(5*row, uint64(row)), make([]float32, row*row)
		for i := range row {
			x[i*row+i] = 3
		}
		for _, asymmetric := range []bool{false, true} {
			want, err := ToINT4(w, row, asymmetric)
			require.NoError(t, err)
			got, err := GPTQ(w, row, x, asymmetric)
			require.NoError(t, err)
			assert.Equal(t, want, got, "rows of %d: the same bits as to the nearest", row)
			got, err = GPTQ(w, row, make([]float32, row), asymmetric)
			require.NoError(t, err)
			assert.Equal(t, want, got, "rows of %d: no input was ever other than 0", row)
		}
	}
}

// TestGPTQByHand: two inputs that are always the same, so what the first weight is off by goes into the second.
func TestGPTQByHand(t *testing.T) {
	x := []float32{1, 1}
	m, err := GPTQ([]float32{1.4, 1.4, 7, 0.3}, 2, x, false)
	require.NoError(t, err)
	scale := asHalf(1.4 / 7)
	assert.Equal(t, []float32{7 * scale, 7 * scale, 7, 0}, m.Numbers(), "nothing was off")
	m, err = GPTQ([]float32{3.4, 7, 3.4, 6.3}, 2, x, false)
	require.NoError(t, err)
	assert.Equal(t, float32(1), m.Scales[0])
	assert.Equal(t, []float32{3, 7}, m.Numbers()[:2], "7.4 is 7")
	half := asHalf(6.3 / 7)
	assert.Equal(t, []float32{4 * half, 7 * half}, m.Numbers()[2:], "3.6 is more by 0.2, so 6.1, which is 6.8 steps")
}

// TestGPTQOfHardInputs: dead ones, fewer tokens than inputs, some that are copies of others, very large and very
// small ones. Each has an answer, which is hardly worse than to the nearest.
func TestGPTQOfHardInputs(t *testing.T) {
	const row = 260
	w := normal(t, 7*row, 5)
	for name, change := range map[string]func(x []float32){
		"dead inputs": func(x []float32) {
			for i := range x {
				if i%row%5 == 0 || i%row >= 256 {
					x[i] = 0
				}
			}
		},
		"copies": func(x []float32) {
			for i := range x {
				x[i] = x[i/row*row+i%row/4]
			}
		},
		"three tokens": func(x []float32) { clear(x[3*row:]) },
		"large and small": func(x []float32) {
			for i := range x {
				x[i] *= float32(math.Pow(10, float64(i%row%21-10)))
			}
		},
		"tiny": func(x []float32) {
			for i := range x {
				x[i] *= 1e-37
			}
		},
	} {
		x := related(t, 400, row, 6)
		change(x)
		for _, asymmetric := range []bool{false, true} {
			nearest, err := ToINT4(w, row, asymmetric)
			require.NoError(t, err)
			m, err := GPTQ(w, row, x, asymmetric)
			require.NoError(t, err, name)
			require.Len(t, m.Codes, 7*row/2)
			is := m.Numbers()
			require.NoError(t, finite(is), name)
			assert.Less(t, loss(w, is, x, row), 1.05*loss(w, nearest.Numbers(), x, row), name)
			rounded := append([]float32{}, m.Scales...)
			tensor.Float16.Round(rounded)
			assert.Equal(t, rounded, m.Scales, "%s: scales are halves", name)
			for _, zero := range m.Zeros {
				assert.True(t, zero <= 15 && (asymmetric || zero == Symmetric), name)
			}
			if name == "dead inputs" {
				assert.InDelta(t, w[0], is[0], 0.512*float64(m.Scales[0]), "rounded by itself")
			}
		}
	}
}

// TestGPTQOnAnyProcessors: however many there are, its sums are gonum's, bit for bit, and so is what it rounds to.
func TestGPTQOnAnyProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, shape := range [][3]int{{300, 1100, 37}, {113, 50, 33}, {1, 5, 5}} {
		row, tokens, n := shape[0], shape[1], shape[2]
		x, w := related(t, tokens, row, 7), normal(t, n*row, 8)
		want := mat.NewSymDense(row, nil)
		for from := 0; from < tokens; from += 512 {
			some := mat.NewDense(row, min(512, tokens-from), nil)
			some.Apply(func(i, j int, _ float64) float64 { return float64(x[(from+j)*row+i]) }, some)
			want.SymRankK(want, 2, some)
		}
		var first INT4
		for _, processors := range []int{1, 4} {
			runtime.GOMAXPROCS(processors)
			require.True(t, mat.Equal(want, hessian(x, row)))
			m, err := GPTQ(w, row, x, true)
			require.NoError(t, err)
			if processors == 1 {
				first = m
			}
			require.Equal(t, first, m)
		}
	}
}

func TestGPTQRefuses(t *testing.T) {
	w, x := make([]float32, 256), make([]float32, 128)
	of := func(w []float32, row int, x []float32) error { _, err := GPTQ(w, row, x, false); return err }
	assert.NoError(t, of(w, 128, x))
	assert.ErrorContains(t, of(w[:255], 128, x), "255 numbers are no rows of 128")
	assert.ErrorContains(t, of(w, 0, x), "no rows of 0")
	assert.EqualError(t, of(w, 128, x[:127]), "inputs: 127 numbers are no rows of 128")
	assert.ErrorContains(t, of(w, 128, nil), "inputs: there are none")
	x[5] = float32(math.NaN())
	assert.ErrorIs(t, of(w, 128, x), ErrNotFinite)
	assert.ErrorContains(t, of(w, 128, x), "inputs: element 5")
	x[5], w[200] = 0, 1e6
	assert.ErrorContains(t, of(w, 128, x), "elements 128 to 255: their scale does not fit in a half")
	w[200] = float32(math.Inf(1))
	assert.ErrorContains(t, of(w, 128, x), "element 200 is +Inf")
}
