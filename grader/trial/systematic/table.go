package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/BurntSushi/toml"

	"flashlab/grader/grading/rubric"
)

// alike is a survivor that someone has looked at: why it computes what the solution computes.
type alike struct {
	File, Text, Old, New string
	Nth                  int
	Why                  string
}

// explained reads alive.toml.
func explained(root string) ([]alike, error) {
	file := filepath.Join(root, "grader", "trial", "systematic", "alive.toml")
	var all struct {
		Alive []alike
	}
	meta, err := toml.DecodeFile(file, &all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("%s: unknown key %q", file, unknown[0].String())
	}
	return all.Alive, nil
}

// table prints what came of each task's mutants, then the survivors that nobody has explained.
func (w work) table(out io.Writer, tasks []*rubric.Task, why []alike) error {
	fmt.Fprintln(out, "| task | places changed | not built | mutants made | killed: wrong | unsafe | wasting | alive | of these alike | not looked at |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	var open []string
	for _, t := range tasks {
		these, err := of(w.root, t)
		if err != nil {
			return err
		}
		results, err := w.done(t)
		if err != nil {
			return err
		}
		n, same := map[string]int{}, 0
		all := 0
		for _, c := range these {
			i := find(results, c)
			if i < 0 {
				continue
			}
			all++
			n[results[i].Came]++
			if results[i].Came != alive {
				continue
			}
			if reason(why, c) != "" {
				same++
			} else {
				open = append(open, fmt.Sprintf("%-12s %s", c.Kind, c))
			}
		}
		part := fmt.Sprint(all)
		if all < len(these) {
			part = fmt.Sprintf("%d of %d", all, len(these))
		}
		fmt.Fprintf(out, "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", t.Name, part, n[unbuilt], all-n[unbuilt],
			n[wrong], n[unsafe], n[wasting]+n[asking], n[alive], same, n[alive]-same)
	}
	if len(open) > 0 {
		fmt.Fprintln(out, "\nAlive, and not explained in alive.toml:")
	}
	for _, line := range open {
		fmt.Fprintln(out, line)
	}
	return nil
}

// reason is why a survivor is no hole; "" if nobody has said so.
func reason(why []alike, c change) string {
	for _, a := range why {
		if c.same(change{File: a.File, Text: a.Text, Old: a.Old, New: a.New, Nth: a.Nth}) {
			return a.Why
		}
	}
	return ""
}
