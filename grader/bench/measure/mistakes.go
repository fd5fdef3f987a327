package measure

import (
	"context"
	"fmt"

	"flashlab/device"
	"flashlab/grader/bench"
	"flashlab/grader/bench/page"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/supervise"
)

// Mistakes makes the mistakes of docs/measuring.md.
func (b Options) Mistakes(ctx context.Context) error {
	m := page.Mistakes{Date: page.Now(), Commit: b.commit(ctx), Device: b.Devices.Name(), Seed: b.Seed, Before: page.Look(ctx)}
	if b.Devices.Kind == device.CUDA {
		m.Device = b.Devices.GPU
	}
	if b.Torch != nil {
		m.Peer = b.Torch.About
	}
	open := func() (*supervise.Runner, func(), error) { return run.Open(ctx, b.Options, turn) }
	workloads, err := bench.MistakeWorkloads(b.Task)
	if err != nil {
		return err
	}
	for _, w := range workloads {
		some, err := bench.Mistakes(ctx, open, w, b.race(), b.Torch)
		if err != nil {
			return err
		}
		m.Results = append(m.Results, some...)
	}
	m.After = page.Look(ctx)
	fmt.Print("\n", m.Table())
	if b.Docs == "" {
		return nil
	}
	return m.Write(b.Docs)
}
