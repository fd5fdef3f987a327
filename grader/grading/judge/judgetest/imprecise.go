package judgetest

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge"
)

// Imprecise are outputs in which nothing is wrong but rounding: numbers with noise, rounded to a few bits, or cut off
// behind them, which makes all of them a little too small.
func Imprecise(t judge.Truth) map[string][]float32 {
	all := map[string][]float32{}
	add := func(kind string, of func(want float64) float64) {
		out := make([]float32, len(t.Want))
		for i, w := range t.Want {
			out[i] = float32(of(w))
		}
		t.Type.Round(out)
		all[kind] = out
	}
	var squares float64
	for _, w := range t.Want {
		squares += w * w
	}
	size := math.Sqrt(squares / float64(len(t.Want)))
	random := rand.New(rand.NewSource(1))
	for _, by := range []float64{1e-5, 1e-4, 1e-3, 2e-3, 5e-3, 1e-2, 3e-2} {
		add(fmt.Sprintf("noise of %g", by), func(want float64) float64 { return want + by*size*random.NormFloat64() })
		add(fmt.Sprintf("noise of %g of each number", by), func(want float64) float64 { return want * (1 + by*random.NormFloat64()) })
	}
	for bits := 5; bits < 18; bits++ {
		unit := math.Ldexp(1, bits+1)
		to := func(round func(float64) float64) func(float64) float64 {
			return func(want float64) float64 {
				fraction, exponent := math.Frexp(want)
				return math.Ldexp(round(fraction*unit)/unit, exponent)
			}
		}
		add(fmt.Sprintf("rounded to %d bits", bits), to(math.RoundToEven))
		add(fmt.Sprintf("cut off after %d bits", bits), to(math.Trunc))
	}
	return all
}

// NotAccused wants no output that is merely imprecise to be called by a mistake's name, unless the mistake is rounding.
func NotAccused(t *testing.T, truth judge.Truth, known ...judge.Mistake) {
	t.Helper()
	wrong := 0
	for kind, out := range Imprecise(truth) {
		j := truth.Judge(out)
		if j.Passed {
			continue
		}
		wrong++
		for _, m := range known {
			if !m.Rounds {
				assert.Empty(t, truth.Recognise(out, j, m), "%s, error %.2g", kind, j.Error)
			}
		}
	}
	assert.Greater(t, wrong, 5)
}
