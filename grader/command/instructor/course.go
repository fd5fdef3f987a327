// Package instructor is the commands that only the course's own repository has: those for a class,
// for releases, and for the course's own tests.
package instructor

import (
	"flashlab/grader/bench/measure"
	"flashlab/grader/command/student"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/trial"
)

// Course lets the students' commands run the course's solutions and its mutants.
var Course = student.Course{
	Mutant: func(root string, t *rubric.Task, name string) (run.Subject, error) {
		m, err := trial.Find(root, trial.Mutants, t, name)
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
