package main

import (
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/plot/vg/draw"
)

// sight turns linear red, green and blue into what somebody sees of them (Machado, Oliveira
// and Fernandes, 2009, at full severity).
var sight = map[string][3][3]float64{
	"everyone":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"no greens": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"no reds":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
}

// seen is a colour in CIELAB, where distances are about as large as they look.
func seen(c color.RGBA, m [3][3]float64) [3]float64 {
	linear := func(b uint8) float64 {
		x := float64(b) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	times := func(m [3][3]float64, v [3]float64) (w [3]float64) {
		for i, row := range m {
			w[i] = row[0]*v[0] + row[1]*v[1] + row[2]*v[2]
		}
		return w
	}
	v := times(m, [3]float64{linear(c.R), linear(c.G), linear(c.B)})
	for i := range v {
		v[i] = min(max(v[i], 0), 1)
	}
	v = times([3][3]float64{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}, v) // XYZ
	for i, white := range [3]float64{0.9505, 1, 1.089} {
		if v[i] /= white; v[i] > 0.008856 {
			v[i] = math.Cbrt(v[i])
		} else {
			v[i] = 7.787*v[i] + 16.0/116
		}
	}
	return [3]float64{116*v[1] - 16, 500 * (v[0] - v[1]), 200 * (v[1] - v[2])}
}

func TestColoursAreApart(t *testing.T) {
	for who, m := range sight {
		for i, a := range colours {
			x, white := seen(a, m), seen(color.RGBA{R: 255, G: 255, B: 255}, m)
			assert.Less(t, x[0], white[0]-25, "%s: colour %d is too light for a dot", who, i)
			for j, b := range colours[:i] {
				y := seen(b, m)
				assert.Greater(t, math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]), 19.0, "%s: colours %d and %d", who, j, i)
			}
		}
	}
}

func TestSixtySeriesLookDifferent(t *testing.T) {
	looks := map[draw.GlyphStyle]bool{}
	for i := range 60 {
		looks[dot(i)] = true
	}
	assert.Len(t, looks, 60)
	assert.Equal(t, dot(0), dot(60))
}
