package pages

import (
	"fmt"
	"math"
	"slices"
)

// Drawings are SVG inside the page, made of these; the colours are page.css's, so that they
// fit a light page and a dark one.

// bins of a histogram: tenths of the points.
const bins = 10

// The histogram's picture, in the units of its viewBox. On a phone it is a little smaller than that.
const (
	histWidth  = 320.0
	histHeight = 120.0
	histFoot   = 18.0 // below the bars: the axis
	histHead   = 14.0 // above them: the counts
)

type histogram struct {
	N    int
	Bars []bar
}

type bar struct {
	X, Y, Width, Height float64
	Middle, Above       float64 // where its count stands
	Count               int
	From, To            int // per cent
}

func histogramOf(shares []float64) histogram {
	counts := make([]int, bins)
	for _, s := range shares {
		counts[min(max(int(s*bins+1e-9), 0), bins-1)]++
	}
	h := histogram{N: len(shares)}
	tallest, step := max(slices.Max(counts), 1), histWidth/bins
	for i, n := range counts {
		height := math.Round(10*float64(n)/float64(tallest)*(histHeight-histFoot-histHead)) / 10
		b := bar{X: float64(i)*step + 2, Width: step - 4, Y: histHeight - histFoot - height, Height: height, Count: n, From: i * 100 / bins, To: (i + 1) * 100 / bins}
		b.Middle, b.Above = b.X+b.Width/2, b.Y-3
		h.Bars = append(h.Bars, b)
	}
	return h
}

// dot is one student's measurement.
type dot struct {
	Value float64
	Who   string // "" where names do not belong
}

// strip is a row of dots on a logarithmic axis.
type strip struct {
	Title, Unit   string
	Dots          []place
	Ticks         []tick
	Height, Floor float64 // of the picture, and of the axis in it
	Label         float64 // where the ticks' words stand
	Median        string
}

type place struct {
	X, Y float64
	Who  string
	Says string
}

type tick struct {
	X     float64
	Label string
}

const (
	stripWidth = 320.0
	stripEdge  = 17.0
	dotSize    = 7.0  // room for one
	stripMost  = 90.0 // how high they may stand
)

// stripOf places the dots: equal ones stand on each other.
func stripOf(title, unit string, dots []dot) strip {
	low, high := math.Inf(1), 0.0
	var values []float64
	for _, d := range dots {
		low, high = min(low, d.Value), max(high, d.Value)
		values = append(values, d.Value)
	}
	// From a power of two to another one, the axis' ticks.
	from, to := math.Floor(math.Log2(low)+1e-9), math.Ceil(math.Log2(high)-1e-9)
	if to <= from {
		to = from + 1
	}
	x := func(v float64) float64 {
		return math.Round(10*(stripEdge+(math.Log2(v)-from)/(to-from)*(stripWidth-2*stripEdge))) / 10
	}
	s := strip{Title: title, Unit: unit, Median: number(quartile(values, 0.5))}
	sorted := slices.Clone(dots)
	slices.SortStableFunc(sorted, func(a, b dot) int {
		if a.Value < b.Value {
			return -1
		} else if a.Value > b.Value {
			return 1
		}
		return 0
	})
	tall, highest := map[int]int{}, 0
	for _, d := range sorted {
		// Dots close to each other share a column: moved by less than their own size.
		column := int(math.Round((x(d.Value) - stripEdge) / dotSize))
		s.Dots = append(s.Dots, place{X: stripEdge + float64(column)*dotSize, Y: float64(tall[column]), Who: d.Who, Says: number(d.Value) + unit})
		tall[column]++
		highest = max(highest, tall[column])
	}
	room := min(dotSize, stripMost/float64(highest)) // for one dot on another
	s.Floor = math.Max(float64(highest)*room, 30) + 6
	s.Height, s.Label = s.Floor+20, s.Floor+15
	for i := range s.Dots {
		s.Dots[i].Y = math.Round(10*(s.Floor-6-s.Dots[i].Y*room)) / 10
	}
	every := math.Max(1, math.Ceil((to-from)/6))
	for e := from; e <= to; e += every {
		s.Ticks = append(s.Ticks, tick{x(math.Exp2(e)), power(e)})
	}
	return s
}

// power writes a power of two: 4, or 1/4.
func power(e float64) string {
	if e < 0 {
		return fmt.Sprintf("1/%.0f", math.Exp2(-e))
	}
	return fmt.Sprintf("%.0f", math.Exp2(e))
}

// number writes a ratio with two or three digits.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.2g", v)
}
