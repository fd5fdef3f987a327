package estimate

import (
	"fmt"
	"math"
	"strings"
)

// Text is an estimate in words: 'about 0.8 ms on an H100, bound by shared memory'.
func (e Estimate) Text(g GPU) string {
	return about(e.Seconds, 0, g) + ", bound by " + e.Bound + g.doubt()
}

// Text is the same of several kernels: 'about 0.8 ms on an H100 (± 3 % by the sample), most of it in softmax, bound by …'.
func (w Whole) Text(g GPU) string {
	most := ""
	if w.Share < 0.995 {
		most = fmt.Sprintf(", %.0f %% of it in %s,", 100*w.Share, w.Kernel)
	}
	return strings.TrimSuffix(about(w.Seconds, w.Deviation, g)+most, ",") + ", bound by " + w.Bound + g.doubt()
}

func about(seconds, deviation float64, g GPU) string {
	text := "about " + Duration(seconds) + " on an " + g.Name // their names begin with A, H or R
	if deviation >= 0.005 {
		text += fmt.Sprintf(" (± %.0f %% by the sample)", 100*deviation)
	}
	return text
}

func (g GPU) doubt() string {
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
