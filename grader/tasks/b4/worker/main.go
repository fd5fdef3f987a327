// Command worker runs a submission of bonus task b4 for the grader.
package main

import (
	qkv "flashlab/bonus/b4_qkv"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(given)
	worker.Main(map[string]worker.Op{
		"qkv_split": worker.OnDevice(it, func(it *kit, c problem.Problem, out, in worker.Places) error {
			to, from, err := halves[device.Float16](out, in)
			if err != nil {
				return err
			}
			return worker.StubIn("qkv.go", "Split", it.Split(to, from[0], from[1], shape(c)))
		}),
		"qkv_float16": worker.OnDevice(it, func(it *kit, c problem.Problem, out, in worker.Places) error {
			to, from, err := halves[device.Float16](out, in)
			if err != nil {
				return err
			}
			return worker.StubIn("qkv.go", "Float16", it.Float16(to, from[0], qkv.Weights[device.Float16]{W: from[1], Bias: from[2]}, shape(c)))
		}),
		"qkv_bfloat16": worker.OnDevice(it, func(it *kit, c problem.Problem, out, in worker.Places) error {
			to, from, err := halves[device.BFloat16](out, in)
			if err != nil {
				return err
			}
			return worker.StubIn("qkv.go", "BFloat16", it.BFloat16(to, from[0], qkv.Weights[device.BFloat16]{W: from[1], Bias: from[2]}, shape(c)))
		}),
		"qkv_attention": worker.OnDevice(it, layer),
	})
}

// halves hands out q, k and v, and the inputs, of which a bias may be missing.
func halves[T device.Half](out, in worker.Places) (to qkv.Parts[T], from [3]device.Buffer[T], err error) {
	for i, b := range []*device.Buffer[T]{&to.Q, &to.K, &to.V} {
		if *b, err = device.BufferOf[T](out[i]); err != nil {
			return to, from, err
		}
	}
	for i, m := range in {
		if from[i], err = device.BufferOf[T](m); err != nil {
			return to, from, err
		}
	}
	return to, from, nil
}

func shape(c problem.Problem) qkv.Projection {
	s := c.Sizes
	return qkv.Projection{Batch: s["batch"], Seq: s["seq"], Hidden: s["hidden"], Heads: s["heads"], KVHeads: s["kvheads"], Dim: s["dim"],
		TokensFirst: s["layout"] == 2}
}
