package page

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"flashlab/grader/grading/race"
)

// picture is a table for the program grader/bench/plot.
type picture struct {
	name, title, x, y string
	bars              bool
	legend            string
	table             string
}

func pictures(d Document) []picture {
	return []picture{speedUp(d), roofline(d), timeAgainstLength(d), timeAgainstContext(d)}
}

// speedUp has a line for each workload and peer.
func speedUp(d Document) picture {
	p := picture{name: "speedup", title: "How many times as fast as others", x: "their time over ours (median, and the quartiles)", bars: true}
	var table strings.Builder
	d.rows(func(r race.Row, _ race.SelfTest) {
		for i, e := range r.Entries {
			if ratio := r.Ratio(e); i > 0 && ratio.N > 0 {
				fmt.Fprintf(&table, "%s\t%g\t%g\t%g\t%s\n", e.Name, ratio.Median, ratio.Q1, ratio.Q3, r.ID)
			}
		}
	})
	for _, part := range d.Parts {
		for _, c := range part.Models {
			if len(c.Ours)*len(c.Theirs) == 0 || c.Differ != "" {
				continue
			}
			for _, l := range latencies {
				median, least, most := l.ratio(c)
				fmt.Fprintf(&table, "PyTorch\t%g\t%g\t%g\t%s\n", median, least, most, strings.ToLower(c.ID+"-"+l.name))
			}
		}
	}
	p.table = table.String()
	return p
}

// roofline has the measured ceilings as lines, and each of our kernels as a dot.
func roofline(d Document) picture {
	p := picture{name: "roofline", title: "Roofline", x: "operations for each byte, FLOP/B", y: "TFLOP/s", legend: "low"}
	var table strings.Builder
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
		fmt.Fprintf(&table, "◦%s\t%g\t%g\n", family(r.Op), at, tflops)
	})
	if table.Len() == 0 || copies == 0 || adds == 0 {
		return p
	}
	ridge := adds / copies
	p.table = fmt.Sprintf("a copy's rate: %.2f TB/s\t%g\t%g\n", copies/1e12, least, least*copies/1e12) +
		fmt.Sprintf("a copy's rate: %.2f TB/s\t%g\t%g\n", copies/1e12, ridge, adds/1e12) +
		fmt.Sprintf("float32 multiply-adds: %.0f TFLOP/s\t%g\t%g\n", adds/1e12, ridge, adds/1e12) +
		fmt.Sprintf("float32 multiply-adds: %.0f TFLOP/s\t%g\t%g\n", adds/1e12, most, adds/1e12) + table.String()
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
	}
	return op
}

// timeAgainstLength has the attentions of one batch.
func timeAgainstLength(d Document) picture {
	p := picture{name: "length", title: "Attention: 32 heads × 128, batch 4, no mask", x: "sequence length", y: "time, µs", legend: "left"}
	p.table = against(d, func(r race.Row) (int, bool) {
		return last(r, 2), r.Op == "flash" && !r.Causal && r.Shape[0] == 4
	})
	return p
}

// timeAgainstContext has the steps of decoding.
func timeAgainstContext(d Document) picture {
	p := picture{name: "context", title: "Decoding: 32 heads × 128, batch 16", x: "tokens in the cache", y: "time of a step, µs", legend: "left"}
	p.table = against(d, func(r race.Row) (int, bool) {
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

// against has a line for each who ran, over a size of the workload.
func against(d Document, of func(r race.Row) (int, bool)) string {
	var table strings.Builder
	d.rows(func(r race.Row, _ race.SelfTest) {
		x, is := of(r)
		for _, e := range r.Entries {
			if is && e.Stats.N > 0 && e.Wrong == "" {
				fmt.Fprintf(&table, "•%s\t%d\t%g\n", e.Name, x, e.Stats.Median/1e3)
			}
		}
	})
	return table.String()
}

// Draw writes the pictures as SVG and PNG. The program that draws is built only when it
// is wanted.
func (d Document) Draw(ctx context.Context, root, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for _, p := range pictures(d) {
		if p.table == "" {
			continue
		}
		for _, kind := range []string{"svg", "png"} {
			args := []string{"run", "./grader/bench/plot", "-title", p.title, "-x", p.x, "-y", p.y, "-o", filepath.Join(dir, p.name+"."+kind)}
			if p.legend != "" {
				args = append(args, "-legend", p.legend)
			}
			if p.bars {
				args = append(args, "-bars")
			}
			cmd := exec.CommandContext(ctx, "go", args...)
			cmd.Dir, cmd.Stdin = root, strings.NewReader(p.table)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("the picture %s could not be drawn: %w\n%s", p.name, err, out)
			}
		}
	}
	return nil
}
