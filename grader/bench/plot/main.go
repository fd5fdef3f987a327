// Command plot draws a table of measurements. Each line holds a series' name, x and y,
// separated by tabs, and optionally a word to write at the dot. A series whose name
// begins with • gets dots; with ◦ it gets dots and no line. Both axes are logarithmic.
// A line with a flag's name (title, x or y) and a text sets that flag. It is a separate
// program, so that grading need not build it.
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func main() {
	title := flag.String("title", "", "the picture's title")
	x := flag.String("x", "", "what x is")
	y := flag.String("y", "", "what y is")
	room := flag.Bool("room", false, "leave room for the legend above everything else")
	bars := flag.Bool("bars", false, "lines of a name, a value, low, high and what it is of: a dot and its spread for each")
	legend := flag.String("legend", "", "where the legend is: left, or low; top right without it")
	out := flag.String("o", "out/plot.png", "the `file` to write, .png or .svg")
	flag.Parse()
	if err := draws(os.Stdin, *title, *x, *y, *out, *room, *bars, *legend); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
	fmt.Println("Written:", *out)
}

// draws picks the kind of picture.
func draws(table io.Reader, title, x, y, out string, room, bars bool, legend string) error {
	if !bars {
		return run(table, title, x, y, out, room, legend)
	}
	all, err := readBars(table)
	if err != nil {
		return err
	}
	p, high, err := barPicture(all)
	if err != nil {
		return err
	}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return save(p, out, high)
}

// series are points in order.
type series struct {
	name  string
	dots  bool
	alone bool // dots without a line
	xys   plotter.XYs
	words []string // as many as xys
}

func run(table io.Reader, title, x, y, out string, room bool, legend string) error {
	all, labels, err := read(table)
	if err != nil {
		return err
	}
	p, err := picture(all)
	if err != nil {
		return err
	}
	switch legend {
	case "left":
		p.Legend.Left, p.Legend.XOffs = true, 3*vg.Millimeter
	case "low":
		p.Legend.Top = false
	}
	if room {
		p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, 0.4)
	}
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = cmp.Or(title, labels["title"]), cmp.Or(x, labels["x"]), cmp.Or(y, labels["y"])
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return save(p, out, 10*vg.Centimeter)
}

// save writes the whole file, or none of it.
func save(p *plot.Plot, name string, high vg.Length) error {
	const wide, margin = 17 * vg.Centimeter, 2 * vg.Millimeter // for ticks' labels that reach beyond their axis
	canvas, err := draw.NewFormattedCanvas(wide, high, strings.TrimPrefix(filepath.Ext(name), "."))
	if err != nil {
		return err
	}
	whole := draw.New(canvas)
	whole.FillPolygon(p.BackgroundColor, []vg.Point{{}, {X: wide}, {X: wide, Y: high}, {Y: high}})
	p.Draw(draw.Crop(whole, margin, -margin, margin, -margin))
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

func read(table io.Reader) (all []series, labels map[string]string, err error) {
	labels = map[string]string{}
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) == 2 {
			labels[fields[0]] = fields[1]
		}
		if len(fields) != 3 && len(fields) != 4 {
			continue // a student's own prints
		}
		x, errX := strconv.ParseFloat(fields[1], 64)
		y, errY := strconv.ParseFloat(fields[2], 64)
		if errX != nil || errY != nil || !(x > 0) || !(y > 0) {
			return nil, nil, fmt.Errorf("%q: want a name and two positive numbers", lines.Text())
		}
		name, dots := strings.CutPrefix(fields[0], "•")
		name, alone := strings.CutPrefix(name, "◦")
		at := slices.IndexFunc(all, func(s series) bool { return s.name == name })
		if at < 0 {
			at = len(all)
			all = append(all, series{name: name, dots: dots || alone, alone: alone})
		}
		all[at].xys = append(all[at].xys, plotter.XY{X: x, Y: y})
		all[at].words = append(all[at].words, strings.Join(fields[3:], ""))
	}
	if err := lines.Err(); err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("there is nothing to draw")
	}
	return all, labels, nil
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

func picture(all []series) (*plot.Plot, error) {
	p := plain()
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = powers{2}, powers{2}
	for i, s := range all {
		line, points, err := plotter.NewLinePoints(s.xys)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		points.GlyphStyle = dot(i)
		line.Color, line.Width = points.Color, vg.Points(1.5)
		if s.dots {
			words, err := plotter.NewLabels(plotter.XYLabels{XYs: s.xys, Labels: s.words})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			for i := range words.TextStyle {
				words.TextStyle[i].Font.Variant = "Sans"
				words.TextStyle[i].Font.Size = vg.Points(8)
				words.TextStyle[i].Color = points.Color
			}
			words.Offset = vg.Point{X: vg.Points(3), Y: vg.Points(2)}
			if s.alone {
				p.Add(points, words)
				p.Legend.Add(s.name, points)
				continue
			}
			p.Add(line, points, words)
			p.Legend.Add(s.name, line, points)
			continue
		}
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		p.Add(line)
		p.Legend.Add(s.name, line)
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
	const slack = 1e-9
	for e := math.Ceil(math.Log(low)/math.Log(t.base) - slack); ; e++ {
		v := math.Pow(t.base, e)
		if v > high*(1+slack) {
			return ticks
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)})
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
