// Package timing turns the times of runs into figures, and decides which times must not
// be believed. It measures nothing itself.
package timing

import (
	"math/rand/v2"
	"slices"
)

// Stats describe a sample. Nothing is dropped from it: an outlier is counted, and has
// its place in the quartiles.
type Stats struct {
	N           int
	Median      float64
	Q1, Q3      float64 // a quarter of the sample lies below, and above
	Low, High   float64 // bootstrap: the median of 95 in 100 samples like this one lies between
	Least, Most float64
	Outliers    int // beyond the quartiles by more than three times their distance
}

// Describe needs a sample of at least one.
func Describe(sample []float64) Stats {
	if len(sample) == 0 {
		return Stats{}
	}
	x := slices.Sorted(slices.Values(sample))
	s := Stats{N: len(x), Median: quantile(x, 0.5), Q1: quantile(x, 0.25), Q3: quantile(x, 0.75), Least: x[0], Most: x[len(x)-1]}
	s.Low, s.High = bootstrap(x)
	for _, v := range x {
		if far := 3 * (s.Q3 - s.Q1); v < s.Q1-far || v > s.Q3+far {
			s.Outliers++
		}
	}
	return s
}

// Spread is the distance of the quartiles, relative to the median.
func (s Stats) Spread() float64 {
	if s.Median == 0 {
		return 0
	}
	return (s.Q3 - s.Q1) / s.Median
}

func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 1 {
		return sorted[0]
	}
	at := p * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// bootstrap draws samples from the sample, always the same ones, so that a report can
// be made again from its numbers.
func bootstrap(sorted []float64) (low, high float64) {
	const draws = 1000
	random := rand.New(rand.NewPCG(1, 2))
	medians := make([]float64, draws)
	again := make([]float64, len(sorted))
	for i := range medians {
		for j := range again {
			again[j] = sorted[random.IntN(len(sorted))]
		}
		slices.Sort(again)
		medians[i] = quantile(again, 0.5)
	}
	slices.Sort(medians)
	return quantile(medians, 0.025), quantile(medians, 0.975)
}

// Ratios are theirs over ours, run by run: how many times as fast ours is. Neighbouring
// runs share what the machine was doing at the time.
func Ratios(theirs, ours []float64) []float64 {
	var all []float64
	for i := range min(len(theirs), len(ours)) {
		if ours[i] > 0 {
			all = append(all, theirs[i]/ours[i])
		}
	}
	return all
}
