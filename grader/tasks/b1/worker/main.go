// Command worker runs a submission of bonus task b1 for the grader.
package main

import (
	rope "flashlab/bonus/b1_rope"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

func main() {
	it := worker.Once(rope.New)
	worker.Main(map[string]worker.Op{
		"rope_halves":     rotated(it, false),
		"rope_neighbours": rotated(it, true),
	})
}

// rotated is attention with rotation. The positions at which sequences start are on the device
// before the call.
func rotated(m *worker.Made[*rope.Rope], neighbours bool) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		start, err := worker.PerSequence(j.Device, "start", j.Each)
		if err != nil {
			return nil, err
		}
		defer func() { _ = start.Device.Free(j.Device) }()
		r := rope.Rotation{Base: float64(j.Sizes["base"]), Neighbours: neighbours}
		run := func(it *rope.Rope, c problem.Problem, out, in worker.Buffers) error {
			return worker.StubIn("rope.go", "Run", it.Run(out[0], in[0], in[1], in[2], start, c.Attention(), r))
		}
		if !j.Timed {
			return worker.OnDevice(m, run)(j)
		}
		two := &twoSteps{Job: j, rotation: r, start: start}
		defer two.close()
		return nil, m.Beside(j, func(it *rope.Rope, out, in worker.Buffers) error { return run(it, j.Problem, out, in) }, two.run)
	}
}
