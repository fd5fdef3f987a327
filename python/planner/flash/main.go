// Command flash plans calls of task 4: attention in float32.
package main

import (
	"flashlab/python/planner/record"
	flash "flashlab/task4_flash"
)

func main() { record.Serve(map[string]record.Op{"attention": attention}) }

func attention(c *record.Call) error {
	s := record.Attention(c)
	kernel, err := flash.New(c.Queue)
	if err != nil {
		return err
	}
	qs, kvs := record.Tensors[float32](c, s.QElements(), "out", "q"), record.Tensors[float32](c, s.KVElements(), "k", "v")
	return kernel.Run(qs[0], qs[1], kvs[0], kvs[1], s)
}
