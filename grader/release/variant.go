package release

import (
	"fmt"
	"path"

	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// vary makes the course's files those of a year with a variant: rubrics with its checks, handouts with its sections,
// and its stubs and tests in place of the tasks' own, or besides.
func vary(course map[string][]byte, variant string) (map[string][]byte, error) {
	if variant == "" {
		return course, nil
	}
	varied, changed := map[string][]byte{}, 0
	for name, data := range course {
		varied[name] = data
	}
	for name, data := range course {
		t, rest, ok := registry.All.Owner(name)
		if !ok {
			continue
		}
		of, own, ok := rubric.OfAVariant(rest)
		if !ok || of != variant || within(own, "solution") {
			continue
		}
		changed++
		plain := path.Join(t.Dir, own)
		switch own {
		case "rubric.toml":
			text, err := rubric.WithChecks(string(course[plain]), string(data))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			data = []byte(text)
		case "README.md":
			data = []byte(rubric.WithSections(string(course[plain]), string(data)))
		}
		varied[plain] = data
	}
	if changed == 0 {
		return nil, fmt.Errorf("the last commit has no variant %q: commit it first", variant)
	}
	return varied, nil
}

// blank is Results.md for these tasks.
func (t *Tree) blank(root string, tasks []*rubric.Task) error {
	text, err := report.Blank(root, tasks)
	t.Contents[report.ResultsName] = []byte(text)
	return err
}
