// Command projection plans calls of bonus task b4: one projection for q, k and v.
package main

import (
	qkv "flashlab/bonus/b4_qkv"
	"flashlab/device"
	"flashlab/python/planner/plans"
)

func main() { plans.Serve(map[string]plans.Op{"project": project}) }

func project(c *plans.Call) error {
	if c.Type == "bfloat16" {
		return of(c, (*qkv.QKV).BFloat16)
	}
	return of(c, (*qkv.QKV).Float16)
}

func of[T device.Half](c *plans.Call, run func(*qkv.QKV, qkv.Parts[T], device.Buffer[T], qkv.Weights[T], qkv.Projection) error) error {
	p := qkv.Projection{Batch: c.Size("batch"), Seq: c.Size("seq"), Hidden: c.Size("hidden"),
		Heads: c.Size("heads"), KVHeads: c.Size("kvHeads"), Dim: c.Size("dim")}
	t, err := qkv.New(c.Queue)
	if err != nil {
		return err
	}
	to := qkv.Parts[T]{Q: plans.Tensor[T](c, "q", p.Rows()*p.Heads*p.Dim)}
	kv := plans.Tensors[T](c, p.Rows()*p.KVHeads*p.Dim, "k", "v")
	to.K, to.V = kv[0], kv[1]
	w := qkv.Weights[T]{W: plans.Tensor[T](c, "weight", p.Hidden*p.Outputs())}
	if c.Size("biased") != 0 {
		w.Bias = plans.Tensor[T](c, "bias", p.Outputs())
	}
	return run(t, to, plans.Tensor[T](c, "x", p.Rows()*p.Hidden), w, p)
}
