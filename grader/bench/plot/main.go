// Command plot draws a figure, which it reads as JSON (package internal/figure): plot FILE.png
// FILE.svg … <figure.json. It is a program of its own, so that grading need not build it.
package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"flashlab/internal/figure"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: plot FILE.png [FILE.svg …] <figure.json")
		os.Exit(2)
	}
	if err := draws(os.Stdin, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
	fmt.Println("Written:", strings.Join(os.Args[1:], ", "))
}

func draws(from io.Reader, files []string) error {
	f, err := figure.Read(from)
	if err != nil {
		return err
	}
	p, high, err := picture(f)
	if err != nil {
		return err
	}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	var beside *plot.Legend
	if f.Legend == "beside" {
		own := p.Legend
		beside, p.Legend = &own, plot.NewLegend()
	}
	for _, name := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := save(p, beside, name, high); err != nil {
			return err
		}
	}
	return nil
}

// picture picks the kind of picture, and says how high it is.
func picture(f figure.Figure) (*plot.Plot, vg.Length, error) {
	if len(f.Bars) > 0 {
		return barPicture(f.Bars)
	}
	p, err := seriesPicture(f.Series)
	if err != nil {
		return nil, 0, err
	}
	switch f.Legend {
	case "left":
		p.Legend.Left, p.Legend.XOffs = true, 3*vg.Millimeter
	case "beside":
		p.Legend.Left = true
	}
	if f.Room {
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, 0.4)
	}
	return p, 10 * vg.Centimeter, nil
}

// save writes the whole file, or none of it. A legend may stand beside the plot.
func save(p *plot.Plot, beside *plot.Legend, name string, high vg.Length) error {
	const plotWide, margin = 17 * vg.Centimeter, 2 * vg.Millimeter // for ticks' labels that reach beyond their axis
	wide := plotWide
	if beside != nil {
		wide += 7 * vg.Centimeter
	}
	canvas, err := draw.NewFormattedCanvas(wide, high, strings.TrimPrefix(filepath.Ext(name), "."))
	if err != nil {
		return err
	}
	whole := draw.New(canvas)
	whole.FillPolygon(p.BackgroundColor, []vg.Point{{}, {X: wide}, {X: wide, Y: high}, {Y: high}})
	p.Draw(draw.Crop(whole, margin, plotWide-wide-margin, margin, -margin))
	if beside != nil {
		beside.Draw(draw.Crop(whole, plotWide, 0, 0, -vg.Centimeter))
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".plot-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := canvas.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// plain is an empty plot in the course's style.
func plain() *plot.Plot {
	p := plot.New()
	for _, style := range []*draw.TextStyle{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle,
		&p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	p.Title.Padding, p.X.Label.Padding = 3*vg.Millimeter, vg.Millimeter
	p.Title.TextStyle.Font.Size = vg.Points(13)
	p.Legend.TextStyle.Font.Size = vg.Points(11)
	p.Legend.Top = true
	p.Legend.Padding, p.Legend.XOffs = vg.Millimeter, -3*vg.Millimeter
	p.Add(plotter.NewGrid())
	return p
}

func seriesPicture(all []figure.Series) (*plot.Plot, error) {
	p := plain()
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = powers{2}, powers{2}
	for i, s := range all {
		var xys plotter.XYs
		var words []string
		for _, at := range s.Points {
			xys, words = append(xys, plotter.XY{X: at.X, Y: at.Y}), append(words, at.Word)
		}
		line, points, err := plotter.NewLinePoints(xys)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		points.GlyphStyle = dot(i)
		line.Color, line.Width = points.Color, vg.Points(1.5)
		if s.Style == figure.Dashes {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
			p.Add(line)
			p.Legend.Add(s.Name, line)
			continue
		}
		labels, err := plotter.NewLabels(plotter.XYLabels{XYs: xys, Labels: words})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		for i := range labels.TextStyle {
			labels.TextStyle[i].Font.Variant = "Sans"
			labels.TextStyle[i].Font.Size = vg.Points(8)
			labels.TextStyle[i].Color = points.Color
		}
		labels.Offset = vg.Point{X: vg.Points(3), Y: vg.Points(2)}
		if s.Style == figure.Dots {
			p.Add(points, labels)
			p.Legend.Add(s.Name, points)
			continue
		}
		p.Add(line, points, labels)
		p.Legend.Add(s.Name, line, points)
	}
	p.X.Max *= 1.1 // or the last dots would be cut
	p.Y.Min /= 1.1
	return p, nil
}

// powers ticks an axis at every power of a base.
type powers struct{ base float64 }

// Ticks implements plot.Ticker. An axis that spans few powers gets smaller steps.
func (t powers) Ticks(low, high float64) []plot.Tick {
	if high < low*t.base*t.base*t.base {
		return steps(low, high)
	}
	var ticks []plot.Tick
	const slack, most = 1e-9, 10
	every := 1 + int(math.Log(high/low)/math.Log(t.base))/most // more labels than most would touch each other
	for e := math.Ceil(math.Log(low)/math.Log(t.base) - slack); ; e++ {
		v := math.Pow(t.base, e)
		if v > high*(1+slack) {
			return ticks
		}
		tick := plot.Tick{Value: v}
		if len(ticks)%every == 0 {
			tick.Label = strconv.FormatFloat(v, 'f', -1, 64)
		}
		ticks = append(ticks, tick)
	}
}

// steps are some ticks at round numbers: 1, 2 or 5 times a power of ten apart.
func steps(low, high float64) []plot.Tick {
	const wanted = 4
	step := math.Pow(10, math.Floor(math.Log10((high-low)/wanted)))
	for _, times := range []float64{2, 2.5, 2} { // 2, 5, 10
		if (high-low)/step <= wanted {
			break
		}
		step *= times
	}
	var ticks []plot.Tick
	for n := math.Ceil(low / step); n*step <= high; n++ {
		ticks = append(ticks, plot.Tick{Value: n * step, Label: strconv.FormatFloat(n*step, 'g', 4, 64)})
	}
	return ticks
}
