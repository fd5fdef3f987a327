package pages

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"flashlab/grader/grading/rubric"
)

// Drawings are SVG inside the page, made of these; the colours are page.css's, so that they
// fit a light page and a dark one.

// bins of a histogram: tenths of the points.
const bins = 10

// The histogram's picture, in the units of its viewBox. On a phone it is a little smaller than that.
const (
	histWidth  = 320.0
	histHeight = 152.0
	histEdge   = 24.0 // left of the bars: the axis of students
	histFoot   = 34.0 // below them: the axis of shares, and what it is of
	histHead   = 28.0 // above them: their counts, and what is counted
)

type histogram struct {
	N     int
	Bars  []bar
	Ticks []tick // of students, at heights X
	Says  string // all of it in words
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
	tallest, step := max(slices.Max(counts), 1), (histWidth-histEdge)/bins
	high := func(n int) float64 { return tenth(float64(n) / float64(tallest) * (histHeight - histFoot - histHead)) }
	var labels []string
	for i, n := range counts {
		b := bar{X: tenth(histEdge + float64(i)*step + 2), Width: tenth(step - 4), Y: tenth(histHeight - histFoot - high(n)), Height: high(n), Count: n, From: i * 100 / bins, To: (i + 1) * 100 / bins}
		b.Middle, b.Above = tenth(b.X+b.Width/2), tenth(b.Y-3)
		h.Bars = append(h.Bars, b)
		if n > 0 {
			labels = append(labels, fmt.Sprintf("%d to %d %%: %d", b.From, b.To, n))
		}
	}
	h.Says = strings.Join(labels, ", ")
	for n := 0; n <= tallest; n += max(1, (tallest+1)/2) {
		h.Ticks = append(h.Ticks, tick{tenth(histHeight - histFoot - high(n)), fmt.Sprint(n)})
	}
	return h
}

// tenth rounds a place to what can be seen.
func tenth(x float64) float64 { return math.Round(10*x) / 10 }

// dot is one student's measurement.
type dot struct {
	Value float64
	Who   string // "" where names do not belong
}

// strip is a row of dots on a logarithmic axis.
type strip struct {
	Title, Unit   string
	Axis          string // what it is of
	Dots          []place
	Ticks         []tick
	Limits        []limit // of the points
	Height, Floor float64 // of the picture, and of the axis in it
	Label, Foot   float64 // where the ticks' words stand, and the axis'
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

// limit is where points end: a line, and words beside it on the side with more room.
type limit struct {
	X, Word, Y float64 // of the line, and of the words
	Anchor     string
	Says       string
}

const (
	stripWidth = 320.0
	stripEdge  = 20.0
	stripHead  = 30.0 // above the dots: the limits' words, a line each
	stripFoot  = 36.0 // below the axis: its ticks, and what it is of
	dotSize    = 7.0  // room for one
	stripMost  = 90.0 // how high they may stand
)

// stripOf places the dots: equal ones stand on each other. curve has where points end; none without one.
func stripOf(title, unit, axis string, dots []dot, curve rubric.Curve) strip {
	low, high := math.Inf(1), 0.0
	var values []float64
	for _, d := range dots {
		low, high = min(low, d.Value), max(high, d.Value)
		values = append(values, d.Value)
	}
	limits := curve.Full > 0 && curve.None > 0
	if limits {
		low, high = min(low, curve.Full, curve.None), max(high, curve.Full, curve.None)
	}
	// From a power of two to another one, the axis' ticks.
	from, to := math.Floor(math.Log2(low)+1e-9), math.Ceil(math.Log2(high)-1e-9)
	if to <= from {
		to = from + 1
	}
	x := func(v float64) float64 {
		return tenth(stripEdge + (math.Log2(v)-from)/(to-from)*(stripWidth-2*stripEdge))
	}
	s := strip{Title: title, Unit: unit, Axis: axis, Median: number(quartile(values, 0.5))}
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
	head := 0.0
	if limits {
		head = stripHead
		s.Limits = []limit{limitAt(x(curve.None), 10, "no points: "+number(curve.None)), limitAt(x(curve.Full), 23, "all points: "+number(curve.Full))}
	}
	s.Floor = tenth(head + math.Max(float64(highest)*room, 30) + 6)
	s.Height, s.Label, s.Foot = s.Floor+stripFoot, s.Floor+15, s.Floor+31
	for i := range s.Dots {
		s.Dots[i].Y = tenth(s.Floor - 6 - s.Dots[i].Y*room)
	}
	every := math.Max(1, math.Ceil((to-from)/6))
	for e := from; e <= to; e += every {
		s.Ticks = append(s.Ticks, tick{x(math.Exp2(e)), power(e)})
	}
	return s
}

// limitAt is a limit whose words stand at a height.
func limitAt(x, y float64, says string) limit {
	l := limit{X: x, Word: tenth(x + 3), Y: y, Anchor: "start", Says: says}
	if x > stripWidth/2 {
		l.Word, l.Anchor = tenth(x-3), "end"
	}
	return l
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
