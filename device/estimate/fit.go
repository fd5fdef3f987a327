package estimate

import (
	"math"
	"math/rand/v2"
	"slices"

	"flashlab/device/trace"
)

// Sample is what kernels took that run one after another, and their counts.
type Sample struct {
	Kernels []trace.Counts
	Times   float64 // as many blocks ran as were counted
	Seconds float64
}

// Predict is what a sample's kernels would take in all, and what binds the longest.
func (f Constants) Predict(g GPU, s Sample) (seconds float64, bound string) {
	w := f.whole(g, s.Kernels, s.Times)
	return w.Seconds, w.Bound
}

// Off is by what factor a prediction is wrong, at least 1.
func Off(predicted, measured float64) float64 {
	return math.Max(predicted/measured, measured/predicted)
}

// loss is small where most predictions are near; those that are far count, but not by their square.
func (f Constants) loss(g GPU, all []Sample) (sum float64) {
	for _, s := range all {
		p, _ := f.Predict(g, s)
		x := math.Log(Off(p, s.Seconds))
		sum += math.Sqrt(x*x+0.01) + 0.3*x*x
	}
	for i := range f { // what the samples do not tell stays as it was
		x := math.Log(f[i] / start[i])
		sum += 0.15 * float64(len(all)) / constants * x * x
	}
	return sum
}

// start is where fitting begins: about what makers and others tell of these cards.
var start = Constants{0.9, 0.8, 1.5, 0.75, 0.8, 0.8, 0.6, 0.8, 0.55, 8, 2, 3, 0.02, 100, 10, 8, 2, 30, 10, 0.7, 3, 1.5, 64}

// limits are what a constant may be.
var limits = [constants][2]float64{Device: {0.5, 0.97}, L2: {0.2, 2}, Partial: {0.5, 4}, Scatter: {0.1, 2}, Shared: {0.3, 1}, Issue: {0.3, 1}, Product: {0.3, 1}, Group: {0.3, 1}, Plain: {0.5, 2}, Special: {1, 30},
	Request: {1, 10}, Step: {0.1, 20}, Code: {0.0001, 0.5}, LatencyDevice: {1, 1000}, LatencyCache: {1, 200}, LatencyShared: {1, 100}, LatencyPlain: {0.5, 8},
	LatencyBarrier: {1, 1000}, LatencyProduct: {1, 64}, Phases: {0.05, 1}, Power: {1, 12}, Launch: {0.2, 4}, Registers: {24, 255}}

// Fit finds constants for samples of one GPU, by trying steps of each, and of several at once.
func Fit(g GPU, all []Sample) Constants {
	best := start
	least := best.loss(g, all)
	random := rand.New(rand.NewPCG(1, 2))
	for width := 0.5; width > 0.005; width *= 0.8 {
		for range 150 {
			now := best
			few := 1 + random.IntN(3)
			for _, i := range random.Perm(constants)[:few] {
				now[i] = min(max(now[i]*math.Exp(width*random.NormFloat64()), limits[i][0]), limits[i][1])
			}
			if l := now.loss(g, all); l < least {
				best, least = now, l
			}
		}
	}
	return best
}

// Median is the middle of some numbers.
func Median(of []float64) float64 {
	s := slices.Sorted(slices.Values(of))
	if len(s) == 0 {
		return 0
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
