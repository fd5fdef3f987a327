package skeleton

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

const readme = "README.md"

// lists are the files that list all tasks, made anew with this one among them.
func (t task) lists(root string) (texts map[string][]byte, err error) {
	all := append(slices.Clone(registry.All), t.Task)
	texts = map[string][]byte{}
	if texts[roomsFile], err = Rooms(all); err != nil {
		return nil, err
	}
	tasks, err := rubric.LoadList(root, all)
	if err != nil {
		return nil, err
	}
	results, err := report.Blank(root, tasks)
	if err != nil {
		return nil, err
	}
	texts[report.ResultsName] = []byte(results)
	page, err := os.ReadFile(filepath.Join(root, readme))
	if err != nil {
		return nil, err
	}
	if texts[readme], err = t.routed(string(page), tasks[len(tasks)-1]); err != nil {
		return nil, err
	}
	return texts, nil
}

// routed is the course's README with one row more, the last of its table: what it teaches is for its author to say.
func (t task) routed(page string, r *rubric.Task) ([]byte, error) {
	section := "\n## The route\n"
	row := fmt.Sprintf("| [%s %s](%s/README.md) | … | `%s` | `make grade TASK=%s` | %v |\n", t.Name, t.Lower(), t.Dir, strings.Join(r.Files, "`, `"), t.Name, r.Points)
	if t.Name.Bonus() {
		section = "\n## Bonus tracks\n"
		row = fmt.Sprintf("| | [%s %s](%s/README.md) | … | `make grade TASK=%s` | %v |\n", t.Name, t.Lower(), t.Dir, t.Name, r.Points)
	}
	start := strings.Index(page, section)
	if start < 0 {
		return nil, fmt.Errorf("%s has no section %q", readme, strings.TrimSpace(section))
	}
	table := strings.Index(page[start:], "\n| ")
	if table < 0 {
		return nil, fmt.Errorf("%s: the section %q has no table", readme, strings.TrimSpace(section))
	}
	end := strings.Index(page[start+table:], "\n\n")
	if end < 0 {
		return nil, fmt.Errorf("%s: the table below %q does not end", readme, strings.TrimSpace(section))
	}
	at := start + table + end + 1
	return []byte(page[:at] + row + page[at:]), nil
}
