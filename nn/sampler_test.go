package nn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var inf = float32(math.Inf(1))

func next(t *testing.T, s *Sampler, logits ...float32) int {
	t.Helper()
	token, err := s.Next(logits)
	require.NoError(t, err)
	return token
}

// shares draws often.
func shares(t *testing.T, s *Sampler, logits ...float32) []float64 {
	t.Helper()
	const draws = 20000
	share := make([]float64, len(logits))
	for range draws {
		share[next(t, s, logits...)] += 1.0 / draws
	}
	return share
}

func ln(p float64) float32 { return float32(math.Log(p)) }

func TestSamplerIsGreedyByDefault(t *testing.T) {
	assert.Equal(t, 2, next(t, &Sampler{}, -5, 1, 3, 3, 2))
	assert.Equal(t, 1, next(t, &Sampler{}, -inf, -3e38, -inf))
	assert.Equal(t, 0, next(t, &Sampler{TopK: 3, TopP: 0.5}, 7))
}

func TestSamplerDrawsByProbability(t *testing.T) {
	logits := []float32{ln(0.5), ln(0.3), ln(0.2), -inf}
	for _, c := range []struct {
		Sampler
		want []float64
	}{
		{Sampler{Temperature: 1}, []float64{0.5, 0.3, 0.2, 0}},
		{Sampler{Temperature: 0.5}, []float64{0.25 / 0.38, 0.09 / 0.38, 0.04 / 0.38, 0}}, // squares
		{Sampler{Temperature: 1, TopK: 2}, []float64{0.625, 0.375, 0, 0}},
		{Sampler{Temperature: 1, TopK: 99, TopP: 1}, []float64{0.5, 0.3, 0.2, 0}},
		{Sampler{Temperature: 1, TopP: 0.49}, []float64{1, 0, 0, 0}},
		{Sampler{Temperature: 1, TopP: 0.6}, []float64{0.625, 0.375, 0, 0}},
		{Sampler{Temperature: 1, TopK: 2, TopP: 0.6}, []float64{1, 0, 0, 0}}, // of the two, 0.625
		{Sampler{Temperature: 1, TopP: 1e-9}, []float64{1, 0, 0, 0}},
		{Sampler{Temperature: 1e-30}, []float64{1, 0, 0, 0}},
	} {
		assert.InDeltaSlice(t, c.want, shares(t, &c.Sampler, logits...), 0.015, "%+v", c.Sampler)
	}
	assert.InDeltaSlice(t, []float64{1. / 3, 1. / 3, 1. / 3}, shares(t, &Sampler{Temperature: 1e9}, -3, 0, 5), 0.015)
	assert.InDeltaSlice(t, []float64{0, 0.5, 0.5}, shares(t, &Sampler{Temperature: 1}, -3e38, 3e38, 3e38), 0.015)
}

func TestSamplerRepeatsItself(t *testing.T) {
	a, b, c := &Sampler{Temperature: 1, Seed: 4}, &Sampler{Temperature: 1, Seed: 4}, &Sampler{Temperature: 1, Seed: 5}
	var same, other int
	for range 100 {
		x := next(t, a, 0, 0, 0, 0, 0, 0, 0, 0)
		if x == next(t, b, 0, 0, 0, 0, 0, 0, 0, 0) {
			same++
		}
		if x == next(t, c, 0, 0, 0, 0, 0, 0, 0, 0) {
			other++
		}
	}
	assert.Equal(t, 100, same)
	assert.Less(t, other, 50)
}

func TestSamplerRefuses(t *testing.T) {
	nan := float32(math.NaN())
	for want, c := range map[string]struct {
		Sampler
		logits []float32
	}{
		"logit 1 is NaN":         {Sampler{}, []float32{1, nan}},
		"logit 0 is NaN":         {Sampler{Temperature: 1}, []float32{nan, 1}},
		"logit 2 is +Inf":        {Sampler{Temperature: 1}, []float32{1, 2, inf}},
		"no token to choose":     {Sampler{}, nil},
		"want a logit above":     {Sampler{Temperature: 1}, []float32{-inf, -inf}},
		"temperature of -1":      {Sampler{Temperature: -1}, []float32{1}},
		"temperature of NaN":     {Sampler{Temperature: math.NaN()}, []float32{1}},
		"top-k of -1":            {Sampler{TopK: -1}, []float32{1}},
		"top-p of 1.5, want 0 (": {Sampler{TopP: 1.5}, []float32{1}},
	} {
		_, err := c.Next(c.logits)
		assert.ErrorContains(t, err, want)
	}
}
