// Command halves plans calls of bonus task b2: attention in float16 and bfloat16.
package main

import (
	halves "flashlab/bonus/b2_halves"
	"flashlab/device"
	"flashlab/python/planner/plans"
)

func main() { plans.Serve(map[string]plans.Op{"attention": attention}) }

func attention(c *plans.Call) error {
	if c.Type == "bfloat16" {
		return of(c, (*halves.Halves).BFloat16)
	}
	return of(c, (*halves.Halves).Float16)
}

func of[T device.Half](c *plans.Call, run halves.Attention[T]) error {
	s := plans.Attention(c)
	h, err := halves.New(c.Queue)
	if err != nil {
		return err
	}
	qs, kvs := plans.Tensors[T](c, s.QElements(), "out", "q"), plans.Tensors[T](c, s.KVElements(), "k", "v")
	return run(h, qs[0], qs[1], kvs[0], kvs[1], s)
}
