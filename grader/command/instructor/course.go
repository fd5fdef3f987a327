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
		m, err := trial.LoadMutant(root, t, name)
		if err != nil {
			return run.Subject{}, err
		}
		return trial.MutantOf(root, t, m), nil
	},
	Cheats: func(root string, t *rubric.Task) (all []measure.Cheat, err error) {
		for _, name := range trial.TimingMutants(root, t) {
			m, err := trial.LoadTimingMutant(root, t, name)
			if err != nil {
				return nil, err
			}
			all = append(all, measure.Cheat{Name: name, About: m.About, Subject: trial.MutantOf(root, t, m)})
		}
		return all, nil
	},
}
