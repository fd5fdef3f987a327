package task5

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// decodeStep is one step of decoding against a cache; each says how many slots of a
// sequence are filled. The others hold NaN.
var decodeStep = judge.Op{
	Name:    "decode",
	Sizes:   []string{"batch", "heads", "kvheads", "slots", "dim"},
	Each:    "length",
	Rules:   shared.AttentionRules,
	Tensors: decodeTensors,
	Fault:   decodeFault,
	Prepare: shared.FillCache,
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		return judgeDecode("Decode", c, in, out)
	},
	Least: shared.LeastDecode,
	Timed: timedDecode(2, 4, 2, 40, 16),
}

// decodeWindow is the same of the last slots alone, a window of so many.
var decodeWindow = judge.Op{
	Name:    "decode_window",
	Sizes:   []string{"batch", "heads", "kvheads", "slots", "dim", "window"},
	Each:    "length",
	Rules:   shared.AttentionRules,
	Tensors: decodeTensors,
	Fault:   decodeFault,
	Prepare: shared.FillCache,
	Judge:   decodeStep.Judge,
	Least:   shared.LeastDecode,
	Timed:   timedDecode(2, 4, 2, 40, 16, 9),
}

// decodeSplit is the same in parts.
var decodeSplit = judge.Op{
	Name:    "split",
	Sizes:   []string{"batch", "heads", "kvheads", "slots", "dim", "parts"},
	Each:    "length",
	Rules:   shared.AttentionRules,
	Tensors: decodeTensors,
	Fault:   decodeFault,
	Prepare: shared.FillCache,
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		return judgeDecode("DecodeSplit", c, in, out)
	},
	Least:  shared.LeastDecode,
	Spread: spreadParts,
	Timed:  timedDecode(1, 2, 2, 40, 16, 4),
}

// spreadParts: each part of each key head has a block. None of them, nor the one that combines their results, reads
// three quarters of one head's keys and values, where there are enough that the rest of what it reads does not count:
// a part of a quarter that reads q again for every key comes to 0.375.
func spreadParts(c problem.Problem) (blocks, bytes uint64) {
	s, parts, longest := c.Decode(), c.Sizes["parts"], 0
	for _, n := range c.Each {
		longest = max(longest, n)
	}
	if parts >= 4 && longest >= 16*parts {
		bytes = uint64(6 * longest * s.Dim)
	}
	return uint64(s.Batch * s.KVHeads * min(parts, s.MaxSeq)), bytes
}

// decodeTensors: as in an attention, the case's distribution is that of q alone.
func decodeTensors(c problem.Problem) (in, out []problem.Tensor) {
	s := c.Decode()
	q, cache := []int{s.Batch, s.Heads * s.Dim}, []int{s.Batch, s.MaxSeq, s.Slot()}
	return []problem.Tensor{{Name: "q", Shape: q}, {Name: "cache.K", Shape: cache, Given: true}, {Name: "cache.V", Shape: cache, Given: true}},
		[]problem.Tensor{{Name: "out", Shape: q}}
}

func decodeFault(c problem.Problem) string {
	if why := shared.EvenHeads(c); why != "" {
		return why
	}
	for b, length := range c.Each {
		switch {
		case length < 0:
			return fmt.Sprintf("the length of sequence %d is %d", b, length)
		case length == 0:
			return fmt.Sprintf("sequence %d has nothing in its cache: its length is 0", b)
		}
	}
	return shared.Lengths(c, 0)
}

type decoding = shared.Decoding

func judgeDecode(call string, c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	got := out.Tensors[0].Data
	if c.Refused {
		return judge.JudgeRefused(c, out, call, decodeFault(c), judge.NoNumbers(len(got)))
	}
	d := decoding{S: c.Decode(), Lengths: c.Each, Q: in[0].Data, K: in[1].Data, V: in[2].Data, Parts: c.Sizes["parts"]}
	t := shared.DecodeTruth(d.Q, d.K, d.V, d.S, d.Lengths)
	return judge.Rule(c, d, t, got, func(j judge.Judgement) string { return d.Pattern(t, got, j) })
}
