package task7

import (
	"flashlab/grader/grading/judge"
)

// Ops7 are what task 7 is asked for.
var Ops = judge.Ops{gpt2Logits, gpt2Text}
