package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"flashlab/device/corpus"
	"flashlab/device/sim"
)

// row is a bug's line of the table.
type row struct {
	bug       corpus.Bug
	simulator string // what it says
	sanitizer string
	agree     string // "yes", "line differs", "simulator only", …
	remark    string
}

const notRun = "not run"

// table prints one row a bug, then what was said about twins, then the totals.
func table(w io.Writer, bugs []corpus.Bug, dir string) error {
	d, err := sim.Start(corpus.SimOptions())
	if err != nil {
		return err
	}
	defer d.Close()
	r := corpus.NewRunner(d)
	fmt.Fprintln(w, "| bug | at | kind | simulator | compute-sanitizer | agree | remark |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- |")
	totals := map[string]int{}
	var twins []string
	for _, b := range bugs {
		row, err := compare(d, r, b, dir)
		if err != nil {
			return err
		}
		totals[row.agree]++
		if row.agree == notRun {
			continue
		}
		fmt.Fprintf(w, "| %s | %s:%d | %s | %s | %s | %s | %s |\n", b.Name, path.Base(b.File), b.Line, b.Kind, row.simulator, row.sanitizer, row.agree, row.remark)
		v, err := readLog(dir, b.Twin(), b.Tool())
		if err != nil {
			return err
		}
		if v.state != "ran" || len(v.complaints) > 0 {
			twins = append(twins, fmt.Sprintf("%s, %s: %s %s", b.Twin(), b.Tool(), v.state, words(v.complaints)))
		}
	}
	fmt.Fprintln(w)
	for _, agree := range slices.Sorted(keys(totals)) {
		fmt.Fprintf(w, "- %s: %d\n", agree, totals[agree])
	}
	fmt.Fprintf(w, "- twins that compute-sanitizer complains about, or that did not run: %d\n", len(twins))
	for _, t := range twins {
		fmt.Fprintln(w, "  -", t)
	}
	return nil
}

func keys(m map[string]int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func compare(d *sim.Device, r *corpus.Runner, b corpus.Bug, dir string) (row, error) {
	found, _, err := corpus.Simulate(d, r, b, false)
	if err != nil {
		return row{}, err
	}
	verdict := "nothing"
	hit := slices.IndexFunc(found, b.FoundBy)
	switch {
	case hit >= 0 && found[hit].Line > 0:
		verdict = fmt.Sprintf("%s, line %d", found[hit].Kind, found[hit].Line)
	case hit >= 0:
		verdict = found[hit].Kind
	case len(found) > 0:
		verdict = found[0].Headline()
	}
	var all []complaint
	states := map[string]int{}
	for _, tool := range watched(b) {
		v, err := readLog(dir, b.Name, tool)
		if err != nil {
			return row{}, err
		}
		states[v.state]++
		all = append(all, v.complaints...)
	}
	return judge(b, hit >= 0, verdict, all, states), nil
}

// judge decides whether the two agree: both say something, about the same line.
func judge(b corpus.Bug, seen bool, verdict string, complaints []complaint, states map[string]int) row {
	r := row{bug: b, simulator: verdict, sanitizer: words(complaints)}
	first := slices.IndexFunc(complaints, func(c complaint) bool { return c.about(b) })
	switch {
	case states["no log"] > 0:
		r.agree = notRun
	case len(complaints) > 0 && !seen:
		r.agree = "sanitizer only"
	case !seen:
		r.agree = "neither"
	case len(complaints) == 0:
		r.agree = "simulator only"
	case first >= 0:
		r.agree = "yes"
	default:
		r.agree = "yes, but for the line"
	}
	if r.agree == "simulator only" || r.agree == "neither" {
		r.remark = b.Blind
	}
	if states["stopped by the time limit"] > 0 {
		r.remark = strings.Trim(r.remark+"; stopped by the time limit", "; ")
	}
	if states["did not run"] > 0 && len(complaints) == 0 {
		r.remark = strings.Trim(r.remark+"; a run failed: see its log", "; ")
	}
	return r
}

// words sums complaints up: each tool and text once, with the lines it names.
// What the driver says of an earlier error counts only where there was none.
func words(complaints []complaint) string {
	var parts []string
	first := slices.ContainsFunc(complaints, func(c complaint) bool { return !c.after })
	for _, c := range complaints {
		if c.after && first {
			continue
		}
		text := c.tool + ": " + strings.TrimSuffix(strings.TrimPrefix(c.text, "Error: "), ".")
		if len(c.lines) > 0 {
			var lines []string
			for _, n := range slices.Compact(slices.Clone(c.lines)) {
				lines = append(lines, fmt.Sprint(n))
			}
			text += " (line " + strings.Join(lines, ", ") + ")"
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if len(parts) > 3 {
		parts = append(parts[:3], fmt.Sprintf("and %d more", len(parts)-3))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.ReplaceAll(strings.Join(parts, "; "), "|", "/")
}
