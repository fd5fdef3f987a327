package estimate

import (
	"fmt"
	"math"
)

// Text is an estimate in words: 'about 0.8 ms on an H200 (± 3 % by the sample), 90 % of it in softmax, bound by shared
// memory; 41 % of that at kernels.cu:62, where threads wait at the barrier'.
func (w Whole) Text(g GPU) string {
	most, lines := "", ""
	if w.Bound != byLaunch {
		lines = mostly(w.Lines)
	}
	if w.Share < 0.995 {
		most = fmt.Sprintf(", %.0f %% of it in %s", 100*w.Share, w.Kernel)
	}
	return about(w.Seconds, w.Deviation, g) + most + ", bound by " + w.Bound + lines + g.Doubt()
}

func about(seconds, deviation float64, g GPU) string {
	text := "about " + Duration(seconds) + " on an " + g.Name // their names begin with A, H or R
	if deviation >= 0.005 {
		text += fmt.Sprintf(" (± %.0f %% by the sample)", 100*deviation)
	}
	return text
}

// Doubt is what an estimate for a card says of it that no times were at hand of; "" for others.
func (g GPU) Doubt() string {
	if g.Validated {
		return ""
	}
	return " (not validated: no times of this card were at hand)"
}

// Duration is a time in two digits: there are no more in an estimate.
func Duration(seconds float64) string {
	digits := math.Pow(10, math.Floor(math.Log10(seconds))-1)
	x := math.Round(seconds/digits) * digits
	for _, unit := range []struct {
		name string
		of   float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if n := x / unit.of; n > 0.9999 || unit.of == 1e-6 {
			if n < 9.9999 {
				return fmt.Sprintf("%.1f %s", n, unit.name)
			}
			return fmt.Sprintf("%.0f %s", n, unit.name)
		}
	}
	return ""
}
