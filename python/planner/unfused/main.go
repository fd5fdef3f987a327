// Command unfused plans calls of task 2: softmax, products, and attention in steps.
package main

import (
	"flashlab/attn"
	"flashlab/python/planner/record"
	unfused "flashlab/task2_unfused"
)

func main() {
	record.Serve(map[string]record.Op{"softmax": softmax, "gemm": gemm, "attention": attention})
}

func softmax(c *record.Call) error {
	s := attn.SoftmaxShape{Outer: c.Size("outer"), Len: c.Size("len"), Inner: c.Size("inner")}
	a, err := unfused.New(c.Queue)
	if err != nil {
		return err
	}
	return a.Softmax(record.Tensor[float32](c, "out", s.Elements()), record.Tensor[float32](c, "x", s.Elements()), s)
}

func gemm(c *record.Call) error {
	s := attn.GemmShape{Batch: c.Size("batch"), M: c.Size("m"), N: c.Size("n"), K: c.Size("k"), TransB: c.Size("transB") != 0}
	a, err := unfused.New(c.Queue)
	if err != nil {
		return err
	}
	return a.Gemm(record.Tensor[float32](c, "out", s.Batch*s.M*s.N), record.Tensor[float32](c, "a", s.Batch*s.M*s.K), record.Tensor[float32](c, "b", s.Batch*s.K*s.N), s)
}

func attention(c *record.Call) error {
	s := record.Attention(c)
	a, err := unfused.New(c.Queue)
	if err != nil {
		return err
	}
	qs, kvs := record.Tensors[float32](c, s.QElements(), "out", "q"), record.Tensors[float32](c, s.KVElements(), "k", "v")
	return a.Run(qs[0], qs[1], kvs[0], kvs[1], s)
}
