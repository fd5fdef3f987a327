package bench

import (
	"fmt"
	"strings"

	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/rooms"
)

// Ladder is a rubric's, with the workload that all its versions are timed on.
type Ladder struct {
	rubric.Ladder
	Workload race.Workload
}

// LadderNames are for a sentence.
func LadderNames(tasks []*rubric.Task) string {
	var names []string
	for _, t := range tasks {
		for _, l := range t.Bench.Ladders {
			names = append(names, l.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Inexact is the largest error that a version is known to make on this operation; 0 if the judge's bound holds for it.
func Inexact(t *rubric.Task, version, op string) (known float64) {
	for _, l := range t.Bench.Ladders {
		for _, step := range l.Rungs {
			if step.Version == version && l.Workload.Op == op {
				known = max(known, step.Inexact)
			}
		}
	}
	return known
}

// FindLadder finds a ladder by its name.
func FindLadder(tasks []*rubric.Task, name string) (Ladder, error) {
	for _, t := range tasks {
		for _, l := range t.Bench.Ladders {
			if l.Name == name {
				w, err := race.Of(t.Name, rooms.Ops, l.Workload)
				return Ladder{l, w}, err
			}
		}
	}
	return Ladder{}, fmt.Errorf("there is no ladder %q; there is %s", name, LadderNames(tasks))
}
