package run

import (
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

// counted is what kernels did besides moving bytes; nil where none ran.
func counted(o supervise.Observed) *verdict.Counted {
	var all verdict.Counted
	for _, c := range o.Counts {
		all.TensorCore += c.TensorCore
		all.Requests += c.SharedRequests
		all.Passes += c.SharedPasses
		all.Steps += c.Steps
	}
	if len(o.Counts) == 0 {
		return nil
	}
	return &all
}
