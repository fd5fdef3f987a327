package estimate

import (
	"fmt"
	"math"
)

// Text is an estimate in words: 'about 0.8 ms on an H100, bound by shared memory'.
func (e Estimate) Text(g GPU) string {
	text := "about " + Duration(e.Seconds) + " on an " + g.Name + ", bound by " + e.Bound // their names begin with A, H or R
	if !g.Validated {
		text += " (not validated: no times of this card were at hand)"
	}
	return text
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
