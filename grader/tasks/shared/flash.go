package shared

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
)

// Flash is attention without a matrix of scores in device memory: any lengths,
// and hardly any scratch.
var Flash = judge.Op{
	Name:    "flash",
	Sizes:   Attention.Sizes,
	Causal:  true,
	Tensors: attentionTensors,
	Rules:   AttentionRules,
	Judge:   judgeAttention,
	Least:   judge.Once,
	Timed:   TimedAttention,
	// A few numbers a row are welcome (a row's maximum and sum); a number for
	// each pair of query and key is not.
	Scratch: func(c problem.Problem) uint64 {
		s := c.Attention()
		return 4 * uint64(16*s.Batch*s.Heads*s.SeqQ)
	},
}
