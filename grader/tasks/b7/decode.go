package b7

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// decodeOp is one step against a cache that is given. each says how many tokens a sequence has, which
// may be none. Behind them is what used caches hold: other codes, and NaN.
func decodeOp(bits int) judge.Op {
	method := fmt.Sprintf("DecodeInt%d", bits)
	return judge.Op{
		Name:  fmt.Sprintf("decode_int%d", bits),
		Sizes: []string{"batch", "heads", "kvheads", "slots", "dim"},
		Each:  "length",
		Rules: shared.AttentionRules,
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			s := c.Decode()
			q := []int{s.Batch, s.Heads, s.Dim}
			in = append(in, problem.Tensor{Name: "q", Shape: q, Type: tensor.Float16})
			for _, t := range tensors(bits, s.CacheShape) {
				t.Given = true
				in = append(in, t)
			}
			return in, []problem.Tensor{{Name: "out", Shape: q, Type: tensor.Float16}}
		},
		Fault: func(c problem.Problem) string { return fault(c, 0) },
		Prepare: func(c problem.Problem, in []*tensor.Tensor) error {
			return filled(c, cacheOf(bits, c.Cache(), in[1:]))
		},
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			got := out.Tensors[0].Data
			if c.Refused {
				return judge.JudgeRefused(c, out, method, fault(c, 0), judge.NoNumbers(len(got)))
			}
			return decoding{c, cacheOf(bits, c.Cache(), in[1:]), in[0].Data, c.Each}.judge(got)
		},
		Least:   func(c problem.Problem) uint64 { return least(bits, c) },
		Against: "each token's codes and scales once",
		Scratch: scratch,
		Timed:   timed(bits),
	}
}

// scratch leaves room for what blocks find that share keys, and none for a cache in halves.
func scratch(problem.Problem) uint64 { return 1 << 20 }

// least: q, out, and the codes and scales of the tokens that are there, once.
func least(bits int, c problem.Problem) uint64 {
	s := c.Decode()
	bytes := 2 * 2 * s.Batch * s.Heads * s.Dim
	for _, length := range c.Each {
		open := 0
		if bits == 4 {
			open = length % group
			bytes += s.KVHeads * length / group * 2 * 2 * s.Dim // scales and lows of k
		}
		closed := length - open
		bytes += s.KVHeads * (2*2*open*s.Dim + closed*(2*s.Dim*bits/8+4))
	}
	return uint64(bytes)
}

// filled fills a cache with tokens, one after the other, from one that is NaN and other codes.
func filled(c problem.Problem, to cache) error {
	s := c.Cache()
	for i, a := range to.arrays() {
		for at := range *a {
			(*a)[at] = float32(math.NaN())
			if i < 2 {
				(*a)[at] = float32(at*5%16 - 8)
			}
		}
	}
	if fault(c, 0) != "" {
		return nil
	}
	kv := [2][]float32{make([]float32, s.Elements()), make([]float32, s.Elements())} // [slots, batch, kvheads, dim]
	for i := range kv {
		dist := tensor.Normal
		if c.Dist == tensor.Uneven || c.Dist == tensor.Equal {
			dist = c.Dist
		}
		if err := tensor.FillAs(tensor.Float16, kv[i], dist, c.Seed, c.Inputs[1+i].Stream, 0); err != nil {
			return err
		}
		for at := range kv[i] {
			if i == 0 && at%16 == 3 && dist == tensor.Normal {
				kv[i][at] += 4
			}
		}
		tensor.Float16.Round(kv[i])
	}
	for b, length := range c.Each {
		for slot := range length {
			at := (slot*s.Batch + b) * s.Slot()
			to.append(b, slot, kv[0][at:at+s.Slot()], kv[1][at:at+s.Slot()], way{})
		}
	}
	return nil
}

// decoding is a step against a cache.
type decoding struct {
	problem.Problem
	cache
	q       []float32
	lengths []int
}

func (d decoding) String() string {
	return fmt.Sprintf("INT%d, %v", d.bits, d.read(reading{}).Decoding)
}

// read is the step with the cache as it reads back.
func (d decoding) read(r reading) shared.MixedDecoding {
	k, v := d.numbers(d.lengths, r)
	return step(shared.Decoding{S: d.Decode(), Lengths: d.lengths, Q: d.q, K: k, V: v})
}

// step is one in halves.
func step(d shared.Decoding) shared.MixedDecoding {
	return shared.MixedDecoding{Decoding: d, Type: tensor.Float16}
}

func (d decoding) judge(got []float32) judge.Ruling {
	right := d.read(reading{})
	t := right.Truth()
	return judge.Rule(d.Problem, d, t, got, func(j judge.Judgement) string { return d.pattern(right, t, got, j) })
}
