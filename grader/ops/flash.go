package ops

import (
	"flashlab/grader/wire"
)

// flash is attention without a matrix of scores in device memory: any lengths,
// and hardly any scratch.
var flash = Op{
	Name:    "flash",
	Sizes:   attention.Sizes,
	Causal:  true,
	Tensors: attentionTensors,
	Rules:   attentionRules,
	Judge:   judgeAttention,
	Least:   once,
	Timed:   timedAttention,
	// A few numbers a row are welcome (a row's maximum and sum); a number for
	// each pair of query and key is not.
	Scratch: func(c wire.Case) uint64 {
		s := c.Attention()
		return 4 * uint64(16*s.Batch*s.Heads*s.SeqQ)
	},
}
