// Package b9 is all that the grader knows of bonus task b9: a model whose weights and cache may have four
// bits, the memory that it takes, and the sheet of predictions.
package b9

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/b9/sizes"
	"flashlab/nn/kit"
	"flashlab/tensor"
)

// Ops are what task b9 is asked for.
var Ops = judge.Ops{assembled("assembled"), assembled(replayedName), held, readsOp, sheetOp}

const replayedName = "replayed"

// assembled is a model that decodes, token by token. Tokens come from the case, not from the logits, so
// that a small difference does not grow. each says how many tokens a sequence has had since it last began anew.
func assembled(name string) judge.Op {
	return judge.Op{
		Name:  name,
		Sizes: sizes.Names,
		Each:  "length",
		Rules: rules,
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			s := c.Sizes
			return []problem.Tensor{{Name: "tokens", Shape: []int{s["batch"], s["steps"]}, Dist: tensor.Uniform, Host: true}},
				[]problem.Tensor{{Name: "logits", Shape: []int{s["batch"], s["steps"], s["vocabulary"]}}}
		},
		Judge: judgeModel,
		Least: judge.Once,
		// After each step the worker fetches its logits.
		Copies: 1,
	}
}

func rules(c problem.Problem) error {
	if way := c.Sizes["way"]; way > len(sizes.Ways) {
		return fmt.Errorf("way %d: there are %d", way, len(sizes.Ways))
	}
	for b, n := range c.Each {
		if n < 1 || n > c.Sizes["steps"] {
			return fmt.Errorf("sequence %d keeps %d of %d tokens", b, n, c.Sizes["steps"])
		}
	}
	return sizes.Config(c).Check()
}

// held is a model of which only the memory counts, and that it is right.
var held = func() judge.Op {
	op := assembled("held")
	op.Scratch = func(c problem.Problem) uint64 {
		most := Most(sizes.Config(c), sizes.Of(c))
		in, out := op.Tensors(c)
		// What the worker itself has: logits of one step, tokens, lengths.
		s := sizes.Config(c)
		own := uint64(4 * s.Batch * (s.Vocabulary + 2))
		return most + own - min(most+own, judge.Bytes(in, out))
	}
	return op
}()

// Most is how many bytes a model may take at any time: weights, caches and activations, with room for the largest
// matrix in halves where it is packed. A sixteenth more is free, for whoever rounds up.
func Most(c kit.Config, w sizes.Way) uint64 {
	weights := 2 * (c.Elements(kit.Embedding) + c.Elements(kit.Head) + c.Hidden)
	largest := 0
	for _, k := range []kit.Kind{kit.Norm1, kit.QKV, kit.Out, kit.Norm2, kit.GateUp, kit.Down} {
		n := c.Layers * c.Elements(k)
		if w.INT4 && k != kit.Norm1 && k != kit.Norm2 {
			weights += n/2 + 2*n/kit.WeightGroup
			largest = max(largest, 2*c.Elements(k))
			continue
		}
		weights += 2 * n
	}
	heads := c.Layers * c.Batch * c.KVHeads
	cache := heads * c.Slots * c.Dim * 2 * 2
	if w.KIVI {
		cache = heads * (c.Slots*c.Dim + c.Slots/kit.CacheGroup*c.Dim*4 + c.Slots*4 + kit.CacheGroup*c.Dim*4)
	}
	activations := 4 * c.Batch * (2*c.Hidden + c.QKV() + c.Heads*c.Dim + 3*c.MLP)
	all := weights + cache + activations + largest
	return uint64(all + all/16)
}
