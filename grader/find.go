package main

import (
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// find is the course's folder, and the tasks that a number names: all of them if
// it is empty.
func find(number string) (root string, tasks []*rubric.Task, err error) {
	if root, err = repo.Root(); err != nil {
		return "", nil, err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return "", nil, err
	}
	tasks, err = rubric.Find(all, number)
	return root, tasks, err
}
