// Command worker runs a submission of bonus task b8 for the grader.
package main

import (
	w4a16 "flashlab/bonus/b8_w4a16"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(w4a16.New)
	worker.Main(map[string]worker.Op{
		"lay": worker.OnDevice(it, func(it *w4a16.W4A16, c problem.Problem, out, in worker.Places) error {
			from, err := weights(in)
			if err != nil {
				return err
			}
			to, err := weights(out)
			if err != nil {
				return err
			}
			return worker.StubIn("w4a16.go", "Lay", it.Lay(w4a16.Laid(to), from, shape(c)))
		}),
		"row": worker.OnDevice(it, func(it *w4a16.W4A16, c problem.Problem, out, in worker.Places) error {
			return multiply(out, in, func(y, x w4a16.Halves, w w4a16.Weights) error {
				return worker.StubIn("w4a16.go", "Row", it.Row(y, x, w, shape(c)))
			})
		}),
		"rows": worker.OnDevice(it, func(it *w4a16.W4A16, c problem.Problem, out, in worker.Places) error {
			return multiply(out, in, func(y, x w4a16.Halves, w w4a16.Weights) error {
				return worker.StubIn("w4a16.go", "Rows", it.Rows(y, x, w4a16.Laid(w), shape(c)))
			})
		}),
	})
}

// weights are codes, scales and zeros.
func weights(places worker.Places) (w w4a16.Weights, err error) {
	if w.Codes, err = device.BufferOf[uint8](places[0]); err != nil {
		return w, err
	}
	if w.Scales, err = device.BufferOf[device.Float16](places[1]); err != nil {
		return w, err
	}
	w.Zeros, err = device.BufferOf[uint8](places[2])
	return w, err
}

func multiply(out, in worker.Places, call func(y, x w4a16.Halves, w w4a16.Weights) error) error {
	w, err := weights(in[1:])
	if err != nil {
		return err
	}
	x, err := device.BufferOf[device.Float16](in[0])
	if err != nil {
		return err
	}
	y, err := device.BufferOf[device.Float16](out[0])
	if err != nil {
		return err
	}
	return call(y, x, w)
}

func shape(c problem.Problem) w4a16.Shape {
	return w4a16.Shape{Rows: max(c.Sizes["rows"], 1), K: c.Sizes["k"], N: c.Sizes["n"]}
}
