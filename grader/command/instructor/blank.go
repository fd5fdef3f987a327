package instructor

import (
	"path/filepath"

	"flashlab/grader/command"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Blank writes Results.md as students begin with it: its questions are the handouts', its checks the
// rubrics'.
var Blank = command.Command{Name: "blank", Group: command.Course, Summary: "write the blank Results.md again, from handouts and rubrics",
	Define: command.Do(func() error {
		root, err := repo.Root()
		if err != nil {
			return err
		}
		tasks, err := rubric.LoadAll(root)
		if err != nil {
			return err
		}
		text, err := report.Blank(root, tasks)
		if err != nil {
			return err
		}
		harmless.Println("Written:", report.ResultsName)
		return cache.WriteFile(filepath.Join(root, report.ResultsName), []byte(text), 0o644)
	})}
