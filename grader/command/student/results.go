package student

import (
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/cache"
)

// write writes the result files. A run of a part leaves them as they are: it is not a result of the
// task. Neither is the warm-up, which has no points. The tree's own Results.md is filled in with the tree's own files alone; whatever else is
// graded has one of its own, beside results.json.
func (g grading) write(root string, verdicts []verdict.Verdict) error {
	if g.only != "" || len(verdicts) > 0 && verdicts[0].Task.WarmUp() {
		return nil
	}
	tasks, err := rubric.LoadAll(root)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "out")
	switch {
	case g.out != "":
		dir = g.out
	case g.solution:
		dir = filepath.Join(dir, "reference", g.version)
	case g.mutant != "":
		dir = filepath.Join(dir, "mutants", g.mutant)
	case g.submission != "":
		given, err := filepath.Abs(g.submission)
		if err != nil {
			return err
		}
		dir = filepath.Join(dir, "submissions", filepath.Base(given))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(dir, report.ResultsName)
	var sums []report.Total
	if g.own() && g.out == "" {
		name = filepath.Join(root, report.ResultsName)
		sums, err = report.FillResults(root, name, tasks, verdicts)
	} else {
		var text string
		if text, sums, err = report.ResultsOf(tasks, verdicts); err == nil {
			err = cache.WriteFile(name, []byte(text), 0o644)
		}
	}
	if err != nil {
		return err
	}
	if err := report.WriteJSON(dir, verdicts, sums); err != nil {
		return err
	}
	if g.snapshot == "" { // else who asked for it says it
		fmt.Printf("Written: %s, %s\n", shown(root, name), shown(root, filepath.Join(dir, "results.json")))
	}
	return nil
}

func shown(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil {
		return rel
	}
	return path
}
