// Package task5 is all that the grader knows of task 5: decoding against a KV cache.
package task5

import (
	"flashlab/grader/grading/judge"
)

// Ops are what task 5 is asked for; the last in a year with a sliding window.
var Ops = judge.Ops{update, decodeStep, decodeSplit, generate, decodeWindow}
