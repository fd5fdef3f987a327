// Command halvesdecode plans calls of bonus task b6: one step of decoding in float16 and bfloat16.
package main

import (
	decode "flashlab/bonus/b6_decode"
	"flashlab/device"
	"flashlab/python/planner/plans"
)

func main() { plans.Serve(map[string]plans.Op{"decode": step}) }

func step(c *plans.Call) error {
	if c.Type == "bfloat16" {
		return of(c, (*decode.Decode).BFloat16)
	}
	return of(c, (*decode.Decode).Float16)
}

func of[T device.Half](c *plans.Call, run decode.Step[T]) error {
	s, lengths := plans.Decode(c)
	d, err := decode.New(c.Queue)
	if err != nil {
		return err
	}
	qs, kvs := plans.Tensors[T](c, s.Batch*s.Heads*s.Dim, "out", "q"), plans.Tensors[T](c, s.Elements(), "k", "v")
	return run(d, qs[0], qs[1], kvs[0], kvs[1], s, lengths)
}
