package report

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"flashlab/grader/grading/rubric"
)

// ResultsName is the file at the top of the tree that students read, and answer questions in.
const ResultsName = "Results.md"

const preamble = `# Results

` + "`make grade`" + ` fills in what is between two markers (they show in the file's text only). Everything else is yours:
write your answers below the questions.

`

// Blank is Results.md before anything was graded: a total, and for each task its checks, what it
// reports, and the handout's questions. It is the same in the course's tree and in a release.
func Blank(root string, tasks []*rubric.Task) (string, error) {
	var b strings.Builder
	b.WriteString(preamble + between("total", totalsOf(tasks).table()))
	for _, t := range tasks {
		questions, err := questionsOf(filepath.Join(root, t.Dir, "README.md"))
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + heading(t))
		for i, q := range questions {
			if i == 0 {
				b.WriteString("\n### Questions\n")
			}
			fmt.Fprintf(&b, "\n#### %d. %s\n\n…\n", i+1, q)
		}
	}
	return b.String(), nil
}

// heading is a task's, with what the grader fills in.
func heading(t *rubric.Task) string {
	s := fmt.Sprintf("## Task %s: %s\n\n%s", t.Name, t.Title, between("task "+string(t.Name), emptyTask(t)))
	if len(t.Reports) > 0 {
		s += "\n### Report\n\n" + between("report "+string(t.Name), emptyReport(t))
	}
	return s
}

// emptyTask is a line for each check, without points.
func emptyTask(t *rubric.Task) string {
	var b strings.Builder
	b.WriteString("Not graded yet.\n\n| check | points | |\n| --- | --- | --- |\n")
	for _, c := range t.Checks {
		points := "– of " + Points(c.Points)
		if c.Optional {
			points = "–"
		}
		fmt.Fprintf(&b, "| %s | %s | |\n", c.Title, points)
	}
	return b.String()
}

// Questions are those of a task's handout, each as one line.
func Questions(root, dir string) ([]string, error) {
	return questionsOf(filepath.Join(root, dir, "README.md"))
}

var question = regexp.MustCompile(`(?m)^\d+\. `)

// questionsOf are those of a handout, each as one line.
func questionsOf(handout string) ([]string, error) {
	text, err := os.ReadFile(handout)
	if err != nil {
		return nil, err
	}
	_, section, ok := strings.Cut("\n"+string(text), "\n## Questions\n")
	if !ok {
		return nil, nil
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var all []string
	for _, q := range question.Split(section, -1)[1:] {
		all = append(all, strings.Join(strings.Fields(q), " "))
	}
	return all, nil
}
