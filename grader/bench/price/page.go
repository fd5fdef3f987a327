package price

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"text/tabwriter"

	"flashlab/internal/cache"
	"flashlab/internal/figure"
	"flashlab/internal/harmless"
)

// List is what was measured of one model, and on what.
type List struct {
	Model, Weights string // its shape; where its weights are from, and what they were rounded to before
	Text           string // where it is from
	Length, Shown  int    // tokens of a piece; pieces that GPTQ was shown
	Begun          bool   // each text begins with the model's own token
	Begin          string `json:",omitempty"` // or with this one, which was asked for
	Windows, Asked int    // pieces; questions
	Rows           []Row
}

// ReadList reads what Write wrote. Formats that a run did not come to are rows that say so.
func ReadList(data []byte) (l List, err error) {
	if err := json.Unmarshal(data, &l); err != nil {
		return l, fmt.Errorf("the price list: %w", err)
	}
	for _, f := range Formats[min(len(l.Rows), len(Formats)):] {
		l.Rows = append(l.Rows, Row{Name: f.Name, Failed: "the run was stopped before"})
	}
	return l, nil
}

// Known are the rows of an earlier run, by their names, if it was on what this list is of. A format that failed, or that
// it did not come to, is not among them.
func (l List) Known(file string) (map[string]Row, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("RESUME: there is no earlier run: %w", err)
	}
	var earlier List
	if err := json.Unmarshal(data, &earlier); err != nil {
		return nil, fmt.Errorf("RESUME: %s: %w", file, err)
	}
	known := map[string]Row{}
	for _, r := range earlier.Rows {
		if r.Failed == "" {
			known[r.Name] = r
		}
	}
	earlier.Rows, l.Rows = nil, nil
	if !reflect.DeepEqual(earlier, l) {
		return nil, fmt.Errorf("RESUME: %s is of another model, on other texts: leave RESUME out", file)
	}
	return known, nil
}

// Write writes the list to a file.
func (l List) Write(name string) error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return cache.WriteFile(name, append(data, '\n'), 0o644)
}

// columns are the table's.
var columns = []string{"format", "perplexity", "change", "equal tokens", "right answers (95 %)", "weights", "cache, a token"}

// cells are a row's, beside its name.
func (l List) cells(r Row) []string {
	if r.Failed != "" {
		return []string{"not measured: " + r.Failed, "", "", "", "", ""}
	}
	p := Perplexity(r.Surprises)
	all := []string{fmt.Sprintf("%.2f ± %.2f", p.Mean, p.Error), "–", "–", "–", fmt.Sprintf("%.0f MB", float64(r.Bytes)/1e6), fmt.Sprintf("%.1f kB", r.TokenBytes/1e3)}
	if base := l.Rows[0]; r.Of > 0 && base.Failed == "" {
		d := Change(r.Surprises, base.Surprises)
		all[1], all[2] = fmt.Sprintf("%+.2f ± %.2f", d.Mean, d.Error), fmt.Sprintf("%.1f %%", 100*float64(r.Same)/float64(r.Of))
	}
	if r.Asked > 0 {
		low, high := interval(r.Right, r.Asked)
		all[3] = fmt.Sprintf("%d of %d (%.0f to %.0f %%)", r.Right, r.Asked, 100*low, 100*high)
	}
	for i, cell := range all {
		all[i] = strings.ReplaceAll(cell, "NaN", "?")
	}
	return all
}

// Table writes the list for a terminal.
func (l List) Table(to io.Writer) error {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, r := range l.Rows {
		if r.Failed != "" {
			fmt.Fprintf(t, "%s\tnot measured, see below\t\t\t\t\t\n", r.Name)
			continue
		}
		fmt.Fprintln(t, r.Name+"\t"+strings.Join(l.cells(r), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range l.Rows {
		if r.Failed != "" {
			fmt.Fprintf(to, "\n%s: %s\n", r.Name, harmless.Line(r.Failed))
		}
	}
	fmt.Fprintln(to, "\n"+strings.Join(l.notes(), "\n"))
	return nil
}

// notes are what belongs beside the figures.
func (l List) notes() []string {
	begin := "the model has no token to begin a text with."
	const all = " and so do the pieces that GPTQ is shown, except where a row says otherwise."
	switch {
	case l.Begin != "":
		begin = "each begins with " + l.Begin + ", as BEGIN asked," + all
	case l.Begun:
		begin = "each begins with the model's own token," + all
	}
	windows := 0
	for _, r := range l.Rows {
		windows = max(windows, len(r.Surprises))
	}
	notes := []string{
		"Weights: " + l.Weights + ". Every row starts from them, in halves: the table says what a format adds.",
		fmt.Sprintf("Text: %s: %d pieces of %d tokens; %s GPTQ is shown %d other pieces, %d tokens: expect little of it where a matrix has more inputs than that.", l.Text, windows, l.Length, begin, l.Shown, l.Shown*l.Length),
		"Perplexity ± its standard error, of the pieces' means. The change is from halves on the same pieces: ± is the standard error of their differences. Few pieces tell little of it: with 4, 95 % is ± 3.2 standard errors, with 6 ± 2.6, with 12 ± 2.2.",
		"Equal tokens: positions at which the likeliest next token is that of halves, after the same text. The first 32 tokens of a piece are halves to KIVI, and up to 31 at the end always.",
	}
	if text := l.calibrated(); text != "" {
		notes = append(notes, text)
	}
	for _, r := range l.Rows {
		if r.Asked > 0 {
			return append(notes, fmt.Sprintf("Answers: the likeliest letter, without examples, of the %d shortest questions among MMLU's examples that lm-eval ships. Guessing gives 25 %%, and a model this small is near it: an interval that holds 25 %% shows no knowledge, and intervals that overlap no difference.", r.Asked))
		}
	}
	return notes
}

// calibrated sets GPTQ's rows beside those that differ from them in one thing alone: nothing, where some are missing.
func (l List) calibrated() string {
	rows := map[string]Row{}
	for _, r := range l.Rows {
		if r.Failed == "" && len(r.Surprises) > 1 {
			rows[r.Name] = r
		}
	}
	var all []string
	for _, pair := range [][2]string{{"GPTQ", "INT4"}, {"GPTQ, zeros", "INT4, zeros"}, {"GPTQ, zeros, no begin token", "GPTQ, zeros"}} {
		if a, b := rows[pair[0]], rows[pair[1]]; a.Name != "" && b.Name != "" {
			d := Change(a.Surprises, b.Surprises)
			all = append(all, fmt.Sprintf("%s %+.2f ± %.2f from %s", a.Name, d.Mean, d.Error, b.Name))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "What GPTQ changes, on the same pieces: " + strings.Join(all, "; ") + ". Within two standard errors these pieces show no change."
}

// command is what somebody types for this list.
func (l List) command() string {
	text := fmt.Sprintf("make price PAGE=1 WINDOWS=%d LENGTH=%d SHOWN=%d QUESTIONS=%d", l.Windows, l.Length, l.Shown, l.Asked)
	if l.Begin != "" {
		text += " BEGIN='" + l.Begin + "'"
	}
	return text
}

// Page is docs/formats.md.
func (l List) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What each format costs\n\nPredict first, then see: which of these costs most, and by how much? `make price` measures them all in plain Go,\nwithout a GPU. This page is of\n\n    %s\n\n", l.command())
	fmt.Fprintf(&b, "The model: %s.\n\n![Change of perplexity for each format](formats.svg)\n\n", l.Model)
	b.WriteString(strings.Join(l.markdown(l.Rows, len(columns)), "\n") + "\n\n")
	for _, n := range l.notes() {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	return b.String()
}

// markdown is a table of some rows, with so many of the columns.
func (l List) markdown(rows []Row, many int) []string {
	lines := []string{"| " + strings.Join(columns[:many], " | ") + " |", "|" + strings.Repeat(" --- |", many)}
	for _, r := range rows {
		cells := append([]string{r.Name}, l.cells(r)...)[:many]
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(harmless.Line(c), "|", `\|`) // a bare | would end the cell
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	return lines
}

// Figure has for each format by how many times its perplexity is that of halves, with twice the standard error to
// either side. It is empty where there is nothing to compare.
func (l List) Figure() figure.Figure {
	f := figure.Figure{Title: "What formats cost in perplexity", X: "perplexity, times that of halves; ± 2 standard errors"}
	for i, r := range l.Rows {
		if i == 0 || r.Failed != "" || r.Of == 0 || len(r.Surprises) < 2 {
			continue
		}
		base := Perplexity(l.Rows[0].Surprises).Mean
		d := Change(r.Surprises, l.Rows[0].Surprises)
		times := 1 + d.Mean/base
		apart := math.Exp(2 * d.Error / base / times) // on the axis, which is logarithmic
		of := "weights of 4 bits"
		switch {
		case strings.HasPrefix(r.Name, "cache"):
			of = "cache"
		case strings.Contains(r.Name, " and "):
			of = "both"
		}
		f.Bars = append(f.Bars, figure.Bar{Name: of, Label: r.Name, Value: times, Low: times / apart, High: times * apart})
	}
	return f
}
