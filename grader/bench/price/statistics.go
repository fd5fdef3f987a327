package price

import "math"

// Estimate is a mean, and its standard error.
type Estimate struct{ Mean, Error float64 }

// meanOf is the mean of x, with its standard error: of one number alone nothing is known of that, so it is NaN.
func meanOf(x []float64) Estimate {
	n := float64(len(x))
	var sum, squares float64
	for _, v := range x {
		sum += v
	}
	mean := sum / n
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return Estimate{mean, math.Sqrt(squares / (n - 1) / n)}
}

// Perplexity is e to the mean surprise of windows, which have as many tokens each. The error follows from the mean's: e
// to the x changes by itself times a small change of x.
func Perplexity(windows []float64) Estimate {
	m := meanOf(windows)
	p := math.Exp(m.Mean)
	return Estimate{p, p * m.Error}
}

// Change is by how much a perplexity differs from that of base on the same windows. What makes a window easy or hard for
// both cancels: the error is that of the windows' differences, and says nothing of how far base itself may be off.
func Change(windows, base []float64) Estimate {
	apart := make([]float64, len(windows))
	for i, v := range windows {
		apart[i] = v - base[i]
	}
	d := meanOf(apart)
	p := Perplexity(base).Mean
	return Estimate{p * (math.Exp(d.Mean) - 1), p * math.Exp(d.Mean) * d.Error}
}

// interval is Wilson's, of 95 %, for a share of which so many of all were seen.
func interval(seen, all int) (low, high float64) {
	if all == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(all), float64(seen)/float64(all)
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (middle - half) / (1 + z*z/n), (middle + half) / (1 + z*z/n)
}
