// Package bench reads what is timed of the reference solutions from the tasks' rubrics: workloads and ladders of
// versions. It knows the mistakes of measuring, too.
package bench

import (
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/rooms"
)

// Table are a task's workloads of the reference's page.
func Table(t *rubric.Task) ([]race.Workload, error) { return workloads(t, t.Bench.Table) }

// VersionWorkloads are what the versions of a task's solution are compared on.
func VersionWorkloads(t *rubric.Task) ([]race.Workload, error) { return workloads(t, t.Bench.Versions) }

func workloads(t *rubric.Task, named []rubric.Workload) (all []race.Workload, err error) {
	for _, w := range named {
		one, err := race.Of(t.Name, rooms.Ops, w)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
