// Command worker runs a submission of task 0 for the grader.
package main

import (
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	warmup "flashlab/task0_warmup"
)

func main() {
	it := worker.Once(warmup.New)
	// plain is a puzzle that has an input and an output.
	plain := func(solve func(it *warmup.Puzzles, y, x device.Buffer[float32]) error) worker.Op {
		return worker.OnDevice(it, func(it *warmup.Puzzles, _ problem.Problem, out, in worker.Buffers) error {
			return solve(it, out[0], in[0])
		})
	}
	// byRow is a step of the first kernel: it takes the number of rows, too.
	byRow := func(solve func(it *warmup.Puzzles, y, x device.Buffer[float32], rows int) error) worker.Op {
		return worker.OnDevice(it, func(it *warmup.Puzzles, p problem.Problem, out, in worker.Buffers) error {
			return solve(it, out[0], in[0], p.Sizes["rows"])
		})
	}
	worker.Main(map[string]worker.Op{
		"warmup_map":   plain((*warmup.Puzzles).Map),
		"warmup_guard": plain((*warmup.Puzzles).Guard),
		"warmup_grid": worker.OnDevice(it, func(it *warmup.Puzzles, p problem.Problem, out, in worker.Buffers) error {
			return it.Grid(out[0], in[0], in[1], p.Sizes["rows"], p.Sizes["cols"])
		}),
		"warmup_shift": plain((*warmup.Puzzles).Shift),
		"warmup_sum":   plain((*warmup.Puzzles).Sum),
		"warmup_transpose": worker.OnDevice(it, func(it *warmup.Puzzles, p problem.Problem, out, in worker.Buffers) error {
			return it.Transpose(out[0], in[0], p.Sizes["rows"], p.Sizes["cols"])
		}),
		"warmup_pad":  plain((*warmup.Puzzles).Pad),
		"warmup_race": plain((*warmup.Puzzles).Race),

		"warmup_walk":   byRow((*warmup.Puzzles).Walk),
		"warmup_parts":  byRow((*warmup.Puzzles).Parts),
		"warmup_total":  byRow((*warmup.Puzzles).Total),
		"warmup_centre": byRow((*warmup.Puzzles).Centre),
	})
}
