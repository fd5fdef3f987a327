// Command worker runs a submission of bonus task b4 for the grader.
package main

import (
	"flashlab/attn"
	qkv "flashlab/bonus/b4_qkv"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(given)
	calls := func(method any) worker.Op {
		b := worker.Method("qkv.go", method, shape)
		return worker.OnDevice(it, func(it *kit, c problem.Problem, out, in worker.Places) error {
			return b.Call(it.QKV, c, out, in, attn.PerSequence{})
		})
	}
	worker.Main(map[string]worker.Op{
		"qkv_split":     calls((*qkv.QKV).Split),
		"qkv_float16":   calls((*qkv.QKV).Float16),
		"qkv_bfloat16":  calls((*qkv.QKV).BFloat16),
		"qkv_attention": worker.OnDevice(it, layer),
	})
}

func shape(c problem.Problem) qkv.Projection {
	s := c.Sizes
	return qkv.Projection{Batch: s["batch"], Seq: s["seq"], Hidden: s["hidden"], Heads: s["heads"], KVHeads: s["kvheads"], Dim: s["dim"],
		TokensFirst: s["layout"] == 2}
}
