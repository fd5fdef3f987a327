package task5

import (
	"fmt"
	"math"

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
	Prepare: fillCache,
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		return judgeDecode("Decode", c, in, out)
	},
	Least: leastDecode,
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
	Prepare: fillCache,
	Judge:   decodeStep.Judge,
	Least:   leastDecode,
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
	Prepare: fillCache,
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		return judgeDecode("DecodeSplit", c, in, out)
	},
	Least: leastDecode,
	Timed: timedDecode(1, 2, 2, 40, 16, 4),
}

// decodeTensors: as in an attention, the case's distribution is that of q alone.
func decodeTensors(c problem.Problem) (in, out []problem.Tensor) {
	s := c.Decode()
	q, cache := []int{s.Batch, s.Heads * s.Dim}, []int{s.Batch, s.MaxSeq, s.Slot()}
	return []problem.Tensor{{Name: "q", Shape: q}, {Name: "cache.K", Shape: cache, Given: true}, {Name: "cache.V", Shape: cache, Given: true}},
		[]problem.Tensor{{Name: "out", Shape: q}}
}

func decodeFault(c problem.Problem) string {
	s := c.Decode()
	if s.Heads%s.KVHeads != 0 {
		return fmt.Sprintf("%d query heads cannot share %d key heads evenly", s.Heads, s.KVHeads)
	}
	for b, length := range c.Each {
		switch {
		case length < 0:
			return fmt.Sprintf("the length of sequence %d is %d", b, length)
		case length == 0:
			return fmt.Sprintf("sequence %d has nothing in its cache: its length is 0", b)
		case length > s.MaxSeq:
			return fmt.Sprintf("the length of sequence %d is %d, and there are %d slots", b, length, s.MaxSeq)
		}
	}
	return ""
}

// fillCache fills the first slots of each sequence; the rest holds NaN, with other
// bits than what was never written.
func fillCache(c problem.Problem, in []*tensor.Tensor) error {
	s := c.Decode()
	for i := 1; i < 3; i++ {
		if err := tensor.Fill(in[i].Data, tensor.Normal, c.Seed, c.Inputs[i].Stream, 0); err != nil {
			return err
		}
		for at := range in[i].Data {
			if token := at / s.Slot(); token%s.MaxSeq >= c.Each[token/s.MaxSeq] {
				in[i].Data[at] = float32(math.NaN())
			}
		}
	}
	return nil
}

// leastDecode: q, out, and the filled slots of each cache once (those in the window), however many
// query heads share them.
func leastDecode(c problem.Problem) uint64 {
	s := c.Decode()
	slots := 0
	for _, length := range c.Each {
		slots += length - s.First(length)
	}
	return 4 * uint64(2*s.Batch*s.Heads*s.Dim+2*slots*s.Slot())
}

type (
	decoding = shared.Decoding
	mistake  = shared.DecodeMistake
)

func judgeDecode(call string, c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	got := out.Tensors[0].Data
	if c.Refused {
		return judge.JudgeRefused(c, out, call, decodeFault(c), judge.NoNumbers(len(got)))
	}
	d := decoding{S: c.Decode(), Lengths: c.Each, Q: in[0].Data, K: in[1].Data, V: in[2].Data, Parts: c.Sizes["parts"]}
	t := shared.DecodeTruth(d.Q, d.K, d.V, d.S, d.Lengths)
	return judge.Rule(c, d, t, got, func(j judge.Judgement) string { return d.Pattern(t, got, j) })
}
