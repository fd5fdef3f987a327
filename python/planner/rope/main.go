// Command rope plans calls of bonus task b1: attention whose queries and keys are rotated as they are loaded.
package main

import (
	"flashlab/attn"
	rope "flashlab/bonus/b1_rope"
	"flashlab/python/planner/plans"
)

func main() { plans.Serve(map[string]plans.Op{"rope_attention": attention}) }

// attention is planned for sequences that start at 0: the kernel reads where they do.
func attention(c *plans.Call) error {
	s := plans.Attention(c)
	t, err := rope.New(c.Queue)
	if err != nil {
		return err
	}
	start := attn.PerSequence{Host: make([]int, s.Batch), Device: plans.Tensor[int32](c, "start", s.Batch)}
	qs, kvs := plans.Tensors[float32](c, s.QElements(), "out", "q"), plans.Tensors[float32](c, s.KVElements(), "k", "v")
	return t.Run(qs[0], qs[1], kvs[0], kvs[1], start, s, rope.Rotation{Base: float64(c.Size("base")), Neighbours: c.Size("neighbours") != 0})
}
