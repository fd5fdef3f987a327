// Package rooms joins what the rooms of all tasks know. `grader new-task` writes this file
// from the list of tasks.
package rooms

import (
	"slices"

	"flashlab/grader/tasks/b1"
	"flashlab/grader/tasks/b10"
	"flashlab/grader/tasks/b2"
	"flashlab/grader/tasks/b3"
	"flashlab/grader/tasks/b4"
	"flashlab/grader/tasks/b5"
	"flashlab/grader/tasks/b6"
	"flashlab/grader/tasks/b7"
	"flashlab/grader/tasks/b8"
	"flashlab/grader/tasks/b9"
	"flashlab/grader/tasks/task0"
	"flashlab/grader/tasks/task1"
	"flashlab/grader/tasks/task2"
	"flashlab/grader/tasks/task3"
	"flashlab/grader/tasks/task4"
	"flashlab/grader/tasks/task5"
	"flashlab/grader/tasks/task6"
	"flashlab/grader/tasks/task7"
)

// Ops are the operations of every task.
var Ops = slices.Concat(task0.Ops, task1.Ops, task2.Ops, task3.Ops, task4.Ops, task5.Ops, task6.Ops, task7.Ops, b1.Ops, b2.Ops, b3.Ops, b4.Ops, b5.Ops, b6.Ops, b7.Ops, b8.Ops, b9.Ops, b10.Ops)
