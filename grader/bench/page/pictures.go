package page

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"flashlab/grader/grading/race"
	"flashlab/internal/figure"
)

// picture is a figure with the name of its files.
type picture struct {
	name string
	figure.Figure
}

func pictures(d Document) []picture {
	return []picture{speedUp(d), roofline(d), timeAgainstLength(d), timeAgainstContext(d)}
}

// speedUp has a line for each workload and peer.
func speedUp(d Document) picture {
	p := picture{"speedup", figure.Figure{Title: "How many times as fast as others", X: "their time over ours (median, and the quartiles)"}}
	d.rows(func(r race.Row, _ race.SelfTest) {
		for i, e := range r.Entries {
			if ratio := r.Ratio(e); i > 0 && ratio.N > 0 {
				p.Bars = append(p.Bars, figure.Bar{Name: e.Name, Label: r.ID, Value: ratio.Median, Low: ratio.Q1, High: ratio.Q3})
			}
		}
	})
	for _, part := range d.Parts {
		for _, c := range part.Models {
			for _, other := range c.beside() {
				if len(c.Ours)*len(other.Times) == 0 || other.Differ != "" {
					continue
				}
				for _, l := range latencies {
					if !l.both(c, other) {
						continue
					}
					median, least, most := l.ratio(c, other)
					p.Bars = append(p.Bars, figure.Bar{Name: other.Name, Label: strings.ToLower(c.ID + "-" + l.name), Value: median, Low: least, High: most})
				}
			}
		}
	}
	return p
}

// roofline has the measured ceilings as lines, and each of our kernels as a dot.
func roofline(d Document) picture {
	p := picture{"roofline", figure.Figure{Title: "Roofline", X: "operations for each byte, FLOP/B", Y: "TFLOP/s", Legend: "beside"}}
	var kernels figure.Figure
	least, most := 0.25, 1024.0
	var copies, adds float64
	d.rows(func(r race.Row, t race.SelfTest) {
		if len(r.Entries) == 0 || r.Entries[0].Stats.N == 0 || r.Work.Bytes == 0 {
			return
		}
		copies, adds = t.Copy.Median, t.Adds.Median
		tflops, _ := r.Rates(r.Entries[0].Stats.Median)
		at := r.Work.FLOPS / r.Work.Bytes
		most = max(most, 2*at)
		least = min(least, at/2)
		kernels.Add(family(r.Op), figure.Dots, figure.Point{X: at, Y: tflops})
	})
	if kernels.Empty() || copies == 0 || adds == 0 {
		return p
	}
	ridge := adds / copies
	line := func(name string, from, to figure.Point) {
		p.Series = append(p.Series, figure.Series{Name: name, Style: figure.Dashes, Points: []figure.Point{from, to}})
	}
	line(fmt.Sprintf("a copy's rate: %.2f TB/s", copies/1e12), figure.Point{X: least, Y: least * copies / 1e12}, figure.Point{X: ridge, Y: adds / 1e12})
	line(fmt.Sprintf("float32 multiply-adds: %.0f TFLOP/s", adds/1e12), figure.Point{X: ridge, Y: adds / 1e12}, figure.Point{X: most, Y: adds / 1e12})
	p.Series = append(p.Series, kernels.Series...)
	return p
}

// family names an operation in a picture.
func family(op string) string {
	switch op {
	case "gemm_nn", "gemm_nt":
		return "products (task 2)"
	case "softmax":
		return "softmax (task 2)"
	case "flash":
		return "attention (task 4)"
	case "decode", "split":
		return "decoding (task 5)"
	case "rope_halves", "rope_neighbours":
		return "rotated attention (b1)"
	case "halves_float16", "halves_bfloat16":
		return "attention in halves (b2)"
	case "int8_tensor", "int8_block":
		return "attention in INT8 (b3)"
	case "qkv_float16", "qkv_bfloat16":
		return "one projection (b4)"
	case "project_nf4", "project_mxfp4":
		return "four-bit weights (b5)"
	case "decode_float16", "decode_bfloat16":
		return "decoding in halves (b6)"
	case "decode_int8", "decode_int4":
		return "compressed caches (b7)"
	case "row", "rows":
		return "INT4 weights (b8)"
	}
	return op
}

// timeAgainstLength has the attentions of one batch.
func timeAgainstLength(d Document) picture {
	p := picture{"length", figure.Figure{Title: "Attention: 32 heads × 128, batch 4, no mask", X: "sequence length", Y: "time, µs", Legend: "left"}}
	p.against(d, func(r race.Row) (int, bool) {
		return last(r, 2), r.Op == "flash" && !r.Causal && r.Shape[0] == 4
	})
	return p
}

// timeAgainstContext has the steps of decoding.
func timeAgainstContext(d Document) picture {
	p := picture{"context", figure.Figure{Title: "Decoding: 32 heads × 128, batch 16", X: "tokens in the cache", Y: "time of a step, µs", Legend: "left"}}
	p.against(d, func(r race.Row) (int, bool) {
		return last(r, 3), r.Op == "decode" && r.Shape[0] == 16
	})
	return p
}

func last(r race.Row, i int) int {
	if i < len(r.Shape) {
		return r.Shape[i]
	}
	return 0
}

// against adds a line for each who ran, over a size of the workload.
func (p *picture) against(d Document, of func(r race.Row) (int, bool)) {
	d.rows(func(r race.Row, _ race.SelfTest) {
		x, is := of(r)
		for _, e := range r.Entries {
			if is && e.Stats.N > 0 && e.Wrong == "" {
				p.Add(e.Name, figure.Line, figure.Point{X: float64(x), Y: e.Stats.Median / 1e3})
			}
		}
	})
}

// Draw writes the pictures as SVG and PNG.
func (d Document) Draw(ctx context.Context, root, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for _, p := range pictures(d) {
		if p.Empty() {
			continue
		}
		file := filepath.Join(dir, p.name)
		if err := p.Figure.Draw(ctx, root, file+".svg", file+".png"); err != nil {
			return err
		}
	}
	return nil
}
