// Command flash plans calls of task 4: attention in float32.
package main

import (
	"flashlab/python/planner/plans"
	flash "flashlab/task4_flash"
)

func main() { plans.Serve(map[string]plans.Op{"attention": attention}) }

func attention(c *plans.Call) error {
	s := plans.Attention(c)
	kernel, err := flash.New(c.Queue)
	if err != nil {
		return err
	}
	qs, kvs := plans.Tensors[float32](c, s.QElements(), "out", "q"), plans.Tensors[float32](c, s.KVElements(), "k", "v")
	return kernel.Run(qs[0], qs[1], kvs[0], kvs[1], s)
}
