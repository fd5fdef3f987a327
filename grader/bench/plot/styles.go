package main

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colours can be told apart even without seeing red or green, and are dark enough for dots
// on white; the first ones differ most.
var colours = []color.RGBA{
	{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff}, // blue
	{R: 0xd9, G: 0x5f, B: 0x02, A: 0xff}, // orange
	{R: 0x00, G: 0x00, B: 0x00, A: 0xff}, // black
	{R: 0x16, G: 0x59, B: 0x21, A: 0xff}, // dark green
	{R: 0x52, G: 0xb8, B: 0xcc, A: 0xff}, // light blue
	{R: 0xe6, G: 0x17, B: 0x7e, A: 0xff}, // pink
	{R: 0xcc, G: 0xa3, B: 0x52, A: 0xff}, // sand
	{R: 0x80, G: 0x0d, B: 0x6c, A: 0xff}, // purple
	{R: 0x17, G: 0x17, B: 0xe6, A: 0xff}, // deep blue
	{R: 0xe6, G: 0x39, B: 0xe6, A: 0xff}, // magenta
	{R: 0xcc, G: 0x52, B: 0x52, A: 0xff}, // red
	{R: 0x29, G: 0x29, B: 0xa6, A: 0xff}, // indigo
}

// shapes are five, which has no factor in common with the number of colours: so 60 series
// look different from each other.
var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	polygon{corners: 4, first: math.Pi / 4}, // a square
	polygon{corners: 3, first: math.Pi / 2}, // a triangle
	polygon{corners: 4},                     // a diamond
	polygon{corners: 3, first: -math.Pi / 2},
}

// dot is how a series marks its points.
func dot(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colours[i%len(colours)], Shape: shapes[i%len(shapes)], Radius: vg.Points(2.7)}
}

// polygon is a regular one, filled, with its first corner at an angle.
type polygon struct {
	corners int
	first   float64
}

// DrawGlyph implements draw.GlyphDrawer. The corners are outside the circle of the same
// radius, so that all shapes have about the same area.
func (g polygon) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	step := 2 * math.Pi / float64(g.corners)
	r := s.Radius * vg.Length(math.Sqrt(2*math.Pi/(float64(g.corners)*math.Sin(step))))
	corners := make([]vg.Point, g.corners)
	for i := range corners {
		sin, cos := math.Sincos(g.first + float64(i)*step)
		corners[i] = vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}
	}
	c.FillPolygon(s.Color, corners)
}
