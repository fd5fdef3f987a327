// Command worker runs a submission of bonus task b5 for the grader.
package main

import (
	fourbit "flashlab/bonus/b5_fourbit"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(fourbit.New)
	worker.Main(map[string]worker.Op{
		"dequantise_nf4": worker.OnDevice(it, func(it *fourbit.Fourbit, c problem.Problem, out, in worker.Places) error {
			return read(out, in, func(o device.Buffer[float32], w weights) error {
				return worker.StubIn("fourbit.go", "DequantiseNF4", it.DequantiseNF4(o, w.nf4()))
			})
		}),
		"dequantise_mxfp4": worker.OnDevice(it, func(it *fourbit.Fourbit, c problem.Problem, out, in worker.Places) error {
			return read(out, in, func(o device.Buffer[float32], w weights) error {
				return worker.StubIn("fourbit.go", "DequantiseMXFP4", it.DequantiseMXFP4(o, w.mxfp4(), c.Sizes["row"]))
			})
		}),
		"project_nf4": worker.OnDevice(it, func(it *fourbit.Fourbit, c problem.Problem, out, in worker.Places) error {
			return multiply(out, in, func(h [5]fourbit.Halves, w weights) error {
				return worker.StubIn("fourbit.go", "ProjectNF4", it.ProjectNF4(h[0], h[1], h[2], h[3], w.nf4(), h[4], shape(c)))
			})
		}),
		"project_mxfp4": worker.OnDevice(it, func(it *fourbit.Fourbit, c problem.Problem, out, in worker.Places) error {
			return multiply(out, in, func(h [5]fourbit.Halves, w weights) error {
				return worker.StubIn("fourbit.go", "ProjectMXFP4", it.ProjectMXFP4(h[0], h[1], h[2], h[3], w.mxfp4(), h[4], shape(c)))
			})
		}),
	})
}

// weights are codes and scales, of either format.
type weights struct {
	codes, bytes device.Buffer[uint8]
	floats       device.Buffer[float32]
}

func (w weights) nf4() fourbit.NF4     { return fourbit.NF4{Codes: w.codes, Scales: w.floats} }
func (w weights) mxfp4() fourbit.MXFP4 { return fourbit.MXFP4{Codes: w.codes, Scales: w.bytes} }

func weightsOf(codes, scales device.Memory) (w weights, err error) {
	if w.codes, err = device.BufferOf[uint8](codes); err != nil {
		return w, err
	}
	w.floats, _ = device.BufferOf[float32](scales) // which fails for MXFP4's alone
	w.bytes, err = device.BufferOf[uint8](scales)
	return w, err
}

func read(out, in worker.Places, call func(device.Buffer[float32], weights) error) error {
	w, err := weightsOf(in[0], in[1])
	if err != nil {
		return err
	}
	o, err := device.BufferOf[float32](out[0])
	if err != nil {
		return err
	}
	return call(o, w)
}

// multiply hands out q, k, v, x and bias.
func multiply(out, in worker.Places, call func([5]fourbit.Halves, weights) error) error {
	w, err := weightsOf(in[1], in[2])
	if err != nil {
		return err
	}
	var h [5]fourbit.Halves
	for i, m := range []device.Memory{out[0], out[1], out[2], in[0], in[3]} {
		if h[i], err = device.BufferOf[device.Float16](m); err != nil {
			return err
		}
	}
	return call(h, w)
}

func shape(c problem.Problem) fourbit.Projection {
	return fourbit.Projection{Batch: c.Sizes["batch"], Seq: c.Sizes["seq"], Hidden: c.Sizes["hidden"],
		Heads: c.Sizes["heads"], KVHeads: c.Sizes["kvheads"], Dim: c.Sizes["dim"]}
}
