package main

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"flashlab/internal/figure"
)

// spread is what plotter's error bars take.
type spread struct {
	plotter.XYs
	plotter.XErrors
}

// barPicture has a line of the page for each label, and a colour for each series.
func barPicture(all []figure.Bar) (*plot.Plot, vg.Length, error) {
	p := plain()
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, powers{2}
	var labels, names []string
	of := map[string][]string{} // a label's series, from the top down
	for _, b := range all {
		of[b.Label] = append(of[b.Label], b.Name)
		if !slices.Contains(labels, b.Label) {
			labels = append(labels, b.Label)
		}
		if !slices.Contains(names, b.Name) {
			names = append(names, b.Name)
		}
	}
	slices.Reverse(labels) // the first is at the top
	low, high := 0.9, 1.1
	for _, b := range all {
		low, high = min(low, b.Low/1.1), max(high, b.High*1.1)
	}
	for i, name := range names {
		var s spread
		for _, b := range all {
			if b.Name == name {
				beside := of[b.Label]
				apart := min(0.2, 0.8/float64(len(beside)))
				up := apart * (float64(len(beside)-1)/2 - float64(slices.Index(beside, name)))
				s.XYs = append(s.XYs, plotter.XY{X: b.Value, Y: float64(slices.Index(labels, b.Label)) + up})
				s.XErrors = append(s.XErrors, struct{ Low, High float64 }{b.Value - b.Low, b.High - b.Value})
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
