// Package b1 is all that the grader knows of bonus task b1: attention with the rotation inside.
package b1

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Ops are what task b1 is asked for: the two pairings.
var Ops = judge.Ops{rotated("rope_halves", false), rotated("rope_neighbours", true)}

// rotated is attention to queries and keys that are rotated first. Each sequence has the position of
// its first query; keys count from 0.
func rotated(name string, neighbours bool) judge.Op {
	return judge.Op{
		Name:    name,
		Sizes:   []string{"batch", "heads", "seqq", "seqk", "dim", "base"},
		Each:    "start",
		Causal:  true,
		Tensors: shared.Flash.Tensors,
		Rules:   rules,
		Fault:   fault,
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			got := out.Tensors[0].Data
			if c.Refused {
				return judge.JudgeRefused(c, out, "Run", fault(c), judge.NoNumbers(len(got)))
			}
			r := rope{c.Attention(), c.Each, float64(c.Sizes["base"]), neighbours, in[0].Data, in[1].Data, in[2].Data}
			t := r.truth()
			return judge.Rule(c, r, t, got, func(j judge.Judgement) string { return r.pattern(t, got, j) })
		},
		Least:   unrotated,
		Against: fmt.Sprintf("attention without rotation in tiles of %d", tile),
		Floor:   floor,
		Timed:   timed(name, neighbours),
		Scratch: shared.Flash.Scratch, // no room for rotated rows
	}
}

// mostPositions is how many positions there are, as the task's own check has it.
const mostPositions = 1 << 24

func rules(c problem.Problem) error {
	s := c.Attention()
	if s.Dim%8 != 0 || s.Dim > 128 {
		return fmt.Errorf("dim = %d: the task has multiples of 8 up to 128", s.Dim)
	}
	if c.Sizes["base"] < 2 {
		return fmt.Errorf("base = %d: want at least 2", c.Sizes["base"])
	}
	return shared.AttentionRules(c)
}

func fault(c problem.Problem) string {
	s := c.Attention()
	for b, p := range c.Each {
		if most := mostPositions - max(s.SeqQ, s.SeqK); p < 0 || p > most {
			return fmt.Sprintf("sequence %d starts at position %d, and positions are 0 to %d", b, p, most)
		}
	}
	return ""
}

// tile is the queries that share what they read of keys and values, in what traffic is held against.
const tile = 64

// unrotated is the traffic of attention in tiles of queries.
func unrotated(c problem.Problem) uint64 { return inTiles(c, tile) }

// floor is the traffic that no kernel can do without: keys that a query sees are read once.
func floor(c problem.Problem) uint64 { return inTiles(c, c.Attention().SeqQ) }

// inTiles is the bytes that an attention moves of whose queries so many share what they read: the
// keys and values that any of them sees.
func inTiles(c problem.Problem, queries int) uint64 {
	s := c.Attention()
	rows := 0 // of keys, and as many of values, that one head of each sequence reads
	for _, start := range c.Each {
		rows += shared.KeysInTiles(s.SeqQ, queries, func(first int) int {
			if s.Causal {
				return min(s.SeqK, start+first)
			}
			return s.SeqK
		})
	}
	return 4 * uint64(s.Heads) * uint64(s.Dim) * uint64(2*s.Batch*s.SeqQ+2*rows)
}
