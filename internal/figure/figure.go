// Package figure describes a picture of measurements: what the program grader/bench/plot draws.
// Programs that measure write it as JSON, so that none of them links what draws.
package figure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"flashlab/internal/cache"
)

// Figure is one picture. All axes are logarithmic, so all numbers are positive. It has series of
// points, or bars.
type Figure struct {
	Title, X, Y string
	Legend      string   // "left", "beside" the plot; top right without it
	Room        bool     // leave room for the legend above everything else
	Series      []Series `json:",omitempty"`
	Bars        []Bar    `json:",omitempty"`
}

// Style says how a series is drawn.
type Style string

// The styles.
const (
	Dashes Style = "dashes" // a line without dots: theory
	Line   Style = "line"   // dots on a line: what was measured
	Dots   Style = "dots"   // dots alone
)

// Series are points of one kind, in order.
type Series struct {
	Name   string
	Style  Style
	Points []Point
}

// Point is a place in the picture, with a word beside it or none.
type Point struct {
	X, Y float64
	Word string `json:",omitempty"`
}

// Bar is a value with its spread: a dot and a line from Low to High. Bars of one label share a line of
// the picture, those of one name a colour.
type Bar struct {
	Name, Label      string
	Value, Low, High float64
}

// Add puts a point at the end of a series, which begins with its first.
func (f *Figure) Add(name string, style Style, p Point) {
	for i := range f.Series {
		if f.Series[i].Name == name {
			f.Series[i].Points = append(f.Series[i].Points, p)
			return
		}
	}
	f.Series = append(f.Series, Series{name, style, []Point{p}})
}

// Empty tells that there is nothing to draw.
func (f Figure) Empty() bool { return len(f.Series)+len(f.Bars) == 0 }

// Write writes the figure to a file.
func (f Figure) Write(name string) error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return cache.WriteFile(name, append(text, '\n'), 0o644)
}

// Read reads a figure, and refuses one that cannot be drawn.
func Read(r io.Reader) (f Figure, err error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return f, fmt.Errorf("the figure: %w", err)
	}
	if f.Empty() {
		return f, errors.New("there is nothing to draw")
	}
	for _, s := range f.Series {
		for _, p := range s.Points {
			if !(p.X > 0) || !(p.Y > 0) {
				return f, fmt.Errorf("%s: (%g, %g): want two positive numbers", s.Name, p.X, p.Y)
			}
		}
	}
	for _, b := range f.Bars {
		if !(b.Value > 0) || !(b.Low > 0) || !(b.High > 0) {
			return f, fmt.Errorf("%s: %g (%g to %g): want three positive numbers", b.Name, b.Value, b.Low, b.High)
		}
	}
	return f, nil
}

// Draw runs the program that draws, which is built only when it is wanted. Each file is .png or .svg.
func (f Figure) Draw(ctx context.Context, root string, files ...string) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "./grader/bench/plot"}, files...)...)
	cmd.Dir, cmd.Stdin = root, bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the picture %s could not be drawn: %w\n%s", strings.Join(files, ", "), err, out)
	}
	return nil
}
