package report

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/cache"
)

// opening begins a pair of markers. The grader writes between the two, and nowhere else.
func opening(name string) string { return "<!-- flashlab: " + name + " -->\n" }
func closing(name string) string { return "<!-- flashlab: end of " + name + " -->\n" }

func between(name, text string) string { return opening(name) + text + closing(name) }

// FillResults writes verdicts into a tree's Results.md, which is made if need be. What is not between
// markers stays as it is, and so do tasks that were not graded this time. It returns the totals of all
// tasks.
func FillResults(root, name string, tasks []*rubric.Task, verdicts []verdict.Verdict) ([]Total, error) {
	data, err := os.ReadFile(name)
	content := string(data)
	if errors.Is(err, os.ErrNotExist) {
		content, err = Blank(root, tasks)
	}
	if err != nil {
		return nil, err
	}
	content, sums, err := fillIn(content, tasks, verdicts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return sums, cache.WriteFile(name, []byte(content), 0o644)
}

// ResultsOf is a Results.md of these verdicts alone, without questions: of a submission, whose own
// file nobody has to believe.
func ResultsOf(tasks []*rubric.Task, verdicts []verdict.Verdict) (string, []Total, error) {
	content := "# Results\n\n" + between("total", "")
	for _, t := range tasks {
		content += "\n" + heading(t)
	}
	return fillIn(content, tasks, verdicts)
}

// fillIn replaces what is between markers.
func fillIn(content string, tasks []*rubric.Task, verdicts []verdict.Verdict) (string, totals, error) {
	sums := totalsOf(tasks)
	before, err := inside(content, "total")
	if errors.Is(err, errNoMarkers) {
		content, err = between("total", "")+"\n"+content, nil
	}
	if err != nil {
		return "", nil, err
	}
	sums.fill(before, verdicts)
	if content, err = replace(content, "total", sums.table()); err != nil {
		return "", nil, err
	}
	for _, t := range tasks {
		for _, v := range verdicts {
			if v.Task != t.Name {
				continue
			}
			if _, err := inside(content, "task "+string(t.Name)); errors.Is(err, errNoMarkers) { // a new task, or a student's own file
				content = strings.TrimRight(content, "\n") + "\n\n" + heading(t)
			}
			if content, err = replace(content, "task "+string(t.Name), strings.TrimRight(block(v, headline), "\n")+"\n"); err != nil {
				return "", nil, err
			}
			if len(t.Reports) == 0 {
				continue
			}
			if content, err = replace(content, "report "+string(t.Name), reported(t, v)); err != nil && !errors.Is(err, errNoMarkers) {
				return "", nil, err
			}
		}
	}
	return content, sums, nil
}

var errNoMarkers = errors.New("there are no markers of this name")

// places are where a pair of markers begins and ends.
func places(content, name string) (from, to int, err error) {
	open, shut := strings.TrimSpace(opening(name)), strings.TrimSpace(closing(name))
	from, to = strings.Index(content, open), strings.Index(content, shut)
	switch {
	case from < 0 && to < 0:
		return 0, 0, errNoMarkers
	case from < 0 || to < from || strings.Count(content, open) > 1 || strings.Count(content, shut) > 1:
		return 0, 0, fmt.Errorf("the markers %s and %s are not both there, once each and in this order: restore them, or remove both", open, shut)
	}
	return from + len(open), to, nil
}

func inside(content, name string) (string, error) {
	from, to, err := places(content, name)
	if err != nil {
		return "", err
	}
	return content[from:to], nil
}

func replace(content, name, text string) (string, error) {
	from, to, err := places(content, name)
	if err != nil {
		return content, err
	}
	return content[:from] + "\n" + text + content[to:], nil
}
