// Command unfused plans calls of task 2: softmax, products, and attention in steps.
package main

import (
	"flashlab/attn"
	"flashlab/python/planner/plans"
	unfused "flashlab/task2_unfused"
)

func main() {
	plans.Serve(map[string]plans.Op{"softmax": softmax, "gemm": gemm, "attention": attention})
}

func softmax(c *plans.Call) error {
	s := attn.SoftmaxShape{Outer: c.Size("outer"), Len: c.Size("len"), Inner: c.Size("inner")}
	a, err := unfused.New(c.Queue)
	if err != nil {
		return err
	}
	return a.Softmax(plans.Tensor[float32](c, "out", s.Elements()), plans.Tensor[float32](c, "x", s.Elements()), s)
}

func gemm(c *plans.Call) error {
	s := attn.GemmShape{Batch: c.Size("batch"), M: c.Size("m"), N: c.Size("n"), K: c.Size("k"), TransB: c.Size("transB") != 0}
	a, err := unfused.New(c.Queue)
	if err != nil {
		return err
	}
	return a.Gemm(plans.Tensor[float32](c, "out", s.Batch*s.M*s.N), plans.Tensor[float32](c, "a", s.Batch*s.M*s.K), plans.Tensor[float32](c, "b", s.Batch*s.K*s.N), s)
}

func attention(c *plans.Call) error {
	s := plans.Attention(c)
	a, err := unfused.New(c.Queue)
	if err != nil {
		return err
	}
	qs, kvs := plans.Tensors[float32](c, s.QElements(), "out", "q"), plans.Tensors[float32](c, s.KVElements(), "k", "v")
	return a.Run(qs[0], qs[1], kvs[0], kvs[1], s)
}
