// Command worker runs a submission of bonus task b4 for the grader.
package main

import (
	"flashlab/attn"
	qkv "flashlab/bonus/b4_qkv"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

// The compiler says where a submission's methods are not those of the contract.
var _ interface {
	Split(to qkv.Parts[device.Float16], projection, bias qkv.Halves, p qkv.Projection) error
	Float16(to qkv.Parts[device.Float16], x qkv.Halves, w qkv.Weights[device.Float16], p qkv.Projection) error
	BFloat16(
		to qkv.Parts[device.BFloat16], x device.Buffer[device.BFloat16], w qkv.Weights[device.BFloat16], p qkv.Projection,
	) error
} = (*qkv.QKV)(nil)

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
	return qkv.Projection{Batch: s["batch"], Seq: s["seq"], Hidden: s["hidden"],
		Heads: s["heads"], KVHeads: s["kvheads"], Dim: s["dim"], TokensFirst: s["layout"] == 2}
}
