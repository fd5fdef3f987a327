package b7

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// turnsOp appends count tokens to every sequence of one cache, and then decodes. A sequence begins
// anew, with a length of 0, before its last tokens: each says how many these are.
func turnsOp(bits int) judge.Op {
	return judge.Op{
		Name:  fmt.Sprintf("turns_int%d", bits),
		Sizes: []string{"batch", "heads", "kvheads", "slots", "dim", "count"},
		Each:  "length",
		Rules: func(c problem.Problem) error {
			for b, n := range c.Each {
				if n > c.Sizes["count"] || c.Sizes["count"] > c.Sizes["slots"] {
					return fmt.Errorf("sequence %d keeps %d of %d tokens, and there are %d slots", b, n, c.Sizes["count"], c.Sizes["slots"])
				}
			}
			return shared.AttentionRules(c)
		},
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			s := c.Decode()
			q, token := []int{s.Batch, s.Heads, s.Dim}, []int{c.Sizes["count"], s.Batch, s.KVHeads, s.Dim}
			in = []problem.Tensor{{Name: "q", Shape: q, Type: tensor.Float16}}
			for _, t := range tensors(bits, s.CacheShape) {
				t.Dist, t.Changes = tensor.Normal, true
				in = append(in, t)
			}
			return append(in, problem.Tensor{Name: "k", Shape: token, Dist: tensor.Normal, Type: tensor.Float16},
					problem.Tensor{Name: "v", Shape: token, Dist: tensor.Normal, Type: tensor.Float16}),
				[]problem.Tensor{{Name: "out", Shape: q, Type: tensor.Float16}}
		},
		Fault: func(c problem.Problem) string { return fault(c, 0) },
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			got := out.Tensors[0].Data
			n := 1 + count(bits)
			filled := func(w way) decoding {
				d := decoding{c, cacheOf(bits, c.Cache(), in[1:n]).clone(), in[0].Data, c.Each}
				d.fill(in[n].Data, in[n+1].Data, w)
				return d
			}
			r := filled(way{}).judge(got)
			if !r.Passed && bits == 4 && filled(way{atOnce: true}).read(reading{byToken: true}).Truth().Judge(got).Passed {
				r.Reason = "right for another format, INT4 by token: K is to be quantised by channel, over groups of 32 tokens"
			}
			return r
		},
		Least:   func(c problem.Problem) uint64 { return judge.Bytes(c.Inputs) },
		Scratch: scratch,
	}
}

// fill appends, in this way, the last tokens of each sequence, as if it had begun with these.
func (d decoding) fill(k, v []float32, w way) {
	size, all := d.Cache().Slot(), d.Sizes["count"]
	for b, n := range d.lengths {
		for i := range n {
			at := ((all-n+i)*d.Cache().Batch + b) * size
			d.append(b, i, k[at:at+size], v[at:at+size], w)
		}
	}
}
