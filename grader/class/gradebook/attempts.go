package gradebook

import (
	"flashlab/grader/class/course"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
)

// counting are the tasks that are on, each with the attempt that counts: by the course's rule, and with the student's
// slip days spent. spent is how many.
func (c Class) counting(s record.Student, attempts []*record.Record) (tasks []Task, spent int) {
	var all [][]Task
	for _, t := range c.graded() {
		all = append(all, c.candidates(s, t, attempts))
	}
	return c.spend(all)
}

// candidates are the attempts that may count for a task, as they are without slip days. One that could not be read
// counts only where there is no other.
func (c Class) candidates(s record.Student, t *rubric.Task, attempts []*record.Record) (all []Task) {
	legible := readable(attempts)
	switch {
	case len(attempts) == 0:
		return []Task{c.task(s, t, nil, nil)}
	case len(legible) == 0:
		return []Task{c.task(s, t, nil, attempts[len(attempts)-1])}
	case c.Course.Attempt == course.First:
		return []Task{c.task(s, t, legible[:1], legible[0])}
	case c.Course.Attempt == course.Best:
		for i, r := range legible {
			all = append(all, c.task(s, t, legible[:i+1], r))
		}
		return all
	}
	return []Task{c.task(s, t, legible, legible[len(legible)-1])}
}
