package main

import (
	"bufio"
	"fmt"
	"image/color"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// bar is a value with its spread: a dot and a line from low to high.
type bar struct {
	series         string
	mid, low, high float64
	label          string
}

// readBars takes lines of a series' name, a value, low, high and what it is of.
func readBars(table io.Reader) (all []bar, err error) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 5 {
			continue
		}
		b := bar{series: fields[0], label: fields[4]}
		for i, to := range []*float64{&b.mid, &b.low, &b.high} {
			if *to, err = strconv.ParseFloat(fields[i+1], 64); err != nil || !(*to > 0) {
				return nil, fmt.Errorf("%q: want a name, three positive numbers and a label", lines.Text())
			}
		}
		all = append(all, b)
	}
	if len(all) == 0 && lines.Err() == nil {
		return nil, fmt.Errorf("there is nothing to draw")
	}
	return all, lines.Err()
}

// spread is what plotter's error bars take.
type spread struct {
	plotter.XYs
	plotter.XErrors
}

// barPicture has a line of the page for each label, and a colour for each series.
func barPicture(all []bar) (*plot.Plot, vg.Length, error) {
	p := plain()
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, powers{2}
	var labels, names []string
	of := map[string][]string{} // a label's series, from the top down
	for _, b := range all {
		of[b.label] = append(of[b.label], b.series)
		if !slices.Contains(labels, b.label) {
			labels = append(labels, b.label)
		}
		if !slices.Contains(names, b.series) {
			names = append(names, b.series)
		}
	}
	slices.Reverse(labels) // the first is at the top
	low, high := 0.9, 1.1
	for _, b := range all {
		low, high = min(low, b.low/1.1), max(high, b.high*1.1)
	}
	for i, name := range names {
		var s spread
		for _, b := range all {
			if b.series == name {
				beside := of[b.label]
				apart := min(0.2, 0.8/float64(len(beside)))
				up := apart * (float64(len(beside)-1)/2 - float64(slices.Index(beside, name)))
				s.XYs = append(s.XYs, plotter.XY{X: b.mid, Y: float64(slices.Index(labels, b.label)) + up})
				s.XErrors = append(s.XErrors, struct{ Low, High float64 }{b.mid - b.low, b.high - b.mid})
			}
		}
		lines, err := plotter.NewXErrorBars(s)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		dots, err := plotter.NewScatter(s)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		dots.GlyphStyle = dot(i)
		lines.Color = dots.Color
		p.Add(lines, dots)
		p.Legend.Add(name, dots)
	}
	one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -0.5}, {X: 1, Y: float64(len(labels)) - 0.5}})
	if err != nil {
		return nil, 0, err
	}
	one.Color = color.Gray{Y: 0x80}
	p.Add(one)
	p.NominalY(labels...)
	p.Y.Tick.Label.Font.Size = vg.Points(8)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, -0.8-0.75*float64(len(names)), float64(len(labels))-0.4 // the legend is below
	p.Legend.Top = false
	return p, vg.Length(3+0.55*float64(len(labels))+0.4*float64(len(names))) * vg.Centimeter, nil
}
