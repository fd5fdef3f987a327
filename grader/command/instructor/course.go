// Package instructor is the commands that only the course's own repository has: those for a class,
// for releases, and for the course's own tests.
package instructor

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/bench/measure"
	"flashlab/grader/command/student"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/trial"
)

// Course lets the students' commands run the course's solutions and its mutants.
var Course = student.Course{
	Mutant: func(root string, t *rubric.Task, name string) (run.Subject, error) {
		m, err := within(root, t, name)
		if err != nil {
			return run.Subject{}, err
		}
		return m.Subject(root), nil
	},
	Cheats: func(root string, t *rubric.Task) (all []measure.Cheat, err error) {
		mutants, err := trial.Load(root, trial.Timing, t)
		for _, m := range mutants {
			all = append(all, measure.Cheat{Name: m.Name, About: m.About, Subject: m.Subject(root)})
		}
		return all, err
	},
	Ways: buildWays,
}

// within is a task's mutant; or that of a task which it uses, made among the solutions of all: 4/wrong_scale in task 7.
func within(root string, t *rubric.Task, name string) (m trial.Specimen, err error) {
	number, of, found := strings.Cut(name, "/")
	if !found {
		return trial.Find(root, trial.Mutants, t, name)
	}
	i := slices.IndexFunc(t.Used, func(one *rubric.Task) bool { return string(one.Name) == number })
	if i < 0 {
		return m, fmt.Errorf("MUTANT=%s: task %s uses no task %s; it uses %v", name, t.Name, number, t.Uses)
	}
	if m, err = trial.Find(root, trial.Mutants, t.Used[i], of); err != nil {
		return m, err
	}
	for j, e := range m.Edits {
		m.Edits[j].File = t.Used[i].Dir + "/" + e.File
	}
	m.Task = t
	return m, nil
}
