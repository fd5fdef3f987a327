// Command halves plans calls of bonus task b2: attention in float16 and bfloat16.
package main

import (
	halves "flashlab/bonus/b2_halves"
	"flashlab/device"
	"flashlab/python/planner/record"
)

func main() { record.Serve(map[string]record.Op{"attention": attention}) }

func attention(c *record.Call) error {
	if c.Type == "bfloat16" {
		return of(c, (*halves.Halves).BFloat16)
	}
	return of(c, (*halves.Halves).Float16)
}

func of[T device.Half](c *record.Call, run halves.Attention[T]) error {
	s := record.Attention(c)
	h, err := halves.New(c.Queue)
	if err != nil {
		return err
	}
	qs, kvs := record.Tensors[T](c, s.QElements(), "out", "q"), record.Tensors[T](c, s.KVElements(), "k", "v")
	return run(h, qs[0], qs[1], kvs[0], kvs[1], s)
}
