// Package student is the commands that the students' tree has. They are described here; the packages
// below grader do the work.
package student

import (
	"fmt"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// find is the course's folder, and the tasks that a number names: all of them if
// it is empty.
func find(number string) (root string, tasks []*rubric.Task, err error) { return findAs("", number) }

// findAs finds them as a variant has them; "" is the plain course, and in a release what that is.
func findAs(variant, number string) (root string, tasks []*rubric.Task, err error) {
	if root, err = repo.Root(); err != nil {
		return "", nil, err
	}
	all, err := rubric.LoadVariant(root, variant)
	if err != nil {
		return "", nil, err
	}
	if all, err = rubric.WithWarmUp(root, all); err != nil {
		return "", nil, err
	}
	tasks, err = rubric.Find(all, number)
	return root, tasks, err
}

// findOne is for a command that wants one task; say is how to name it.
func findOne(command, number, say string) (root string, t *rubric.Task, err error) {
	root, tasks, err := find(number)
	if err != nil {
		return "", nil, err
	}
	if len(tasks) != 1 {
		return "", nil, fmt.Errorf("%s: say which task: %s", command, say)
	}
	return root, tasks[0], nil
}
