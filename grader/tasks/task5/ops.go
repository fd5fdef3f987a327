package task5

import (
	"flashlab/grader/grading/judge"
)

// Ops are what task 5 is asked for.
var Ops = judge.Ops{update, decodeStep, decodeSplit, generate}
