// Command decode plans calls of task 5: one step of decoding in float32.
package main

import (
	"flashlab/attn"
	"flashlab/python/planner/plans"
	decode "flashlab/task5_decode"
)

func main() { plans.Serve(map[string]plans.Op{"decode": step}) }

func step(c *plans.Call) error {
	s, lengths := plans.Decode(c)
	d, err := decode.New(c.Queue)
	if err != nil {
		return err
	}
	qs, kvs := plans.Tensors[float32](c, s.Batch*s.Heads*s.Dim, "out", "q"), plans.Tensors[float32](c, s.Elements(), "k", "v")
	return d.Decode(qs[0], qs[1], attn.Cache{K: kvs[0], V: kvs[1], CacheShape: s.CacheShape}, s, lengths)
}
