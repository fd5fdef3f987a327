package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"flashlab/grader/class/pages"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// answerKey is where a task's questions are answered. No release has it, nor any other file of a solution.
const answerKey = "solution/answers.md"

// questionsOf are the handouts' questions, with what a good answer says: without it in a tree that has no
// solutions.
func questionsOf(root string, all []*rubric.Task) (map[registry.Name][]pages.Question, error) {
	byTask := map[registry.Name][]pages.Question{}
	for _, t := range all {
		texts, err := report.Questions(root, t.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		keys, err := keysOf(filepath.Join(root, t.Dir, answerKey))
		if err != nil {
			return nil, err
		}
		if len(keys) > 0 && len(keys) != len(texts) {
			return nil, fmt.Errorf("%s has %d answers, and the handout %d questions", filepath.Join(t.Dir, answerKey), len(keys), len(texts))
		}
		for i, text := range texts {
			q := pages.Question{Number: i + 1, Text: text}
			if i < len(keys) {
				q.Key = keys[i]
			}
			byTask[t.Name] = append(byTask[t.Name], q)
		}
	}
	return byTask, nil
}

var numbered = regexp.MustCompile(`(?m)^\d+\. `)

// keysOf are the answers of a file, in order; none if there is no such file.
func keysOf(name string) (keys []string, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, k := range numbered.Split(string(text), -1)[1:] {
		keys = append(keys, strings.Join(strings.Fields(k), " "))
	}
	return keys, nil
}
