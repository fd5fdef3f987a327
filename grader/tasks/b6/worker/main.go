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

func main() {
	it := worker.Once(decode.New)
	worker.Main(map[string]worker.Op{
		"decode_float16":  step(it, "Float16", (*decode.Decode).Float16, false),
		"decode_bfloat16": step(it, "BFloat16", (*decode.Decode).BFloat16, false),
		"decode_recorded": step(it, "Float16", (*decode.Decode).Float16, true),
	})
}

// step calls one of the two methods. A recorded one is recorded with lengths of 1, and launched when
// they are those of the case.
func step[T device.Half](m *worker.Made[*decode.Decode], name string, call decode.Step[T], recorded bool) worker.Op {
	return func(j *worker.Job) (*problem.Answer, error) {
		lengths, err := onDevice(j.Device, j.Each)
		if err != nil {
			return nil, err
		}
		defer func() { _ = lengths.Device.Free(j.Device) }()
		return worker.OnDevice(m, func(it *decode.Decode, c problem.Problem, out, in worker.Places) error {
			var b [4]device.Buffer[T]
			for i, place := range []device.Memory{out[0], in[0], in[1], in[2]} {
				if b[i], err = device.BufferOf[T](place); err != nil {
					return err
				}
			}
			work := func(n attn.PerSequence) error {
				return worker.StubIn("decode.go", name, call(it, b[0], b[1], b[2], b[3], c.Decode(), n))
			}
			if !recorded || c.Refused {
				return work(lengths)
			}
			return replayed(j.Device, work, lengths)
		})(j)
	}
}

// replayed records a step, and launches it when the lengths have grown.
func replayed(d device.Device, work func(attn.PerSequence) error, lengths attn.PerSequence) error {
	first := attn.PerSequence{Host: slices.Repeat([]int{1}, len(lengths.Host)), Device: lengths.Device}
	if err := first.Device.CopyIn(d, narrow(first.Host)); err != nil {
		return err
	}
	graph, err := d.Record(func(device.Queue) error { return work(first) })
	if err != nil {
		return fmt.Errorf("recording a step, the first call of all: %w", err)
	}
	defer func() { _ = graph.Close() }()
	if err := lengths.Device.CopyIn(d, narrow(lengths.Host)); err != nil {
		return err
	}
	if err := graph.Launch(); err != nil {
		return err
	}
	return d.Sync() // before the graph is closed
}

// onDevice puts the lengths there, too.
func onDevice(d device.Device, lengths []int) (attn.PerSequence, error) {
	b, err := device.Upload(d, "lengths", narrow(lengths))
	return attn.PerSequence{Host: lengths, Device: b}, err
}

func narrow(numbers []int) []int32 {
	n := make([]int32, len(numbers))
	for i, x := range numbers {
		n[i] = int32(x)
	}
	return n
}
