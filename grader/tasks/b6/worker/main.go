// Command worker runs a submission of bonus task b6 for the grader.
package main

import (
	"fmt"
	"slices"

	"flashlab/attn"
	decode "flashlab/bonus/b6_decode"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
)

// The compiler says where a submission's methods are not those of the contract.
var _ interface {
	Float16(out, q, k, v device.Buffer[device.Float16], s attn.DecodeShape, lengths attn.PerSequence) error
	BFloat16(out, q, k, v device.Buffer[device.BFloat16], s attn.DecodeShape, lengths attn.PerSequence) error
} = (*decode.Decode)(nil)

func main() {
	it := worker.Once(decode.New)
	worker.Main(map[string]worker.Op{
		"decode_float16":  worker.Calls(it, "decode.go", (*decode.Decode).Float16),
		"decode_bfloat16": worker.Calls(it, "decode.go", (*decode.Decode).BFloat16),
		"decode_recorded": func(j *worker.Job) (*problem.Answer, error) {
			step := worker.Method("decode.go", (*decode.Decode).Float16)
			return worker.Each(it, "lengths", func(
				it *decode.Decode, c problem.Problem, out, in worker.Places, lengths attn.PerSequence,
			) error {
				work := func(n attn.PerSequence) error { return step.Call(it, c, out, in, n) }
				if c.Refused {
					return work(lengths)
				}
				return replayed(j.Device, work, lengths)
			})(j)
		},
	})
}

// replayed records a step with lengths of 1, and launches it when the lengths have grown.
func replayed(d device.Device, work func(attn.PerSequence) error, lengths attn.PerSequence) error {
	first := attn.PerSequence{Host: slices.Repeat([]int{1}, len(lengths.Host)), Device: lengths.Device}
	if err := first.Device.CopyIn(d, worker.Int32s(first.Host)); err != nil {
		return err
	}
	graph, err := d.Record(func(device.Queue) error { return work(first) })
	if err != nil {
		return fmt.Errorf("recording a step, the first call of all: %w", err)
	}
	defer func() { _ = graph.Close() }()
	if err := lengths.Device.CopyIn(d, worker.Int32s(lengths.Host)); err != nil {
		return err
	}
	if err := graph.Launch(); err != nil {
		return err
	}
	return d.Sync() // before the graph is closed
}
