package ways

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"flashlab/device"
	"flashlab/grader/bench/price"
	"flashlab/internal/cache"
	"flashlab/internal/figure"
)

// Report is what was run, where, and what came of it.
type Report struct {
	Workload
	Device, Weights string
	Results         []Result
}

// NewReport is one without results yet.
func NewReport(d device.Device, w Workload) Report {
	about := fmt.Sprintf("random, from the seed %d: perplexities and tokens say nothing about a trained model", w.Seed)
	if w.Weights != nil {
		if about = w.Weights.About(); !strings.Contains(about, w.Shape) {
			about += " of " + w.Shape
		}
	}
	return Report{w, d.Info().Name, about, nil}
}

// Head says what is run.
func (r Report) Head(to io.Writer) {
	fmt.Fprintf(to, "%s: %v\nbatch of %d, a prompt of %d tokens each, %d new ones; no token ends a sequence\nprompts: %s\nweights: %s\non: %s\n%s\n\n",
		r.Shape, r.Config, r.Batch, r.Prompt, r.Tokens, r.prompted(), r.Weights, r.Device, r.predicted())
}

// prompted says what the prompts are.
func (r Report) prompted() string {
	if r.Text == nil {
		return "random tokens"
	}
	return r.Text.About
}

// Table writes the results.
func (r Report) Table(to io.Writer) error {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "way\ttokens/s\tTTFT\tTBT (5 % to 95 %)\tpeak memory\tperplexity\tsame tokens")
	base := r.base()
	for _, x := range r.Results {
		if x.Failed != "" {
			fmt.Fprintf(t, "%s\tfailed, see below\t\t\t\t\t\n", x.Way.Name)
			continue
		}
		speed, first, each, same := "-", "-", "-", "-"
		if !r.given() {
			same = fmt.Sprintf("%.1f %%", 100*x.Same)
		}
		if x.PerSecond > 0 {
			speed, first = fmt.Sprintf("%.0f", x.PerSecond), fmt.Sprintf("%.1f ms", x.First.Median*1e3)
			each = fmt.Sprintf("%.3f ms (%.3f to %.3f)", x.Each.Median*1e3, x.Each.Low*1e3, x.Each.High*1e3)
			if !x.Graph {
				each += ", no graph"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s (%.2f)\t%s\t%s\n", x.Way.Name, speed, first, each,
			bytes(x.Bytes), float64(x.Bytes)/float64(base.Bytes), x.perplexity(base), same)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range r.Results {
		if x.Failed != "" {
			fmt.Fprintf(to, "\n%s: %s\n", x.Way.Name, x.Failed)
		}
	}
	if text := r.measured(); text != "" {
		fmt.Fprintln(to, "\n"+text)
	}
	if r.Batch > 1 {
		fmt.Fprintln(to, "\n± is a standard error, of the sequences' means; that of a change, of their differences")
	}
	if r.given() {
		fmt.Fprintf(to, "\nperplexity: of each way on the text's own %d tokens after the prompts, and its change; nothing is written, so there are no times\n", r.Batch*r.Tokens)
		return nil
	}
	fmt.Fprintf(to, "\nperplexity: of each way on the first way's %d tokens, and its change; same tokens: those that come out as the first way's\n", r.Batch*r.Tokens)
	return nil
}

// perplexity is a way's, and its change; of several sequences with their standard errors.
func (r Result) perplexity(base Result) string {
	if len(r.Surprises) < 2 {
		return fmt.Sprintf("%.4g (%+.2g)", r.Perplexity, r.Perplexity-base.Perplexity)
	}
	p, d := price.Perplexity(r.Surprises), price.Change(r.Surprises, base.Surprises)
	return fmt.Sprintf("%.2f ± %.2f (%+.2f ± %.2f)", p.Mean, p.Error, d.Mean, d.Error)
}

// base is what the others are compared with: the first way that ran.
func (r Report) base() Result {
	for _, x := range r.Results {
		if x.Failed == "" {
			return x
		}
	}
	return Result{}
}

func bytes(n int64) string {
	if n < 1e8 {
		return fmt.Sprintf("%.2f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}

// WriteJSON writes everything to a file.
func (r Report) WriteJSON(name string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return cache.WriteFile(name, append(text, '\n'), 0o644)
}

// Figure is the picture: how many times the first way each way is, in speed, in time to the first token and
// in memory. It is empty without a clock.
func (r Report) Figure() figure.Figure {
	f := figure.Figure{Title: fmt.Sprintf("%s in %d ways, batch of %d (%s)", filepath.Base(r.Shape), len(r.Results), r.Batch, r.Device),
		X: fmt.Sprintf("times %s: above 1 is faster, or smaller", r.base().Way.Name)}
	base := r.base()
	for _, x := range r.Results {
		if x.PerSecond == 0 {
			continue
		}
		beside := func(name string, of, to Spread) {
			f.Bars = append(f.Bars, figure.Bar{Name: name, Label: x.Way.Name, Value: of.Median / to.Median, Low: of.Median / to.High, High: of.Median / to.Low})
		}
		beside("between tokens", base.Each, x.Each)
		beside("to the first token", base.First, x.First)
		smaller := float64(base.Bytes) / float64(x.Bytes)
		f.Bars = append(f.Bars, figure.Bar{Name: "peak memory", Label: x.Way.Name, Value: smaller, Low: smaller, High: smaller})
	}
	return f
}
