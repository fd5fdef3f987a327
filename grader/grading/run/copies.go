package run

import (
	"path"
	"slices"

	"flashlab/device/preprocess"
	"flashlab/grader/grading/copies"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
)

// mostCopies are named.
const mostCopies = 3

// library is what the task's own files are compared with, as they are and as they are compiled; files of a task that
// this one uses are held there. It is nil for solutions and specimens, which are the course's own.
func (o Options) library() (*copies.Library, error) {
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
	return copies.Of(o.Root, handin.Names(all))
}

// noteCopies adds what was found to the places that are named, each function of the course's once.
func noteCopies(places []string, found []copies.Copy) []string {
	for _, c := range found {
		if len(places) < mostCopies && !slices.ContainsFunc(places, c.Named) {
			places = append(places, c.String())
		}
	}
	return places
}

// handedIn are the lines of the files that were handed in: a task's folder has kernels and headers of the course's, too.
func handedIn(files []gate.File, e supervise.Expanded) (lines []preprocess.Line) {
	for _, line := range e.Lines {
		if slices.ContainsFunc(files, func(f gate.File) bool { return f.Task == e.Folder && path.Base(f.Name) == line.File }) {
			lines = append(lines, line)
		}
	}
	return lines
}
