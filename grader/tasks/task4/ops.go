package task4

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// Ops are what task 4 is asked for.
var Ops = judge.Ops{shared.Flash}
