// Command worker runs a submission of bonus task b3 for the grader.
package main

import (
	codes "flashlab/bonus/b3_int8"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(codes.New)
	worker.Main(map[string]worker.Op{
		"int8_tensor": worker.OnDevice(it, perTensor),
		"int8_block":  worker.OnDevice(it, byBlock),
	})
}

func perTensor(it *codes.Int8, c problem.Problem, out, in worker.Places) error {
	h, err := views[device.Float16](out[0], in[0], in[1], in[2])
	if err != nil {
		return err
	}
	b, err := views[int8](out[1:4]...)
	if err != nil {
		return err
	}
	f, err := views[float32](out[4])
	if err != nil {
		return err
	}
	to := codes.TensorCodes{Q: b[0], K: b[1], V: b[2], Affine: f[0]}
	return worker.StubIn("int8.go", "PerTensor", it.PerTensor(h[0], h[1], h[2], h[3], to, c.Attention()))
}

func byBlock(it *codes.Int8, c problem.Problem, out, in worker.Places) error {
	h, err := views[device.Float16](out[0], in[0], in[1], in[2])
	if err != nil {
		return err
	}
	b, err := views[int8](out[1:3]...)
	if err != nil {
		return err
	}
	f, err := views[float32](out[3:6]...)
	if err != nil {
		return err
	}
	to := codes.BlockCodes{Q: b[0], K: b[1], QScale: f[0], KScale: f[1], Mean: f[2]}
	return worker.StubIn("int8.go", "ByBlock", it.ByBlock(h[0], h[1], h[2], h[3], to, c.Attention()))
}

// views are places as buffers of a type.
func views[T device.Scalar](places ...device.Memory) (all []device.Buffer[T], err error) {
	for _, place := range places {
		b, err := device.BufferOf[T](place)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}
