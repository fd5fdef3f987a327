package run

import (
	"path"

	"flashlab/grader/grading/copies"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
)

// mostCopies are named.
const mostCopies = 3

// copies names the places of the task's own files that are what the course ships. Its solutions and
// specimens are the course's own; files of a task that this one uses are held there.
func (o Options) copies(files []gate.File) (places []string, err error) {
	if o.Subject.Solution || o.Subject.Mutant != "" || o.Subject.Edit != nil {
		return nil, nil
	}
	all, err := rubric.LoadAll(o.Root)
	if err != nil {
		return nil, err
	}
	if all, err = rubric.WithWarmUp(o.Root, all); err != nil {
		return nil, err
	}
	library, err := copies.Of(o.Root, handin.Names(all))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Task != o.Task.Dir {
			continue
		}
		for _, c := range library.Find(path.Join(f.Task, path.Base(f.Name)), f.Data) {
			if len(places) < mostCopies {
				places = append(places, c.String())
			}
		}
	}
	return places, nil
}
