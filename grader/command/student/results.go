package student

import (
	"fmt"
	"path/filepath"

	"flashlab/grader/grading/report"
	"flashlab/grader/grading/verdict"
)

// write writes the result files. A run of a single case leaves them as they are: it
// is not a result of the task.
func (g grading) write(root string, verdicts []verdict.Verdict) error {
	if g.only != "" {
		return nil
	}
	dir := filepath.Join(root, "out")
	switch {
	case g.out != "":
		dir = g.out
	case g.solution:
		dir = filepath.Join(dir, "reference", g.version)
	case g.mutant != "":
		dir = filepath.Join(dir, "mutants", g.mutant)
	}
	if err := report.WriteJSON(dir, verdicts); err != nil {
		return err
	}
	if g.snapshot != "" { // who asked for it writes the files
		return nil
	}
	if g.solution || g.mutant != "" || g.submission != "" {
		fmt.Println("Written:", shown(root, filepath.Join(dir, "results.json")))
		return nil
	}
	if err := report.UpdateResults(filepath.Join(root, "Results.md"), verdicts); err != nil {
		return err
	}
	fmt.Println("Written: Results.md,", shown(root, filepath.Join(dir, "results.json")))
	return nil
}

func shown(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil {
		return rel
	}
	return path
}
