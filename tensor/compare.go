package tensor

import "math"

// Diff is how far got is from want.
type Diff struct {
	RMS     float64 // root mean square of got − want
	WantRMS float64 // root mean square of want
	Worst   int     // offset of the largest difference; NaN counts as the largest
	Got     float64 // at Worst
	Want    float64
	NaNs    int // elements that are NaN or infinite where want is not
	First   int // offset of the first NaN; -1 without one
}

// Compare measures got against a float64 reference of the same length.
func Compare(got []float32, want []float64) Diff {
	d := Diff{First: -1}
	var sum, ref, worst float64
	for i, w := range want {
		g := float64(got[i])
		if math.IsNaN(g) || math.IsInf(g, 0) {
			if d.NaNs == 0 {
				d.First = i
			}
			d.NaNs++
			continue
		}
		e := math.Abs(g - w)
		sum += e * e
		ref += w * w
		if e > worst {
			worst, d.Worst = e, i
		}
	}
	n := float64(max(len(want), 1))
	d.RMS, d.WantRMS = math.Sqrt(sum/n), math.Sqrt(ref/n)
	if d.NaNs > 0 {
		d.Worst, d.RMS = d.First, math.NaN() // NaN never passes
	}
	if len(want) > 0 {
		d.Got, d.Want = float64(got[d.Worst]), want[d.Worst]
	}
	return d
}

// Within tells whether the difference is within a bound on its RMS.
func (d Diff) Within(bound float64) bool { return d.NaNs == 0 && d.RMS <= bound }
